#pragma once
// What PyTorch's profiler records of a pipeline step, made into a trace. Private to the JSON reader.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/chrome_events.hpp"
#include "trace/trace.hpp"

namespace stagecraft {

class KinetoBuilder {
 public:
  /// True if the event is one of the profiler's that a trace is made of.
  bool add(const ChromeEvent& event);

  /// The trace of the file's rank. Throws InputError if no range names a pipeline action.
  Trace finish(const std::string& path, const ChromeFile& file);

 private:
  struct Range {
    double begin_us = 0, end_us = 0;
    OpName op;
  };
  struct Kernel {
    double begin_us = 0, end_us = 0;
    std::uint32_t name = 0;
    bool communicates = false;
  };

  void add_kernels(Trace& trace, const Range& range, const Span& whole);
  std::uint8_t step_of(double begin_us) const;

  std::vector<Range> on_gpu_, on_cpu_;
  std::vector<Kernel> kernels_;
  std::vector<double> steps_;  // begins of ProfilerStep ranges
  std::map<std::string, std::uint32_t> names_;
  std::size_t unknown_actions_ = 0, used_kernels_ = 0;
};

}  // namespace stagecraft
