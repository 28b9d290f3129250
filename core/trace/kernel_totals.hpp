#pragma once
// What a profiler saw one GPU do, summed by the names of its kernels.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

struct KernelTotal {
  std::string name;
  std::int64_t count = 0;
  double seconds = 0;         // of all together
  double squared_spread = 0;  // sum over them of (time - mean time)^2
};

struct KernelTotals {
  std::string file;
  std::vector<KernelTotal> kernels;  // ascending by name
  /// From the end of one to the begin of the next on the stream that computes longest, where they don't overlap; empty
  /// if the file says nothing of when kernels ran.
  std::vector<double> gaps_s;
  std::int64_t steps = 0;            // that the file marks; 0: it marks none
  std::optional<std::int32_t> rank;  // that the file names
};

/// torch.profiler's Chrome JSON: events "X" of category kernel, gpu_memcpy and gpu_memset (Kineto, with dur in us; tid
/// is the stream, pid the device), steps as ranges "ProfilerStep#N". Read as a stream. Throws InputError with the event
/// for times that are none, for kernels of several devices, for more than 2^24 kernels or 2^16 names, and for a file
/// without kernels; as trace/json_stream.hpp does; and for a gzip file, which has to be unpacked first.
KernelTotals read_kineto_kernels(const std::string& path);

/// What `nsys stats --format csv` prints with the reports cuda_gpu_trace ("Start (ns), Duration (ns), ..., Strm, Name";
/// gputrace of older versions) or cuda_gpu_kern_sum ("Time (%), Total Time (ns), Instances, ..., Name"; gpukernsum).
/// Lines before the column names are passed over. Throws InputError with the line, and under the same limits.
KernelTotals read_nsys_kernels(std::string_view text, const std::string& file);

/// Adds kernels up. Internal to the readers.
class KernelCollector {
 public:
  explicit KernelCollector(const std::string& file) : file_(file) {}

  /// False if a limit is exceeded, which `problem` then names.
  bool add(const std::string& name, std::int64_t device, std::int64_t stream, double begin_s, double duration_s);
  /// Many of one name, of which only sums are known.
  bool add_sum(const std::string& name, std::int64_t count, double seconds, double squared_spread);
  const std::string& problem() const { return problem_; }

  /// Throws InputError if there are none.
  KernelTotals finish();

 private:
  struct Sums {
    std::int64_t count = 0;
    double mean = 0, squares = 0;
    bool computes = true;  // no communication, no copy
  };
  struct Run {
    double begin_s = 0, end_s = 0;
  };
  Sums* sums_of(const std::string& name);

  std::string file_, problem_;
  std::map<std::string, Sums> by_name_;
  std::map<std::int64_t, std::vector<Run>> by_stream_;
  std::map<std::int64_t, double> compute_s_;  // by stream
  std::optional<std::int64_t> device_;
  std::size_t kernels_ = 0, letters_ = 0;
};

}  // namespace stagecraft
