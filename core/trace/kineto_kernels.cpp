// Kernels of torch.profiler's Chrome JSON.

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>

#include "base/input_error.hpp"
#include "trace/chrome_events.hpp"
#include "trace/kernel_totals.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t most_steps = 4096;
constexpr double largest_us = 1e16;  // 300 years: clocks that count from 1970 fit

bool is_gzip(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 2> head{};
  stream.read(head.data(), head.size());
  return stream.gcount() == 2 && head[0] == '\x1f' && head[1] == '\x8b';
}

bool is_work(const std::string& category) {
  return category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" || category == "Kernel" ||
         category == "Memcpy" || category == "Memset";
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), kernels_(path) {}

  void add(const ChromeEvent& event) {
    const std::size_t index = events_++;
    if (event.phase != 'X') return;
    if (is_work(event.category)) {
      const bool sane = std::abs(event.ts_us) <= largest_us && event.dur_us >= 0 && event.dur_us <= largest_us;
      if (!sane) refuse(index, fmt::format("ts {}, dur {}", event.ts_us, event.dur_us), "a time and a duration in us");
      if (!kernels_.add(event.name, event.pid, event.tid, event.ts_us * 1e-6, event.dur_us * 1e-6))
        refuse(index, kernels_.problem(), "the profile of one rank");
      return;
    }
    constexpr std::string_view step = "ProfilerStep#";
    if (!event.name.starts_with(step) || steps_.size() >= most_steps) return;
    std::int64_t number = 0;
    const char* const end = event.name.data() + event.name.size();
    if (std::from_chars(event.name.data() + step.size(), end, number).ec == std::errc{}) steps_.insert(number);
  }

  KernelTotals finish(const ChromeFile& file) {
    KernelTotals totals = kernels_.finish();
    totals.steps = static_cast<std::int64_t>(steps_.size());
    if (file.rank >= 0 && file.rank < 1'000'000'000) totals.rank = static_cast<std::int32_t>(file.rank);
    return totals;
  }

 private:
  [[noreturn]] void refuse(std::size_t event, const std::string& got, const std::string& expected) const {
    throw InputError(InputProblem{path_, 0, 0, fmt::format("/traceEvents/{}", event), got, expected, ""});
  }

  const std::string& path_;
  KernelCollector kernels_;
  std::set<std::int64_t> steps_;
  std::size_t events_ = 0;
};

}  // namespace

KernelTotals read_kineto_kernels(const std::string& path) {
  if (is_gzip(path)) {
    throw InputError(InputProblem{path, 0, 0, "", "a gzip file", "the JSON in it: gunzip it first", ""});
  }
  Reader reader(path);
  const ChromeFile file = read_chrome_events(path, [&](const ChromeEvent& event) { reader.add(event); });
  return reader.finish(file);
}

}  // namespace stagecraft
