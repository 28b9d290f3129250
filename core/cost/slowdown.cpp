#include "cost/slowdown.hpp"

namespace stagecraft {

Slowdown slowdown_beside(const CostModel& model, const OverlapSpec& overlap) {
  const double held = overlap.slowdown;
  const LawTerm& keeps = model.law.gemm_beside;
  const double loses = 1 / keeps.value - 1;
  if (held <= 0 || loses <= held) return {held, held};
  // Beside a collective of t seconds products lose t (1 - keeps).
  return {loses, held, keeps.value * keeps.error, keeps.evidence};
}

double mean_slowdown(const Body& body, const BodyTime& time, const Slowdown& slowdown) {
  double longer_s = 0, alone_s = 0;
  for (std::size_t p = 0; p < body.parts.size(); ++p) {
    const std::vector<Segment>& segments = body.parts[p].segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      if (segments[i].is_collective) continue;
      const double seconds = time.segments[p][i].time.value * body.parts[p].repeat;
      longer_s += seconds * slowdown_of(segments[i].kernel, slowdown);
      alone_s += seconds;
    }
  }
  return alone_s > 0 ? longer_s / alone_s : slowdown.others;
}

}  // namespace stagecraft
