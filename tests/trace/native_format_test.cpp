#include "trace/native_format.hpp"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/input_error.hpp"
#include "hand_made.hpp"
#include "trace/crc32.hpp"

using namespace stagecraft;

namespace {

class Directory {
 public:
  Directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stagecraft-trace-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Trace sample(int micro_batches) {
  HandMade make;
  make.trace.labels = {"", "qkv"};
  make.trace.provenance = {{"calibration", "a100"}};
  for (int i = 0; i < micro_batches; ++i) {
    const auto f = make.add(0, OpKind::forward, 0, i, i, i + 0.5);
    make.add(1, OpKind::forward, 1, i, i + 0.5, i + 1, {f});
  }
  make.trace.spans[1].segment = 3;
  make.trace.spans[1].label = 1;
  make.trace.spans[1].tensor_s = 0.125;
  make.trace.spans[0].inner = index_of(make.trace.inner, {0.0625, 0, 0.125, 0});
  make.trace.counters.push_back({"memory/total", "B", 1, {0, 1.5}, {7e9, 8e9}});
  make.trace.counters.push_back({"link/leaf", "B/s", -1, {}, {}});
  return make.finish();
}

void check_equal(const Trace& a, const Trace& b) {
  CHECK(a.producer == b.producer);
  CHECK(a.scenario == b.scenario);
  CHECK(a.kind == b.kind);
  CHECK(a.steps == b.steps);
  CHECK(a.end_s == b.end_s);
  CHECK(a.step_end_s == b.step_end_s);
  CHECK(a.labels == b.labels);
  CHECK(a.inner == b.inner);
  REQUIRE(a.provenance.size() == b.provenance.size());
  REQUIRE(a.ranks.size() == b.ranks.size());
  REQUIRE(a.spans.size() == b.spans.size());
  REQUIRE(a.dependencies.size() == b.dependencies.size());
  REQUIRE(a.counters.size() == b.counters.size());
  bool same = true;
  for (std::size_t i = 0; i < a.spans.size(); ++i) {
    const Span &x = a.spans[i], &y = b.spans[i];
    same = same && x.begin_s == y.begin_s && x.end_s == y.end_s && x.tensor_s == y.tensor_s && x.inner == y.inner &&
           x.label == y.label && op_id(x) == op_id(y) && x.rank == y.rank && x.lane == y.lane;
  }
  for (std::size_t i = 0; i < a.dependencies.size(); ++i) {
    same = same && a.dependencies[i].from == b.dependencies[i].from && a.dependencies[i].to == b.dependencies[i].to;
  }
  for (std::size_t i = 0; i < a.counters.size(); ++i) {
    const CounterSeries &x = a.counters[i], &y = b.counters[i];
    same =
        same && x.name == y.name && x.unit == y.unit && x.rank == y.rank && x.time_s == y.time_s && x.value == y.value;
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("CRC-32 has the check value of ISO 3309") {
  CHECK(crc32("123456789") == 0xCBF43926U);
  CHECK(crc32("6789", crc32("12345")) == 0xCBF43926U);
  CHECK(crc32("") == 0);
}

TEST_CASE("a trace reads back as it was written, over several chunks too") {
  const Directory directory;
  for (const int micro_batches : {1, 3, 70000}) {
    const Trace trace = sample(micro_batches);
    write_trace(trace, directory.file("a.trace"));
    check_equal(trace, read_trace(directory.file("a.trace")));
  }
}

TEST_CASE("the same trace gives the same bytes") {
  const Directory directory;
  write_trace(sample(5), directory.file("a.trace"));
  write_trace(sample(5), directory.file("b.trace"));
  CHECK(bytes_of(directory.file("a.trace")) == bytes_of(directory.file("b.trace")));
}

TEST_CASE("a trace that is not finished leaves no file") {
  const Directory directory;
  {
    TraceWriter writer(directory.file("a.trace"));
    writer.head(sample(1));
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("a file cut off anywhere is refused") {
  const Directory directory;
  write_trace(sample(3), directory.file("a.trace"));
  const std::string whole = bytes_of(directory.file("a.trace"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put_bytes(directory.file("cut.trace"), whole.substr(0, size));
    CHECK_THROWS_AS(read_trace(directory.file("cut.trace")), InputError);
  }
  put_bytes(directory.file("cut.trace"), whole + "x");
  CHECK_THROWS_AS(read_trace(directory.file("cut.trace")), InputError);
}

TEST_CASE("a changed byte anywhere is noticed") {
  const Directory directory;
  write_trace(sample(3), directory.file("a.trace"));
  const std::string whole = bytes_of(directory.file("a.trace"));
  const std::size_t reserved = 12;  // four bytes of the header that this version does not use
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at >= reserved && at < reserved + 4) continue;
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    put_bytes(directory.file("changed.trace"), changed);
    CHECK_THROWS_AS(read_trace(directory.file("changed.trace")), InputError);
  }
}

TEST_CASE("a chunk that claims to be huge costs no memory") {
  const Directory directory;
  write_trace(sample(1), directory.file("a.trace"));
  std::string hostile = bytes_of(directory.file("a.trace"));
  for (std::size_t i = 0; i < 8; ++i) hostile[16 + 8 + i] = '\xff';
  put_bytes(directory.file("a.trace"), hostile);
  CHECK_THROWS_WITH(read_trace(directory.file("a.trace")), Catch::Contains("bytes in a chunk"));
}

TEST_CASE("another file and a missing file are refused by name") {
  const Directory directory;
  put_bytes(directory.file("a.json"), "{\"traceEvents\":[]}          ");
  CHECK_THROWS_WITH(read_trace(directory.file("a.json")), Catch::Contains("a.json") && Catch::Contains("STGTRACE"));
  CHECK_THROWS_WITH(read_trace(directory.file("none.trace")), Catch::Contains("none.trace"));
}

TEST_CASE("spans arrive in pieces, so that a reader need not hold them all") {
  const Directory directory;
  write_trace(sample(70000), directory.file("a.trace"));
  std::size_t pieces = 0, spans = 0, largest = 0;
  TraceSink sink;
  sink.spans = [&](std::span<const Span> piece) {
    ++pieces;
    spans += piece.size();
    largest = std::max(largest, piece.size());
  };
  read_trace(directory.file("a.trace"), sink);
  CHECK(pieces == 3);
  CHECK(spans == 140000);
  CHECK(largest == 65536);
}
