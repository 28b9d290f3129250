#include "trace/chrome_json.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hand_made.hpp"

using namespace stagecraft;
using Json = nlohmann::json;

namespace {

std::string text_of(const Trace& trace) {
  std::string text;
  write_chrome_json(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

/// Two sends of rank 0 that overlap in time, and what they feed on rank 1.
Trace with_messages() {
  HandMade make;
  const auto f0 = make.add(0, OpKind::forward, 0, 0, 0, 1e-3);
  const auto f1 = make.add(0, OpKind::forward, 0, 1, 1e-3, 2e-3, {f0});
  const auto s0 = make.add(0, OpKind::send_activation, 0, 0, 1e-3, 3e-3, {f0});
  const auto s1 = make.add(0, OpKind::send_activation, 0, 1, 2e-3, 4e-3, {f1});
  const auto r0 = make.add(1, OpKind::recv_activation, 1, 0, 3e-3, 3e-3, {s0});
  const auto r1 = make.add(1, OpKind::recv_activation, 1, 1, 4e-3, 4e-3, {s1});
  make.add(1, OpKind::forward, 1, 0, 3e-3, 4e-3, {r0});
  make.add(1, OpKind::forward, 1, 1, 4e-3, 5e-3, {r1});
  make.trace.counters.push_back({"memory/total", "B", 1, {0, 3e-3}, {5, 6}});
  make.trace.counters.push_back({"link/leaf", "B/s", -1, {0}, {1e9}});
  return make.finish();
}

std::vector<Json> events(const Trace& trace, const std::string& phase) {
  std::vector<Json> found;
  const Json document = Json::parse(text_of(trace));
  for (const Json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

/// Nanoseconds of a time in microseconds with three digits.
std::int64_t ns(const Json& micros) {
  return std::llround(micros.get<double>() * 1000);
}

}  // namespace

TEST_CASE("every rank is a process with a name, and every lane a named thread") {
  std::set<std::string> names;
  for (const Json& event : events(with_messages(), "M")) {
    if (event.at("name") == "process_name") names.insert(event.at("args").at("name"));
    if (event.at("name") == "thread_name") {
      names.insert(std::to_string(event.at("pid").get<int>()) + "/" + event.at("args").at("name").get<std::string>());
    }
  }
  CHECK(names == std::set<std::string>{"rank 0", "rank 1", "network", "0/compute", "0/pipeline", "0/pipeline 2",
                                       "1/compute", "1/pipeline"});
}

TEST_CASE("slices of one thread never overlap") {
  std::map<std::pair<int, int>, std::int64_t> busy_until;
  for (const Json& slice : events(with_messages(), "X")) {
    std::int64_t& until = busy_until[{slice.at("pid"), slice.at("tid")}];
    CHECK(ns(slice.at("ts")) >= until);
    until = ns(slice.at("ts")) + ns(slice.at("dur"));
  }
}

TEST_CASE("an arrow leaves every send and ends in the slice that waited for it") {
  const Trace trace = with_messages();
  const std::vector<Json> slices = events(trace, "X"), starts = events(trace, "s"), ends = events(trace, "f");
  REQUIRE(starts.size() == 2);
  REQUIRE(ends.size() == 2);
  const auto slice_at = [&](const Json& arrow) {
    for (const Json& slice : slices) {
      const bool holds = slice.at("pid") == arrow.at("pid") && slice.at("tid") == arrow.at("tid") &&
                         ns(slice.at("ts")) <= ns(arrow.at("ts")) &&
                         ns(arrow.at("ts")) < ns(slice.at("ts")) + ns(slice.at("dur"));
      if (holds) return slice.at("name").get<std::string>();
    }
    return std::string("none");
  };
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(starts[i].at("id") == ends[i].at("id"));
    CHECK(ends[i].at("bp") == "e");
    const std::string micro_batch = std::to_string(i);
    CHECK(slice_at(starts[i]) == "0SEND_F" + micro_batch);
    CHECK(slice_at(ends[i]) == "1F" + micro_batch);
  }
}

TEST_CASE("counters belong to their rank, shared ones to the network") {
  const std::vector<Json> counters = events(with_messages(), "C");
  REQUIRE(counters.size() == 3);
  CHECK(counters[1].at("pid") == 1);
  CHECK(counters[1].at("ts") == 3000.0);
  CHECK(counters[1].at("args").at("B") == 6);
  CHECK(counters[2].at("pid") == 2);
}

TEST_CASE("times have three digits whatever the locale and the size") {
  HandMade make;
  make.add(0, OpKind::forward, 0, 0, 1234567.0000004, 1234567.5);
  CHECK_THAT(text_of(make.finish()), Catch::Contains("\"ts\":1234567000000.400,\"dur\":499999.600"));
}

TEST_CASE("names from outside are quoted") {
  Trace trace = with_messages();
  trace.scenario = "a \"quote\"\n\xff";
  CHECK_NOTHROW(Json::parse(text_of(trace)));
}

TEST_CASE("segments lie inside their operation on the same thread") {
  HandMade make;
  const auto whole = make.add(0, OpKind::forward, 0, 0, 0, 1);
  const auto part = make.add(0, OpKind::forward, 0, 0, 0, 0.5);
  make.trace.labels = {"", "qkv"};
  make.trace.spans[part].segment = 0;
  make.trace.spans[part].label = 1;
  CHECK(whole == 0);
  const std::vector<Json> slices = events(make.finish(), "X");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].at("name") == "0F0");
  CHECK(slices[1].at("name") == "qkv");
  CHECK(slices[0].at("tid") == slices[1].at("tid"));
}
