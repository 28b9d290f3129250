#pragma once
// What a run printed: step time, throughput, memory, from the log of Megatron-LM, DeepSpeed or torchtitan.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

struct Observed {
  std::string framework;               // "megatron", "deepspeed", "torchtitan"
  std::vector<double> step_times_s;    // per logged interval, in the order of the log
  std::vector<double> tokens_per_s;    // of a GPU, where the log has them
  std::vector<double> tflops;          // of a GPU
  std::optional<double> memory_bytes;  // the largest that was printed
  std::string memory_kind;             // "torch max_allocated", "torch max_reserved"
};

/// Lines that are none of a log's are passed over. Throws InputError if no line of any of the three frameworks is
/// found.
Observed observe_log(std::string_view text, const std::string& file);

/// Intervals that the log tells times or rates of.
std::size_t interval_count(const Observed& observed);

/// The median over the intervals behind the first `warm_up`. Zero if there are none.
double settled(const std::vector<double>& values, std::size_t warm_up);

/// A list with one record in the form that `stagecraft validate` reads. `base` is a record's JSON object whose fields
/// are kept (model, degrees, batch), or "".
std::string record_of(const Observed& observed, const std::string& id, std::size_t warm_up, std::string_view base);

}  // namespace stagecraft
