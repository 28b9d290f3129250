#include <fmt/format.h>

#include "spec/read_cluster.hpp"

namespace stagecraft {
namespace {

std::map<Dtype, FlopsPerSecond> read_peaks(const JsonNode& node, const std::string& where, Reading& reading) {
  std::map<Dtype, FlopsPerSecond> peaks;
  ObjectReader fields(node, where, reading);
  for (const auto& [dtype, word] : dtype_words) {
    FlopsPerSecond peak;
    if (fields.optional(word, peak, [](const JsonNode& value) { return read_flops_per_second(value); }))
      peaks[dtype] = peak;
  }
  fields.finish();
  if (peaks.empty()) node.fail("the peak rate of at least one dtype, such as {\"fp32\": \"19.5 TFLOP/s\"}");
  return peaks;
}

}  // namespace

GpuSpec read_gpu(const JsonNode& object, const std::string& where, Reading& reading) {
  GpuSpec gpu;
  ObjectReader fields(object, where, reading);
  const auto memory_size = [](const JsonNode& node) { return read_bytes(node, {1e6}, {1e15}); };
  fields.required("name", gpu.name, read_nonempty_string);
  fields.required("architecture", gpu.architecture, [](const JsonNode& node) {
    return read_one_of(node, {"volta", "turing", "ampere", "ada", "hopper", "blackwell", "cdna3", "cpu"});
  });
  fields.required("peak", gpu.peak, [&](const JsonNode& node) { return read_peaks(node, where + "/peak", reading); });
  fields.required("memory", gpu.memory, memory_size);
  gpu.memory_usable = gpu.memory;
  fields.defaulted(
      "memory_usable", gpu.memory_usable, memory_size, [](Bytes amount) { return to_text(amount); },
      "as labelled: no figure of the driver is known");
  fields.required("memory_bandwidth", gpu.memory_bandwidth,
                  [](const JsonNode& node) { return read_bytes_per_second(node, {1e6}); });
  fields.required("l2", gpu.l2, [](const JsonNode& node) { return read_bytes(node, {0}, {1e12}); });
  fields.required("sms", gpu.sms, integer_in(1, 1 << 20));
  const auto link_rate = [](const JsonNode& node) { return read_bytes_per_second(node, {1e6}, {1e15}); };
  fields.optional("nvlink", gpu.nvlink, link_rate);
  fields.optional("pcie", gpu.pcie, link_rate);
  fields.required("source", gpu.source, read_nonempty_string);
  std::string description;
  fields.optional("description", description, read_string);
  fields.finish();
  reading.attempt([&] {
    const auto usable = object.find("memory_usable");
    if (usable && gpu.memory_usable > gpu.memory && gpu.memory.value > 0)
      usable->fail(fmt::format("at most the memory, {}", to_text(gpu.memory)),
                   fmt::format("\"{}\"", to_text(gpu.memory)));
  });
  return gpu;
}

}  // namespace stagecraft
