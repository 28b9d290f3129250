// How long the schedule generators, the analysis and the text forms take.

#include <string>

#include "figure.hpp"
#include "schedule/analyse.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/family.hpp"
#include "schedule/json_text.hpp"

using namespace stagecraft;

namespace {

ScheduleRequest request_for(const FamilyEntry& entry, std::int32_t ranks, std::int32_t micro_batches) {
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, usual_chunks(entry)};
  request.times = {{1.0}, {1.2}, {0.8}, 0.05, {}};
  return request;
}

void measure_family(bool json) {
  const double seconds = bench::median_seconds(20, [] {
    for (const FamilyEntry& entry : schedule_family()) entry.generate(request_for(entry, 8, 32));
  });
  bench::print({"generators/family-p8-m32", seconds, "s", 0.02, "limit"}, json);
}

void measure_zb_auto(bool json) {
  const FamilyEntry& entry = *find_schedule("zb-auto");
  const double seconds = bench::median_seconds(5, [&] { entry.generate(request_for(entry, 16, 64)); });
  bench::print({"generators/zb-auto-p16-m64", seconds, "s", 2.0, "limit"}, json);
}

void measure_large(bool json) {
  for (const FamilyEntry& entry : schedule_family()) {
    const ScheduleRequest request = request_for(entry, 64, 1024);
    const double seconds = bench::median_seconds(3, [&] { entry.generate(request); });
    bench::print({std::string("generators/") + entry.name + "-p64-m1024", seconds, "s", {}, ""}, json);
  }
}

void measure_analysis_and_texts(bool json) {
  const FamilyEntry& entry = *find_schedule("interleaved-1f1b");
  const ScheduleRequest request = request_for(entry, 64, 1024);
  const Schedule schedule = entry.generate(request);
  const auto print = [&](const char* name, double seconds) { bench::print({name, seconds, "s", {}, ""}, json); };
  print("generators/analyse-p64-m1024-v2", bench::median_seconds(5, [&] { analyse(schedule, request.times); }));
  const std::string csv = to_csv(schedule);
  print("generators/write-csv-p64-m1024-v2", bench::median_seconds(3, [&] { to_csv(schedule); }));
  print("generators/read-csv-p64-m1024-v2", bench::median_seconds(3, [&] { parse_csv_schedule(csv, {}); }));
  const std::string text = to_json(schedule);
  print("generators/write-json-p64-m1024-v2", bench::median_seconds(3, [&] { to_json(schedule); }));
  print("generators/read-json-p64-m1024-v2", bench::median_seconds(3, [&] { parse_json_schedule(text, "bench"); }));
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  measure_family(json);
  measure_zb_auto(json);
  measure_large(json);
  measure_analysis_and_texts(json);
  return 0;
}
