#pragma once
// Parts of the rule that turns a record into a scenario; one .cpp file each.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "validate/mapping.hpp"
#include "validate/software.hpp"

namespace stagecraft {

/// A record that cannot be mapped; what() is the reason.
class Unmapped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One field of the scenario, its value as JSON text.
struct Setting {
  std::string pointer, json;
};

/// What is being put together.
struct Draft {
  const Record& record;
  const SoftwarePeriod& software;
  const TunedLayout& tuned;
  std::vector<Setting>& scenario;
  Mapping& mapping;
};

/// A partition: a word that the plan knows, or blocks of every stage.
using Partition = std::variant<std::string, std::vector<std::int64_t>>;

void set(Draft& draft, const char* pointer, bool value);
void set(Draft& draft, const char* pointer, std::int64_t value);
void set(Draft& draft, const char* pointer, double value);
void set(Draft& draft, const char* pointer, const std::string& value);
void set(Draft& draft, const char* pointer, const char* value);
void set(Draft& draft, const char* pointer, const Partition& value);
void set(Draft& draft, const char* pointer, const std::vector<std::string>& value);

/// Notes an input that the record does not state.
void infer(Draft& draft, const std::string& pointer, const std::string& value, const std::string& reason);

bool contains(const std::string& text, const char* part);  // capitals ignored

/// Modules of selective recompute that a text names in Megatron-LM's words, in those of a scenario.
std::vector<std::string> recompute_modules_of(const std::string& text);

/// Whether whoever wrote the record down inferred the field ("parallel.sp") instead of reading it.
bool is_guessed(const Record& record, const char* what);

/// The value, or Unmapped that names what is missing.
std::int64_t stated(const std::optional<std::int64_t>& value, const char* what);

bool is_deepseek_v3_of_nvidia(const Record& record);

/// NVIDIA trains DeepSeek-V3 with its module of multi-token prediction unless the source says otherwise
/// (NVIDIA-NeMo/Megatron-Bridge, src/megatron/bridge/recipes/deepseek/deepseek_v3.py).
std::int64_t prediction_modules_of(const Record& record);

void map_model(Draft& draft);     // rule_model.cpp
void map_cluster(Draft& draft);   // rule_cluster.cpp: cluster and calibration
void map_parallel(Draft& draft);  // rule_parallel.cpp: degrees, batch, partition, schedule
void map_kernels(Draft& draft);   // rule_kernels.cpp: precision, recompute, attention, overlap, ZeRO
void map_experts(Draft& draft);   // rule_experts.cpp: experts, their degrees and dispatcher
void map_memory(Draft& draft);    // rule_kernels.cpp: which reading

}  // namespace stagecraft
