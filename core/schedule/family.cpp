#include "schedule/family.hpp"

#include <algorithm>
#include <cctype>

#include "schedule/generators.hpp"
#include "schedule/refusals.hpp"

namespace stagecraft {

namespace {

using Request = ScheduleRequest;
using Names = const char* const[];

constexpr Names naive_aliases = {"sequential"};
constexpr Names gpipe_aliases = {"fill-drain", "ScheduleGPipe"};
constexpr Names one_f_one_b_aliases = {"pipedream-flush", "dapple", "Schedule1F1B"};
constexpr Names eager_aliases = {"1f1b-overlap-friendly"};
constexpr Names interleaved_aliases = {"interleaved", "Interleaved1F1B", "ScheduleInterleaved1F1B"};
constexpr Names bfs_aliases = {"breadth-first", "LoopedBFS", "ScheduleLoopedBFS"};
constexpr Names zb_h1_aliases = {"zb1p"};
constexpr Names interleaved_zb_aliases = {"InterleavedZeroBubble", "ScheduleInterleavedZeroBubble"};
constexpr Names zbv_aliases = {"ZBVZeroBubble", "ScheduleZBVZeroBubble"};
constexpr Names dualpipev_aliases = {"ScheduleDualPipeV"};
constexpr Names two_bw_aliases = {"2bw"};

struct Text {
  char characters[32] = {};
  template <std::size_t n>
  consteval Text(const char (&text)[n]) {  // NOLINT(google-explicit-constructor): a literal as a template argument
    std::copy_n(text, n, characters);
  }
};

/// For schedules that ask for nothing but a chunk count.
template <Text name, ChunkRule rule, ScheduleOption option = ScheduleOption::none>
Findings by_chunks(const Request& request) {
  return refuse_shape(name.characters, rule, option, request);
}

std::int32_t group_of(const Request& request) {
  return request.group_size.value_or(usual_group_size(request.shape));
}

template <Text name>
Findings v_shaped(const Request& request) {
  return refuse_v_shaped(name.characters, request);
}

/// More than all activations are never alive.
ActivationLimit limit_of(const Request& request, double micro_batches) {
  const PipelineShape& shape = request.shape;
  const double most = std::max(shape.micro_batches, shape.ranks);
  return activation_limit(std::min(micro_batches, most) * shape.chunks, request.kept_until_weight_grad);
}

Schedule zb_auto(const char* name, const Request& request, double micro_batches) {
  Schedule schedule = generate_zb_auto(request.shape, request.times, limit_of(request, micro_batches));
  schedule.name = name;
  return schedule;
}

Schedule zbv_auto(const Request& request) {
  const double micro_batches = request.memory_limit.value_or(request.shape.ranks);
  return generate_zbv_auto(request.shape, request.times, limit_of(request, micro_batches));
}

constexpr FamilyEntry family[] = {
    {"naive", naive_aliases, "one rank works at a time", "no pipelining", ChunkRule::one, ScheduleOption::none,
     by_chunks<"naive", ChunkRule::one>, [](const Request& r) { return generate_naive(r.shape); }},
    {"gpipe", gpipe_aliases, "all forwards, then all backwards", "arXiv 1811.06965, section 2.3", ChunkRule::one,
     ScheduleOption::none, by_chunks<"gpipe", ChunkRule::one>,
     [](const Request& r) { return generate_gpipe(r.shape, BackwardOrder::ascending); }},
    {"gpipe-descending",
     {},
     "GPipe with the backwards in falling order, as its figure runs them",
     "arXiv 1811.06965, section 2.3",
     ChunkRule::one,
     ScheduleOption::none,
     by_chunks<"gpipe-descending", ChunkRule::one>,
     [](const Request& r) { return generate_gpipe(r.shape, BackwardOrder::descending); }},
    {"1f1b", one_f_one_b_aliases, "one forward, one backward: GPipe's bubble, p instead of m activations",
     "arXiv 2006.09503; 2104.04473, section 2.2", ChunkRule::one, ScheduleOption::run_ahead,
     by_chunks<"1f1b", ChunkRule::one, ScheduleOption::run_ahead>,
     [](const Request& r) { return generate_1f1b(r.shape, r.run_ahead); }},
    {"eager-1f1b", eager_aliases, "1F1B with more warm-up forwards, so that transfers hide behind compute",
     "arXiv 2211.05322", ChunkRule::one, ScheduleOption::none, by_chunks<"eager-1f1b", ChunkRule::one>,
     [](const Request& r) { return generate_eager_1f1b(r.shape); }},
    {"interleaved-1f1b", interleaved_aliases,
     "1F1B over v chunks per rank: a bubble v times smaller, v times the messages",
     "arXiv 2104.04473, section 2.2; Megatron-LM", ChunkRule::two_or_more, ScheduleOption::group_size,
     refuse_interleaved_1f1b, [](const Request& r) { return generate_interleaved_1f1b(r.shape, group_of(r)); }},
    {"looped-bfs", bfs_aliases, "chunk after chunk over all micro-batches, backwards in falling order",
     "arXiv 2211.05953", ChunkRule::any, ScheduleOption::none, by_chunks<"looped-bfs", ChunkRule::any>,
     [](const Request& r) { return generate_looped_bfs(r.shape, BackwardOrder::descending); }},
    {"looped-bfs-ascending",
     {},
     "looped-bfs with the backwards in rising order",
     "arXiv 2211.05953",
     ChunkRule::any,
     ScheduleOption::none,
     by_chunks<"looped-bfs-ascending", ChunkRule::any>,
     [](const Request& r) { return generate_looped_bfs(r.shape, BackwardOrder::ascending); }},
    {"zb-h1", zb_h1_aliases, "weight gradients fill the bubble, with the memory of 1F1B",
     "arXiv 2401.10241, section 2.1", ChunkRule::one, ScheduleOption::none, by_chunks<"zb-h1", ChunkRule::one>,
     [](const Request& r) { return generate_zb_h1(r.shape); }},
    {"zb-h2",
     {},
     "no gap on any rank, with twice the memory of 1F1B",
     "arXiv 2401.10241, section 2.2",
     ChunkRule::one,
     ScheduleOption::none,
     refuse_zb_h2,
     [](const Request& r) { return generate_zb_h2(r.shape); }},
    {"zb-auto",
     {},
     "order of F, I and W searched for the given times and memory limit",
     "arXiv 2401.10241, section 3",
     ChunkRule::one,
     ScheduleOption::memory_limit,
     refuse_zb_auto,
     [](const Request& r) { return zb_auto("zb-auto", r, r.memory_limit.value_or(r.shape.micro_batches)); },
     true},
    {"zb-1p",
     {},
     "zb-auto with the memory of 1F1B: p activations",
     "arXiv 2401.10241, section 3",
     ChunkRule::one,
     ScheduleOption::none,
     refuse_zb_fixed,
     [](const Request& r) { return zb_auto("zb-1p", r, r.shape.ranks); },
     true},
    {"zb-2p",
     {},
     "zb-auto with twice the memory of 1F1B: 2p activations",
     "arXiv 2401.10241, section 3",
     ChunkRule::one,
     ScheduleOption::none,
     refuse_zb_fixed,
     [](const Request& r) { return zb_auto("zb-2p", r, 2.0 * r.shape.ranks); },
     true},
    {"interleaved-zb", interleaved_zb_aliases, "ZB-H1 over v chunks per rank",
     "torch.distributed.pipelining, ScheduleInterleavedZeroBubble", ChunkRule::any, ScheduleOption::none,
     refuse_interleaved_zb,
     [](const Request& r) { return generate_interleaved_zb(r.shape, usual_group_size(r.shape)); }},
    {"zbv", zbv_aliases, "two chunks per rank in V shape, no gap on any rank, memory of 1F1B",
     "arXiv 2401.10241, appendix; torch.distributed.pipelining, ScheduleZBVZeroBubble", ChunkRule::two,
     ScheduleOption::none, by_chunks<"zbv", ChunkRule::two>, [](const Request& r) { return generate_zbv(r.shape); }},
    {"zbv-auto",
     {},
     "V shape, order searched for the given times and memory limit",
     "arXiv 2401.10241; sail-sg/zero-bubble-pipeline-parallelism, zbv.py",
     ChunkRule::two,
     ScheduleOption::memory_limit,
     refuse_zbv_auto,
     zbv_auto,
     true},
    {"v-half",
     {},
     "V shape with half the memory of 1F1B",
     "arXiv 2405.15362",
     ChunkRule::two,
     ScheduleOption::none,
     v_shaped<"v-half">,
     [](const Request& r) { return generate_v_shaped(r.shape, VShapedMemory::half); }},
    {"v-min",
     {},
     "V shape with a third of the memory of 1F1B",
     "arXiv 2405.15362",
     ChunkRule::two,
     ScheduleOption::none,
     v_shaped<"v-min">,
     [](const Request& r) { return generate_v_shaped(r.shape, VShapedMemory::least); }},
    {"v-half-primus",
     {},
     "v-half in the order of AMD-AGI/Primus",
     "arXiv 2405.15362; AMD-AGI/Primus, zbv_greedy.py",
     ChunkRule::two,
     ScheduleOption::none,
     v_shaped<"v-half-primus">,
     [](const Request& r) { return generate_v_shaped_primus(r.shape, VShapedMemory::half); }},
    {"v-min-primus",
     {},
     "v-min in the order of AMD-AGI/Primus",
     "arXiv 2405.15362; AMD-AGI/Primus, zbv_greedy.py",
     ChunkRule::two,
     ScheduleOption::none,
     v_shaped<"v-min-primus">,
     [](const Request& r) { return generate_v_shaped_primus(r.shape, VShapedMemory::least); }},
    {"1f1b-v",
     {},
     "V shape with full backwards and two thirds of the memory of 1F1B",
     "arXiv 2405.15362",
     ChunkRule::two,
     ScheduleOption::none,
     v_shaped<"1f1b-v">,
     [](const Request& r) { return generate_1f1b_v(r.shape); }},
    {"dualpipe",
     {},
     "two replicas in opposite directions, forwards overlapped with backwards",
     "arXiv 2412.19437, section 3.2.1; deepseek-ai/DualPipe",
     ChunkRule::one,
     ScheduleOption::none,
     refuse_dualpipe,
     [](const Request& r) { return generate_dualpipe(r.shape); }},
    {"dualpipev", dualpipev_aliases, "DualPipe on one model in V shape",
     "deepseek-ai/DualPipe, dualpipev.py; torch.distributed.pipelining, ScheduleDualPipeV", ChunkRule::two,
     ScheduleOption::none, refuse_dualpipev, [](const Request& r) { return generate_dualpipev(r.shape); }},
    {"chimera",
     {},
     "two replicas in opposite directions, each filling the other's bubble",
     "arXiv 2107.06925, section 3",
     ChunkRule::one,
     ScheduleOption::none,
     refuse_chimera,
     [](const Request& r) { return generate_chimera(r.shape); }},
    {"hanayo",
     {},
     "w waves of two chunks per rank: a bubble w times smaller, no second replica",
     "arXiv 2308.15762",
     ChunkRule::two_per_wave,
     ScheduleOption::waves,
     by_chunks<"hanayo", ChunkRule::two_per_wave, ScheduleOption::waves>,
     [](const Request& r) { return generate_hanayo(r.shape); }},
    {"pipedream",
     {},
     "1F1B without a flush: an update per micro-batch, stale weights stashed",
     "arXiv 1806.03377, section 3",
     ChunkRule::one,
     ScheduleOption::none,
     by_chunks<"pipedream", ChunkRule::one>,
     [](const Request& r) { return generate_pipedream(r.shape); }},
    {"pipedream-2bw", two_bw_aliases, "1F1B without a flush: an update per m micro-batches, two weight versions",
     "arXiv 2006.09503, section 3.1", ChunkRule::one, ScheduleOption::none, refuse_pipedream_2bw,
     [](const Request& r) { return generate_pipedream_2bw(r.shape); }},
};

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

ScheduleRequest request_of(const ScheduleSpec& spec, const PipelineShape& shape) {
  ScheduleRequest request;
  request.shape = shape;
  request.memory_limit = spec.memory_limit;
  request.waves = static_cast<std::int32_t>(spec.waves);
  request.run_ahead = static_cast<std::int32_t>(spec.run_ahead);
  request.flushes = static_cast<std::int32_t>(spec.flushes);
  if (spec.group_size) request.group_size = static_cast<std::int32_t>(*spec.group_size);
  return request;
}

std::span<const FamilyEntry> schedule_family() {
  return family;
}

const FamilyEntry* find_schedule(std::string_view name) {
  for (const FamilyEntry& entry : family) {
    if (same_ignoring_case(name, entry.name)) return &entry;
    for (const char* alias : entry.aliases) {
      if (same_ignoring_case(name, alias)) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const FamilyEntry& entry : family) {
    names.emplace_back(entry.name);
    names.insert(names.end(), entry.aliases.begin(), entry.aliases.end());
  }
  return names;
}

std::int32_t usual_chunks(const FamilyEntry& entry, std::int32_t waves) {
  switch (entry.chunks) {
    case ChunkRule::two:
    case ChunkRule::two_or_more:
    case ChunkRule::any:
      return 2;
    case ChunkRule::two_per_wave:
      return waves < (1 << 30) ? 2 * waves : waves;
    case ChunkRule::one:
      return 1;
  }
  return 1;
}

}  // namespace stagecraft
