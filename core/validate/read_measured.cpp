// Step time, bubble and memory of a record.

#include <algorithm>

#include "validate/record_fields.hpp"

namespace stagecraft {
namespace {

constexpr double MiB = 1024.0 * 1024.0, GiB = 1024.0 * MiB;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

MemoryReading reading_of(const std::string& kind) {
  if (contains(kind, "nvidia-smi")) return MemoryReading::device;
  // "allocated or reserved" leaves it open; the smaller is the safer guess.
  return contains(kind, "reserved") && !contains(kind, "allocated") ? MemoryReading::reserved
                                                                    : MemoryReading::allocated;
}

MemoryOf rank_of(const std::string& scope) {
  if (contains(scope, "last rank") || contains(scope, "LAST rank")) return MemoryOf::last;
  const bool first = contains(scope, "first pipeline stage") || scope == "rank 0";
  return first && !contains(scope, "max") ? MemoryOf::first : MemoryOf::largest;
}

/// {"first": {"max_allocated_mib": 26204.6}, "middle": ..., "last": ...}
void read_stages(const RecordFields& stages, RecordMeasured& measured) {
  for (const auto& [name, rank] :
       {std::pair{"first", MemoryOf::first}, {"middle", MemoryOf::middle}, {"last", MemoryOf::last}}) {
    const auto mib = stages.object(name).number("max_allocated_mib");
    if (mib) measured.memory.push_back({MemoryReading::allocated, rank, *mib * MiB});
  }
}

/// {"0": [allocated, reserved], ...}: of the ranks of the first and of the last stage the largest.
void read_ranks(const RecordFields& fields, const JsonNode& ranks, bool has_stages, RecordMeasured& measured) {
  const RecordFields of_rank = fields.object("memory_by_rank_mib");
  double first = 0, last = 0;
  std::size_t at = 0;
  const std::size_t count = ranks.size();
  for (const JsonNode& node : ranks.members()) {
    const std::vector<double> pair = of_rank.numbers(node.key().c_str());
    if (!pair.empty()) {
      double& largest = has_stages && 2 * at >= count ? last : first;
      largest = std::max(largest, pair.front());
    }
    ++at;
  }
  if (first > 0) measured.memory.push_back({MemoryReading::allocated, MemoryOf::first, first * MiB});
  if (last > 0) measured.memory.push_back({MemoryReading::allocated, MemoryOf::last, last * MiB});
}

void read_memory(const RecordFields& fields, const RecordFields& parallel, RecordMeasured& measured) {
  measured.memory_kind = fields.text("memory_kind");
  const std::string unit = fields.text("memory_unit");
  const MemoryReading kind = reading_of(measured.memory_kind);
  const MemoryOf rank = rank_of(fields.text("memory_scope"));
  const auto amount = fields.number("memory_gb");
  const auto by_rank = fields.find("memory_by_rank_mib");
  if (fields.find("memory_by_stage")) {
    read_stages(fields.object("memory_by_stage"), measured);
  } else if (by_rank && by_rank->is(JsonKind::object)) {
    read_ranks(fields, *by_rank, parallel.count("pp").value_or(1) > 1, measured);
  } else if (const auto bytes = fields.number("memory_bytes")) {
    measured.memory.push_back({kind, rank, *bytes});
  } else if (amount) {
    // nvidia-smi prints MiB: what a table calls GB of it is GiB.
    const bool binary = contains(unit, "GiB") || kind == MemoryReading::device;
    measured.memory.push_back({kind, rank, *amount * (binary ? GiB : 1e9)});
  }
  for (const auto& [key, of] :
       {std::pair{"memory_max_stage_alloc_mb", MemoryOf::largest}, {"memory_min_stage_alloc_mb", MemoryOf::smallest}}) {
    if (const auto mib = fields.number(key)) measured.memory.push_back({MemoryReading::allocated, of, *mib * MiB});
  }
  std::erase_if(measured.memory, [](const RecordReading& reading) { return reading.bytes <= 0; });
}

}  // namespace

void read_measured(const RecordFields& fields, const RecordFields& derived, const RecordFields& parallel,
                   RecordMeasured& measured) {
  measured.step_time_s = fields.number("step_time_s");
  if (!measured.step_time_s) {
    measured.step_time_s = derived.number("step_time_s");
    measured.step_time_derived = measured.step_time_s.has_value();
  }
  read_memory(fields, parallel, measured);
  measured.oom = fields.flag("oom");
  measured.bubble = fields.number("bubble");
  const RecordFields profile = fields.object("profile_ms");
  const auto forward = profile.number("T_F"), input = profile.number("T_B"), weight = profile.number("T_W");
  if (forward && input && weight) {
    constexpr double ms = 1e-3;
    measured.profile = {*forward * ms, *input * ms, *weight * ms, profile.number("T_comm").value_or(0) * ms};
  }
  for (const double us : fields.numbers("stage_fwd_us")) measured.stage_forward_s.push_back(us * 1e-6);
  for (const double us : fields.numbers("stage_bwd_us")) measured.stage_backward_s.push_back(us * 1e-6);
}

}  // namespace stagecraft
