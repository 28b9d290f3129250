// Folders of torch.profiler's files, written here as PyTorch 2.11 lays them out.

#include "trace/torch_profiler.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/input_error.hpp"

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("stagecraft-torch-profiler-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
};

std::string event(const std::string& category, const std::string& name, double ts, double duration) {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name + R"(", "pid": 7, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(duration) +
         R"(, "args": {"External id": 3, "name": "PP:9F9", "Ev Idx": [1, {"ts": 5}]}})";
}

std::string file(const std::string& rank, const std::vector<std::string>& events) {
  std::string text = R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )" + rank +
                     R"(, "world_size": 2}, "baseTimeNanoseconds": 1727379824000000000, "traceEvents": [)";
  for (const std::string& one : events) text += one + ", ";
  return text + R"({"ph": "i", "name": "Record Window End", "s": "g", "ts": 1, "args": null}], "traceName": "t"})";
}

std::string refusal(const Folder& folder) {
  try {
    read_torch_profiler_folder(folder.path.string());
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("PP: annotations of torch.profiler become the operations of a measured trace") {
  const Folder folder;
  folder.write("b.json",
               file("1", {event("user_annotation", "PP:1RECV_F0", 100, 30), event("user_annotation", "PP:1F0", 130, 20),
                          event("cpu_op", "PP:1F1", 140, 5), event("user_annotation", "PP:1B0", 150, 40)}));
  folder.write("a.json",
               file("0", {event("user_annotation", "PP:0F0", 100, 20), event("user_annotation", "PP:0SEND_F0", 120, 10),
                          event("user_annotation", "aten::mm", 120, 10)}));
  const Trace trace = read_torch_profiler_folder(folder.path.string());
  CHECK(trace.kind == "measured");
  CHECK(trace.steps == 1);
  REQUIRE(trace.spans.size() == 5);
  REQUIRE(trace.ranks.size() == 2);
  const Span& first = trace.spans.front();
  CHECK(first.rank == 0);
  CHECK(short_name(trace, first) == "0F0");
  CHECK(first.begin_s == 0);
  CHECK(first.end_s == Approx(20e-6));
  CHECK(trace.end_s == Approx(90e-6));  // from 100 us, where the first action begins, to 190 us
}

TEST_CASE("Annotations of the GPU count before those of the host, one per action however many streams carry it") {
  const Folder folder;
  folder.write("rank0.json",
               file("0", {event("user_annotation", "PP:0F0", 0, 5), event("gpu_user_annotation", "PP:0F0", 10, 40),
                          event("gpu_user_annotation", "PP:0F0", 20, 50),
                          event("gpu_user_annotation", "PP:(0F1;0B0)OVERLAP_F_B", 80, 10)}));
  const Trace trace = read_torch_profiler_folder(folder.path.string());
  REQUIRE(trace.spans.size() == 3);
  CHECK(trace.spans[0].end_s - trace.spans[0].begin_s == Approx(60e-6));
  CHECK(trace.spans[1].end_s - trace.spans[1].begin_s == Approx(10e-6));
  CHECK(trace.spans[1].kind == OpKind::backward);  // same begin and length: micro-batch 0 before 1
  CHECK(trace.spans[2].kind == OpKind::forward);
}

TEST_CASE("A step begins where a compute action comes again") {
  const Folder folder;
  folder.write("trace-rank_3.json",
               file("\"?\"", {event("user_annotation", "PP:0UNSHARD", 0, 1), event("user_annotation", "PP:0F0", 1, 1),
                              event("user_annotation", "PP:0UNSHARD", 2, 1), event("user_annotation", "PP:0F1", 3, 1),
                              event("user_annotation", "PP:0F0", 10, 2)}));
  const Trace trace = read_torch_profiler_folder(folder.path.string());
  CHECK(trace.ranks.front().rank == 3);
  CHECK(trace.steps == 2);
  REQUIRE(trace.step_end_s.size() == 2);
  CHECK(trace.step_end_s[0] == Approx(4e-6));
  CHECK(trace.step_end_s[1] == Approx(12e-6));
}

TEST_CASE("Folders that hold no usable profile are refused with the reason") {
  const Folder folder;
  CHECK_THAT(refusal(folder), Catch::Contains("no *.json file"));
  folder.write("a.json", file("0", {event("user_annotation", "aten::mm", 0, 1)}));
  CHECK_THAT(refusal(folder), Catch::Contains("no PP: annotation"));
  folder.write("a.json", file("0", {event("user_annotation", "PP:0F0", 0, 1)}));
  folder.write("b.json", file("0", {event("user_annotation", "PP:0F0", 0, 1)}));
  CHECK_THAT(refusal(folder), Catch::Contains("a second file of rank 0"));
  folder.write("b.json", R"({"traceEvents": [{"ph": )");
  CHECK_THAT(refusal(folder), Catch::Contains("the file ends at byte"));
  folder.write("b.json", "\"" + std::string(std::size_t{17} << 20, 'x'));
  CHECK_THAT(refusal(folder), Catch::Contains("more than 16 MiB"));
  folder.write("b.json.gz", "x");
  CHECK_THAT(refusal(folder), Catch::Contains("gunzip"));
}
