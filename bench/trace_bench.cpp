// Ten million spans through the native trace format.

#include <cstdio>
#include <filesystem>
#include <string>

#include "figure.hpp"
#include "trace/native_format.hpp"

using namespace stagecraft;

int main(int argc, char** argv) {
  const bool json = bench::wants_json(argc, argv);
  const std::string path = (std::filesystem::temp_directory_path() / "stagecraft-bench.trace").string();
  constexpr std::size_t spans = 10'000'000, piece_size = 65536;

  Trace head;
  head.producer = "bench";
  head.kind = "predicted";
  head.labels = {""};
  head.ranks = {{0, 0, 0, 1}};
  head.end_s = static_cast<double>(spans);
  head.step_end_s = {head.end_s};
  const auto write = [&] {
    TraceWriter writer(path);
    writer.head(head);
    std::vector<Span> piece;
    for (std::size_t first = 0; first < spans; first += piece_size) {
      piece.resize(std::min(piece_size, spans - first));
      for (std::size_t i = 0; i < piece.size(); ++i) {
        piece[i].begin_s = static_cast<double>(first + i);
        piece[i].end_s = piece[i].begin_s + 1;
      }
      writer.spans(piece);
    }
    writer.finish();
  };
  std::size_t seen = 0;
  const auto read = [&] {
    TraceSink sink;
    sink.spans = [&](std::span<const Span> piece) { seen += piece.size(); };
    read_trace(path, sink);
  };
  bench::print({"trace/write-1e7-spans", bench::median_seconds(1, write), "s", {}, ""}, json);
  bench::print({"trace/read-1e7-spans", bench::median_seconds(1, read), "s", {}, ""}, json);
  bench::print({"trace/file-1e7-spans", static_cast<double>(std::filesystem::file_size(path)) / 1e6, "MB", {}, ""},
               json);
  std::remove(path.c_str());
  return seen == 2 * spans ? 0 : 1;
}
