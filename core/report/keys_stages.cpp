#include <iterator>

#include "memory/memory_class.hpp"
#include "report/keys.hpp"

namespace stagecraft {
namespace {

const char* meaning_of(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::parameters:
      return "Weights in the format they are multiplied in";
    case MemoryClass::gradients:
      return "Gradients";
    case MemoryClass::optimizer_states:
      return "Optimizer states, the fp32 master copy included";
    case MemoryClass::activations:
      return "What live micro-batches keep for the backward pass, and working sets";
    case MemoryClass::logits:
      return "Head output, softmax and loss";
    case MemoryClass::communication:
      return "Messages of the pipeline, gathered inputs of sequence parallelism";
    case MemoryClass::overhead:
      return "Context, libraries, workspaces";
  }
  return "";
}

}  // namespace

std::vector<ReportKey> keys_of_stages() {
  std::vector<ReportKey> keys = {
      {"stages[].pipeline_rank", "integer", "Position along the pipeline axis.", "", {}},
      {"stages[].rank", "integer", "Global rank that stands for it (tensor, context and data coordinate 0).", "", {}},
      {"stages[].stages[]", "integer", "Stages that it holds.", "", {}},
      {"stages[].layers", "string", "Layers of these stages, in words.", "", {}},
      {"stages[].parameters_per_gpu",
       "number",
       "Parameters held by one GPU of the tensor group.",
       "",
       {"run.parameters", "run.tensor"}},
  };
  std::vector<std::string> classes;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    classes.push_back(std::string("stages[].memory.") + to_text(static_cast<MemoryClass>(i)) + "_bytes");
  }
  add_memory_keys(keys, {"stages[].peak_memory_bytes", "number", "Bytes at the fullest moment of the step.",
                         "sum of stages[].memory", classes});
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    keys.push_back({classes[i],
                    "number",
                    std::string(meaning_of(static_cast<MemoryClass>(i))) + ", at that moment; bytes.",
                    "docs/report.md, \"Memory\"",
                    {"run.precision", "run.recompute", "run.zero_stage"}});
  }
  keys.push_back({"stages[].dominating_class", "string", "The class with the most bytes at that moment.",
                  "largest of stages[].memory", classes});
  keys.push_back({"stages[].peak_op", "string", "The operation that runs at that moment.", "", {}});
  keys.push_back({"stages[].fits",
                  "boolean",
                  "Whether the peak is within the limit.",
                  "stages[].peak_memory_bytes <= memory_limit_bytes",
                  {"stages[].peak_memory_bytes", "memory_limit_bytes"}});
  std::vector<ReportKey> breakdown = keys_of_breakdown("stages[].breakdown", "on this rank");
  keys.insert(keys.end(), std::make_move_iterator(breakdown.begin()), std::make_move_iterator(breakdown.end()));
  return keys;
}

}  // namespace stagecraft
