#pragma once
// A predicted trace held against a measurement record instead of a trace: step time and memory, no operations.

#include <optional>
#include <string>

#include "trace/trace.hpp"
#include "validate/record.hpp"

namespace stagecraft::cli {

struct RecordComparison {
  std::string id;
  double predicted_step_s = 0;
  std::optional<double> measured_step_s;
  double predicted_bytes = 0;  // peak of the fullest rank of the trace; 0: it has no memory counters
  std::optional<double> measured_bytes;
};

/// The one record of a file as `observe` writes it. Throws InputError if the file holds another number of them, or one
/// that has neither step time nor memory.
Record read_one_record(const std::string& path);

RecordComparison compare_with_record(const Trace& predicted, const Record& record);

std::string text_of(const RecordComparison& comparison);
std::string json_of(const RecordComparison& comparison, bool outside);

/// Signed errors, as fractions; none where one of the two is missing.
std::optional<double> step_error(const RecordComparison& comparison);
std::optional<double> memory_error(const RecordComparison& comparison);

}  // namespace stagecraft::cli
