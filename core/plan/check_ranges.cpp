// Every number that later checks divide by or multiply lies in a range that cannot overflow.
#include <fmt/format.h>

#include <cmath>

#include "plan/feasibility_checks.hpp"

namespace stagecraft {
namespace {

struct Range {
  const char* pointer;
  std::int64_t value, least, most;
};

void check(const Range& range, Findings& findings) {
  if (range.value >= range.least && range.value <= range.most) return;
  const std::int64_t nearest = range.value < range.least ? range.least : range.most;
  findings.push_back({Severity::error, "out-of-range", range.pointer,
                      fmt::format("{} lies outside {} to {}", range.value, range.least, range.most),
                      fmt::format("{}", nearest)});
}

}  // namespace

void check_ranges(const Scenario& scenario, Findings& findings) {
  constexpr std::int64_t width = std::int64_t{1} << 30;
  const RunSpec& run = scenario.run;
  const ModelSpec& model = scenario.model;
  for (const Range& range :
       {Range{"/parallel/tensor", run.parallel.tensor, 1, largest_degree},
        Range{"/parallel/context", run.parallel.context, 1, largest_degree},
        Range{"/parallel/pipeline", run.parallel.pipeline, 1, largest_degree},
        Range{"/parallel/data", run.parallel.data, 1, largest_degree},
        Range{"/parallel/virtual_stages", run.parallel.virtual_stages, 1, largest_degree},
        Range{"/batch/global", run.batch.global, 1, width}, Range{"/batch/micro", run.batch.micro, 1, width},
        Range{"/sharding/group", run.sharding.group, 0, largest_degree},
        Range{"/sharding/prefetch", run.sharding.prefetch, 0, largest_degree},
        Range{"/recompute_blocks", run.recompute_blocks, 1, largest_degree},
        Range{"/parallel/expert", run.parallel.expert, 1, largest_degree},
        Range{"/parallel/expert_tensor", run.parallel.expert_tensor, 0, largest_degree},
        Range{"/parallel/ulysses", run.parallel.ulysses, 1, largest_degree},
        Range{"/sharding/secondary", run.sharding.secondary, 0, largest_degree},
        Range{"/steps", run.steps, 1, largest_step_count}}) {
    check(range, findings);
  }
  if (!std::isfinite(run.gradient_bucket_bytes) || run.gradient_bucket_bytes < 1) {
    findings.push_back({Severity::error, "out-of-range", "/gradient_bucket",
                        fmt::format("{} bytes is no size of a gradient bucket", run.gradient_bucket_bytes), "1"});
  }
  if (!model.plain_layers.empty()) return;
  if (model.moe.experts > 0) {
    check({"/model/moe/ffn_hidden", model.moe.ffn_hidden, 1, width}, findings);
    check({"/model/moe/top_k", model.moe.top_k, 1, model.moe.experts}, findings);
    check({"/model/moe/every", model.moe.every, 1, largest_degree}, findings);
  }
  for (const Range& range :
       {Range{"/model/hidden", model.hidden, 1, width}, Range{"/model/blocks", model.blocks, 1, largest_degree},
        Range{"/model/vocabulary", model.vocabulary, 1, width},
        Range{"/model/attention/heads", model.attention.heads, 1, width},
        Range{"/model/attention/kv_heads", model.attention.kv_heads, 1, width},
        Range{"/model/attention/head_dim", model.attention.head_dim, 1, width},
        Range{"/model/mlp/ffn_hidden", model.mlp.ffn_hidden, 1, width},
        Range{"/sequence_length", run.sequence_length, 1, width}}) {
    check(range, findings);
  }
}

void check_cluster_range(const Scenario& scenario, Findings& findings) {
  check({"/cluster/nodes", scenario.cluster.nodes, 1, largest_world}, findings);
}

}  // namespace stagecraft
