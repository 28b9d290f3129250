// Any text is a log of nccl-tests, a table of nsys, a trace of torch.profiler, or an InputError; sums are finite.

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/input_error.hpp"
#include "exchange/nccl_tests_log.hpp"
#include "trace/kernel_totals.hpp"

namespace {

template <class Read>
void try_to(Read&& read) {
  try {
    read();
  } catch (const stagecraft::InputError&) {
  }
}

void check(const stagecraft::KernelTotals& totals) {
  for (const stagecraft::KernelTotal& kernel : totals.kernels) {
    if (kernel.count < 0 || !std::isfinite(kernel.seconds) || !std::isfinite(kernel.squared_spread)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stagecraft;
  const std::string text(data, data + size);
  try_to([&] {
    for (const NcclTestsRun& run : read_nccl_tests(text, "fuzz")) {
      if (run.rows.empty() || run.ranks != run.nodes * run.ranks_per_node) std::abort();
    }
  });
  try_to([&] { check(read_nsys_kernels(text, "fuzz")); });
  const int file = ::memfd_create("trace", 0);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try_to([&] { check(read_kineto_kernels("/proc/self/fd/" + std::to_string(file))); });
  ::close(file);
  return 0;
}
