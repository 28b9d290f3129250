#include <algorithm>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"
#include "exit_code.hpp"
#include "report/validation.hpp"
#include "simulated_time.hpp"
#include "trace/output_stream.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

std::string print_as(const std::string& format, const Validation& validation, const HeldOut& held_out) {
  if (format == "json") return to_json(validation, held_out);
  if (format == "md") return to_markdown(validation, held_out);
  return to_text(validation, held_out);
}

const Record& record_of(const std::vector<Record>& records, const std::string& id, const std::string& file) {
  const auto found = std::find_if(records.begin(), records.end(), [&](const Record& each) { return each.id == id; });
  if (found != records.end()) return *found;
  std::vector<std::string> ids;
  for (const Record& each : records) ids.push_back(each.id);
  throw InputError(InputProblem{file, 0, 0, "", id, "the id of a record in the file", nearest_word(id, ids)});
}

}  // namespace

int run_validate(const Words& words, const Console& console) {
  std::string file, format, output, svg, id, calibration;
  bool hold_out = false, on_simgrid = false;
  const auto app = make_app(
      "validate", "Holds predictions against published measurements, per source.",
      {{"validate scenarios/records/published.json", "errors of step time, memory, bubble; ranking of layouts"},
       {"validate my-runs.json --format json", "for programs: every group and every record"},
       {"validate my-runs.json --svg scatter.svg", "predicted over measured step times as a picture"},
       {"validate my-runs.json --record my-run-7", "the scenario that a record became, and what was inferred"},
       {"validate my-runs.json --calibration mine.json", "with a profile that calibrate wrote"}});
  app->add_option("FILE", file, "Records: a list of measured runs; see docs/validation.md")->required();
  app->add_option("--record", id, "Only this record, with its scenario")->type_name("ID");
  app->add_option("--calibration", calibration, "Predict every record with this profile, not the one of its mapping")
      ->type_name("NAME");
  app->add_option("--svg", svg, "Write a scatter plot of step times")->type_name("FILE");
  app->add_flag("--leave-one-group-out", hold_out,
                "Fit the constants that step times have shaped again without each group, and predict it; minutes");
  app->add_flag("--simulate", on_simgrid, "Step times from SimGrid instead of the closed form; minutes");
  add_format(*app, format, {"text", "json", "md"});
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  if (!id.empty() && (!svg.empty() || hold_out || format != "text")) throw UsageError("--record prints text only");
  if (!svg.empty() && svg == output) throw UsageError("--svg and --output name the same file, " + svg);
  if (file == output || file == svg) throw UsageError("the file of records would be overwritten, " + file);

  if (on_simgrid && !can_simulate()) throw UsageError("this program was built without SimGrid; leave out --simulate");
  const StepTimer timer = on_simgrid ? StepTimer(simulated_step_time) : StepTimer{};

  for (const std::string& path : {svg, output}) {
    if (!path.empty()) check_can_write(path);
  }
  const Library library = default_library(console.executable);
  if (!calibration.empty()) load_calibration(calibration, library);  // a profile that is none is no record's fault
  std::vector<Record> records = read_records(file);
  for (Record& record : records) {
    if (!calibration.empty()) record.calibration = calibration;
  }
  std::string text;
  if (!id.empty()) {
    text = to_text(predict(record_of(records, id, file), library, timer));
  } else {
    const Validation validation = validate(records, library, timer);
    if (!svg.empty()) write_file_whole(svg, scatter_svg(validation));
    text = print_as(format, validation, hold_out ? leave_one_group_out(records, library) : HeldOut{});
  }
  if (output.empty()) return console.print(text), ok;
  write_file_whole(output, text);
  return ok;
}

}  // namespace stagecraft::cli
