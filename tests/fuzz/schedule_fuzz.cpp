// Any text is a schedule, as CSV or JSON, or an InputError. What is a schedule can be checked, and what the checker
// accepts prints and reads back.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/input_error.hpp"
#include "schedule/check.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/json_text.hpp"

namespace {

using namespace stagecraft;

void check(const Schedule& schedule) {
  if (has_errors(check_schedule(schedule))) return;
  const std::string json = to_json(schedule);
  if (to_json(parse_json_schedule(json, "again.json")) != json) std::abort();
  if (!refuse_csv(schedule).empty()) return;
  const std::string csv = to_csv(schedule);
  CsvOptions options;
  if (to_csv(parse_csv_schedule(csv, options)) != csv) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try {
    CsvOptions options;
    options.legacy_letters = size % 2 == 1;
    check(text.starts_with("{") ? parse_json_schedule(text, "fuzz.json") : parse_csv_schedule(text, options));
  } catch (const InputError&) {
  }
  return 0;
}
