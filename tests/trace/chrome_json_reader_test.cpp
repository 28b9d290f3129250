#include "trace/chrome_json_reader.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/input_error.hpp"
#include "hand_made.hpp"
#include "trace/chrome_json.hpp"
#include "trace/summary.hpp"

using namespace stagecraft;

namespace {

std::string file_with(const std::string& text) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("stagecraft-chrome-reader-" + std::to_string(::getpid()) + ".json"))
          .string();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string refusal_of(const std::string& text) {
  try {
    read_chrome_json(file_with(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Trace written() {
  HandMade make;
  const auto f = make.add(0, OpKind::forward, 0, 3, 0.0, 0.5);
  const auto s = make.add(0, OpKind::send_activation, 0, 3, 0.5, 0.6, {f});
  const auto r = make.add(1, OpKind::recv_activation, 1, 3, 0.6, 0.7, {s});
  make.add(1, OpKind::forward, 1, 3, 0.7, 1.2, {r});
  make.trace.spans[f].tensor_s = 0.125;
  make.trace.spans[f].inner = index_of(make.trace.inner, {0.0625, 0.125, 0.03125, 0.015625});
  make.trace.counters.push_back({"memory/total", "B", 1, {0, 0.5}, {1024, 2048}});
  return make.finish();
}

}  // namespace

TEST_CASE("a trace comes back from its Chrome JSON") {
  const Trace before = written();
  const std::string path = file_with("");
  write_chrome_json(before, path);
  const Trace after = read_chrome_json(path);
  CHECK(after.scenario == before.scenario);
  CHECK(after.kind == before.kind);
  REQUIRE(after.spans.size() == before.spans.size());
  for (std::size_t i = 0; i < before.spans.size(); ++i) {
    CHECK(op_id(after.spans[i]) == op_id(before.spans[i]));
    CHECK(after.spans[i].rank == before.spans[i].rank);
    CHECK(after.spans[i].lane == before.spans[i].lane);
    CHECK(after.spans[i].begin_s == Approx(before.spans[i].begin_s));
    CHECK(after.spans[i].end_s == Approx(before.spans[i].end_s));
    CHECK(after.spans[i].tensor_s == Approx(before.spans[i].tensor_s));
    CHECK(inner_of(after, after.spans[i]) == inner_of(before, before.spans[i]));
  }
  const auto edges_of = [](const Trace& trace) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const Dependency& edge : trace.dependencies) edges.emplace(edge.from, edge.to);
    return edges;
  };
  CHECK(edges_of(after) == edges_of(before));
  CHECK(after.ranks.size() == 2);
  CHECK(after.end_s == Approx(1.2));
  REQUIRE(after.counters.size() == 1);
  CHECK(after.counters[0].rank == 1);
  CHECK(after.counters[0].value == std::vector<double>{1024, 2048});
}

TEST_CASE("idle time has the same causes in a trace and in its Chrome JSON") {
  const Trace before = written();
  const std::string path = file_with("");
  write_chrome_json(before, path);
  const Summary in_memory = summarise(before), in_file = summarise(read_chrome_json(path));
  CHECK(in_memory.mean[static_cast<std::size_t>(TimeClass::bubble_warmup)] > 0);
  for (std::size_t i = 0; i < time_class_count; ++i) {
    CAPTURE(to_text(static_cast<TimeClass>(i)));
    CHECK(in_file.mean[i] == Approx(in_memory.mean[i]).margin(1e-9));
    CHECK(in_file.critical_path.seconds[i] == Approx(in_memory.critical_path.seconds[i]).margin(1e-9));
  }
}

TEST_CASE("a file without numbers of its slices has the arrows as dependencies") {
  const Trace trace = read_chrome_json(file_with(R"([
    {"ph":"X","pid":0,"tid":2049,"ts":0,"dur":5,"name":"0SEND_F0"},
    {"ph":"X","pid":1,"tid":1,"ts":5,"dur":5,"name":"1F0"},
    {"ph":"s","pid":0,"tid":2049,"ts":0,"id":1}, {"ph":"f","pid":1,"tid":1,"ts":5,"id":1}])"));
  REQUIRE(trace.dependencies.size() == 1);
  CHECK(is_send(trace.spans[trace.dependencies[0].from].kind));
}

TEST_CASE("a dependency on a slice that is not in the file, or on itself, is left out") {
  const Trace trace = read_chrome_json(file_with(R"([
    {"ph":"X","pid":0,"tid":1,"ts":0,"dur":5,"name":"0F0","args":{"span":7,"after":[7,3,"x",-1]}},
    {"ph":"X","pid":0,"tid":1,"ts":5,"dur":5,"name":"0B0","args":{"span":9,"after":[7]}}])"));
  REQUIRE(trace.dependencies.size() == 1);
  CHECK(trace.spans[trace.dependencies[0].from].kind == OpKind::forward);
}

TEST_CASE("a profile of PyTorch's pipeline runtime is read by its ranges") {
  const Trace trace = read_chrome_json(file_with(R"({"schemaVersion": 1,
    "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4}, "traceEvents": [
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":99,"tid":99,"ts":1000.0,"dur":500},
    {"ph":"X","cat":"user_annotation","name":"PP:3F0","pid":99,"tid":99,"ts":1001.0,"dur":1},
    {"ph":"X","cat":"gpu_user_annotation","name":"PP:3F0","pid":0,"tid":7,"ts":1010.0,"dur":100},
    {"ph":"X","cat":"gpu_user_annotation","name":"PP:3B0","pid":0,"tid":7,"ts":1120.0,"dur":200},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1010.0,"dur":60,"args":{"grid":[1,2,3]}},
    {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":20,"ts":1050.0,"dur":40},
    {"ph":"X","cat":"kernel","name":"stray","pid":0,"tid":7,"ts":2000.0,"dur":5},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":99,"tid":99,"ts":1001.0,"dur":1}]})"));
  CHECK(trace.ranks.at(0).rank == 3);
  CHECK(trace.kind == "measured");
  REQUIRE(trace.spans.size() == 4);
  CHECK(to_text(op_id(trace.spans[0])) == "step0/3F0");
  CHECK(trace.spans[0].begin_s == 0);
  CHECK(trace.spans[0].end_s == Approx(100e-6));
  // The all-reduce runs 40 us, of which the GEMM hides 20.
  CHECK(trace.spans[0].tensor_s == Approx(20e-6));
  CHECK(short_name(trace, trace.spans[1]) == "gemm");
  CHECK(short_name(trace, trace.spans[2]) == "ncclDevKernel_AllReduce");
  CHECK(trace.spans[3].kind == OpKind::backward);
  REQUIRE_FALSE(trace.provenance.empty());
  CHECK(trace.provenance[0].value == "1");
}

TEST_CASE("what is no trace is refused with its place") {
  CHECK(refusal_of("").find("byte") != std::string::npos);
  CHECK(refusal_of("{\"traceEvents\": [{\"ph\":\"X\", \"na").find("/traceEvents/0: got the file ends at byte") !=
        std::string::npos);
  CHECK(refusal_of("\x01\x02\xff").find("no JSON: 0x01 at byte 0") != std::string::npos);
  CHECK(refusal_of("{}").find("without \"traceEvents\"") != std::string::npos);
  CHECK(refusal_of("{\"traceEvents\": []}").find("no operations of a pipeline") != std::string::npos);
  CHECK(refusal_of("{\"traceEvents\": 3}").find("without \"traceEvents\"") != std::string::npos);
  CHECK(refusal_of(R"([{"ph":"X","pid":-4,"tid":1,"ts":0,"dur":1,"name":"2F5"}])").find("pid -4") != std::string::npos);
  CHECK(refusal_of(R"([{"ph":"X","pid":0,"tid":1,"ts":0,"dur":-1,"name":"2F5"}])").find("/traceEvents/0") !=
        std::string::npos);
  CHECK(refusal_of(R"([{"ph":"X","pid":0,"tid":1,"ts":1e999,"dur":1,"name":"2F5"}])") != "");
  CHECK(refusal_of(std::string(100'000, '[')).find("levels of nesting") != std::string::npos);
}

TEST_CASE("a trace that is cut off anywhere is refused") {
  const std::string path = file_with("");
  write_chrome_json(written(), path);
  std::string text;
  {
    std::ifstream stream(path);
    text.assign(std::istreambuf_iterator<char>(stream), {});
  }
  while (text.back() == '\n') text.pop_back();
  for (std::size_t length = 0; length < text.size(); length += 7) {
    CAPTURE(length);
    CHECK(refusal_of(text.substr(0, length)) != "");
  }
  CHECK(refusal_of(text).empty());
}
