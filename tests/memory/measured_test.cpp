// Readings of torch.cuda.max_memory_allocated that the model must keep meeting. The golden file names every source;
// bench/run memory prints the errors of all its groups.
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "memory/overhead.hpp"
#include "plans.hpp"
#include "spec/words.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

using Json = nlohmann::json;

Plan plan_of_record(const Json& record) {
  ModelSpec model = record.at("llama")
                        ? llama(record.at("hidden"), record.at("heads"), record.at("kv_heads"), record.at("ffn"),
                                record.at("blocks"), record.at("sequence_length"), record.at("vocabulary"))
                        : gpt(record.at("hidden"), record.at("heads"), record.at("blocks"),
                              record.at("sequence_length"), record.at("vocabulary"));
  model.attention.kv_heads = record.at("kv_heads");
  model.tied_embeddings = record.at("tied_embeddings");
  Layout layout;
  layout.tensor = record.at("tensor");
  layout.pipeline = record.at("pipeline");
  layout.data = record.at("data");
  layout.virtual_stages = record.at("virtual_stages");
  layout.micro_batch = record.at("micro_batch");
  layout.micro_batches = record.at("micro_batches");
  layout.sequence_parallel = record.at("sequence_parallel");
  layout.kernel = AttentionKernel::flash_2;
  layout.precision = Precision::bf16_mixed;
  layout.zero_stage = record.at("zero_stage");
  Plan plan = plan_of(model, layout);
  plan.gpu.architecture = record.at("architecture");
  return plan;
}

double predicted_bytes(const Json& record) {
  Plan plan = plan_of_record(record);
  plan.run.recipe = choice_for(state_recipe_words, record.at("recipe").get<std::string>());
  const std::string kind = record.at("weight_gradient");
  plan.run.framework = kind == "accumulated" ? Framework::megatron : Framework::transformer_engine;
  plan.run.gradient_accumulation_fusion = kind != "temporary";
  const Schedule schedule = lower(schedule_of(plan, record.at("schedule").get<std::string>().c_str()), plan);
  const std::vector<MemoryPeak> peaks = memory_peaks(plan, schedule);
  double bytes = record.at("rank") == "last" ? peaks.back().peak.value : peaks.front().peak.value;
  for (const FixedLine& line : fixed_lines(plan)) {
    if (!line.in_allocator) bytes -= line.bytes.value;
  }
  return bytes;
}

}  // namespace

TEST_CASE("readings of Megatron-LM runs are met: SimuMax's within 0.2 %, the CI's 7B cases within 1 %") {
  std::ifstream file(std::string(STAGECRAFT_SOURCE_DIR) + "/tests/golden/memory_measured.json");
  const Json golden = Json::parse(file);
  const std::map<std::string, double> tolerance = {{"simumax", 0.002}, {"megatron-ci", 0.01}};
  int checked = 0;
  for (const Json& record : golden.at("records")) {
    const auto limit = tolerance.find(record.at("group"));
    if (limit == tolerance.end()) continue;
    INFO(record.at("id"));
    const double measured = record.at("bytes");
    CHECK(std::abs(predicted_bytes(record) / measured - 1) < limit->second);
    ++checked;
  }
  CHECK(checked == 7);
}
