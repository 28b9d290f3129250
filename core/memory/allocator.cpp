#include "memory/allocator.hpp"

#include <cmath>

#include "memory/framework.hpp"
#include "memory/overhead.hpp"

namespace stagecraft {

AllocatorView allocator_view(const Plan& plan, const MemoryPeak& peak) {
  constexpr double with_expandable_segments = 0.01;
  AllocatorView view;
  for (const FixedLine& line : fixed_lines(plan)) {
    if (!line.in_allocator) view.outside += line.bytes;
  }
  view.allocated = peak.peak - view.outside;
  const double unused = plan.run.expandable_segments ? with_expandable_segments : habits_of(plan.run).reserved;
  const Bytes usual = view.allocated * (1 + unused);
  view.wanted = usual + view.outside;
  const Bytes room = peak.limit - view.outside;
  view.retries = usual > room && view.allocated <= room;
  view.reserved = view.retries ? room : usual;
  view.device = view.reserved + view.outside;
  return view;
}

const char* to_text(FitVerdict verdict) {
  switch (verdict) {
    case FitVerdict::fits:
      return "fits";
    case FitVerdict::close:
      return "close to the limit";
    case FitVerdict::does_not_fit:
      return "does not fit";
  }
  return "";
}

FitVerdict verdict_of(const AllocatorView& view, Bytes limit) {
  constexpr double near = 0.05;
  if (std::abs(view.wanted.value - limit.value) <= near * limit.value) return FitVerdict::close;
  return view.wanted <= limit ? FitVerdict::fits : FitVerdict::does_not_fit;
}

}  // namespace stagecraft
