#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/refusals.hpp"

namespace stagecraft {

namespace {

void refuse_micro_batches(Findings& findings, std::string why, std::string nearest) {
  findings.push_back(schedule_finding("schedule-micro-batches", "/batch/global", std::move(why), std::move(nearest)));
}

/// The even numbers of ranks nearest to an odd one for which `fits` holds: "4 or 6".
template <class Fits>
std::string nearest_even(std::int32_t ranks, std::int32_t most, Fits fits) {
  std::string nearest;
  for (std::int32_t p = ranks - 1; p >= 2 && nearest.empty(); p -= 2) {
    if (fits(p)) nearest = std::to_string(p);
  }
  for (std::int32_t p = ranks + 1; p <= most; p += 2) {
    if (!fits(p)) continue;
    return nearest.empty() ? std::to_string(p) : fmt::format("{} or {}", nearest, p);
  }
  return nearest;
}

void refuse_odd_ranks(Findings& findings, const char* name, std::int32_t ranks, std::string nearest) {
  findings.push_back(schedule_finding("schedule-ranks", "/parallel/pipeline",
                                      fmt::format("{} pairs ranks and needs an even number, got {}", name, ranks),
                                      std::move(nearest)));
}

void refuse_limit(Findings& findings, const char* name, const ScheduleRequest& request, std::int32_t least) {
  if (!request.memory_limit) return;
  const double limit = *request.memory_limit;
  if (std::isfinite(limit) && limit >= least) return;
  findings.push_back(
      schedule_finding("schedule-memory-limit", "/schedule/memory_limit",
                       fmt::format("{} on {} ranks needs a limit of at least {} micro-batches' activations, got {}",
                                   name, request.shape.ranks, least, limit),
                       std::to_string(least)));
}

}  // namespace

Findings refuse_v_shaped(const char* name, const ScheduleRequest& request) {
  const double p = request.shape.ranks;
  const double m = request.shape.micro_batches;
  const double slots = 6 * p * (m + 2 * p);
  // Narrower than what refuse_shape lets pass, so this comes first and names the count that both take.
  const bool well_formed = p >= 1 && m >= 1 && request.shape.chunks == 2;
  if (!well_formed || slots <= most_slots) return refuse_shape(name, ChunkRule::two, ScheduleOption::none, request);
  const double fewer_micro_batches = std::floor(most_slots / (6 * p) - 2 * p);
  const double fewer_ranks = std::floor((std::sqrt(m * m + 4 * most_slots / 3) - m) / 4);
  const bool by_micro_batches = fewer_micro_batches >= 1;
  std::string nearest;  // none if both counts are too large
  if (by_micro_batches) {
    nearest = fmt::format("{:.0f} micro-batches", fewer_micro_batches);
  } else if (fewer_ranks >= 1) {
    nearest = fmt::format("{:.0f}", fewer_ranks);
  }
  return {schedule_finding(
      "schedule-too-large", by_micro_batches ? "/batch/global" : "/parallel/pipeline",
      fmt::format("{} on {} ranks with {} micro-batches is built in a table of {:.0f} slots, at most {:.0f} are kept",
                  name, request.shape.ranks, request.shape.micro_batches, slots, most_slots),
      nearest)};
}

Findings refuse_zb_h2(const ScheduleRequest& request) {
  Findings findings = refuse_shape("zb-h2", ChunkRule::one, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  const std::int32_t least = 2 * request.shape.ranks - 1;
  if (request.shape.micro_batches < least) {
    refuse_micro_batches(findings,
                         fmt::format("zb-h2 on {} ranks runs {} forwards ahead and needs as many micro-batches, got {}",
                                     request.shape.ranks, least, request.shape.micro_batches),
                         fmt::format("{} micro-batches", least));
  }
  return findings;
}

Findings refuse_dualpipe(const ScheduleRequest& request) {
  Findings findings = refuse_shape("dualpipe", ChunkRule::one, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  const std::int32_t p = request.shape.ranks;
  const std::int32_t m = request.shape.micro_batches;
  if (p % 2 != 0) {
    refuse_odd_ranks(findings, "dualpipe", p, nearest_even(p, std::max(2, m / 2), [](std::int32_t) { return true; }));
  }
  const std::int32_t least = 2 * std::max(2, p);
  if (m < least) {
    refuse_micro_batches(findings,
                         fmt::format("dualpipe on {} ranks needs at least {} micro-batches, got {}", p, least, m),
                         fmt::format("{} micro-batches", least));
  } else if (m % 2 != 0) {
    refuse_micro_batches(
        findings, fmt::format("dualpipe gives half of the micro-batches to each direction, got {}", m),
        m - 1 >= least ? fmt::format("{} or {} micro-batches", m - 1, m + 1) : fmt::format("{} micro-batches", m + 1));
  }
  return findings;
}

Findings refuse_dualpipev(const ScheduleRequest& request) {
  Findings findings = refuse_shape("dualpipev", ChunkRule::two, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  const std::int32_t least = 2 * request.shape.ranks;
  if (request.shape.micro_batches < least) {
    refuse_micro_batches(findings,
                         fmt::format("dualpipev on {} ranks needs at least {} micro-batches, got {}",
                                     request.shape.ranks, least, request.shape.micro_batches),
                         fmt::format("{} micro-batches", least));
  }
  return findings;
}

Findings refuse_chimera(const ScheduleRequest& request) {
  Findings findings = refuse_shape("chimera", ChunkRule::one, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  const std::int32_t p = request.shape.ranks;
  const std::int32_t m = request.shape.micro_batches;
  if (p % 2 != 0) {
    refuse_odd_ranks(findings, "chimera", p,
                     nearest_even(p, std::max(m + 1, p + 1), [m](std::int32_t q) { return m <= q || m % q == 0; }));
  }
  if (m > p && m % p != 0) {
    refuse_micro_batches(
        findings, fmt::format("chimera runs units of {} micro-batches, one per rank; {} do not divide into them", p, m),
        fmt::format("{} or {} micro-batches", m / p * p, (m / p + 1) * p));
  }
  return findings;
}

Findings refuse_pipedream_2bw(const ScheduleRequest& request) {
  Findings findings = refuse_shape("pipedream-2bw", ChunkRule::one, ScheduleOption::none, request);
  if (!findings.empty()) return findings;
  if (request.shape.micro_batches < request.shape.ranks) {
    refuse_micro_batches(
        findings,
        fmt::format("pipedream-2bw keeps two weight versions, which needs at least one micro-batch per rank "
                    "between updates: {} ranks, got {}",
                    request.shape.ranks, request.shape.micro_batches),
        fmt::format("{} micro-batches", request.shape.ranks));
  }
  return findings;
}

Findings refuse_zb_auto(const ScheduleRequest& request) {
  Findings findings = refuse_shape("zb-auto", ChunkRule::one, ScheduleOption::memory_limit, request);
  if (!findings.empty()) return findings;
  refuse_limit(findings, "zb-auto", request, 1);
  refuse_times(findings, request);
  return findings;
}

Findings refuse_zb_fixed(const ScheduleRequest& request) {
  Findings findings = refuse_shape("zb-1p (as zb-2p)", ChunkRule::one, ScheduleOption::none, request);
  if (findings.empty()) refuse_times(findings, request);
  return findings;
}

Findings refuse_zbv_auto(const ScheduleRequest& request) {
  Findings findings = refuse_shape("zbv-auto", ChunkRule::two, ScheduleOption::memory_limit, request);
  if (!findings.empty()) return findings;
  refuse_limit(findings, "zbv-auto", request, request.shape.ranks);
  refuse_times(findings, request);
  return findings;
}

}  // namespace stagecraft
