#include <fmt/format.h>

#include <algorithm>

#include "schedule/check_parts.hpp"

namespace stagecraft {

void check_sharding(const Schedule& schedule, FindingList& out) {
  const auto is_unshard = [](const Op& op) { return op.kind == OpKind::unshard || op.kind == OpKind::reshard; };
  const bool sharded = std::any_of(schedule.programs.begin(), schedule.programs.end(), [&](const auto& program) {
    return std::any_of(program.begin(), program.end(), is_unshard);
  });
  if (!sharded) return;
  const auto stages = static_cast<std::size_t>(stage_count(schedule));
  std::vector<std::uint8_t> gathered(stages * schedule.placement.size(), 0);  // [replica][stage]
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    const auto& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      if (!op.stage.valid()) continue;
      auto& is_gathered = gathered[op.replica * stages + op.stage.index()];
      const auto position = static_cast<std::int64_t>(i);
      if (is_unshard(op)) {
        const bool gather = op.kind == OpKind::unshard;
        if ((is_gathered != 0) == gather) {
          out.add("unshard-unbalanced", rank, position,
                  fmt::format("{} on rank {}: the parameters are {} already", to_text(op), rank,
                              gather ? "gathered" : "dropped"));
        }
        is_gathered = gather ? 1 : 0;
      } else if (is_compute(op.kind) && op.kind != OpKind::optimizer_step && is_gathered == 0) {
        out.add("used-while-sharded", rank, position,
                fmt::format("{} on rank {} runs while the parameters of stage {} are sharded", to_text(op), rank,
                            op.stage.value));
      }
    }
  }
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    if (gathered[i] == 0) continue;
    const Stage stage(i % stages);
    out.add("unshard-unbalanced", rank_of(schedule, stage, static_cast<std::uint8_t>(i / stages)).value, -1,
            fmt::format("the parameters of stage {} are still gathered at the end of the step", stage.value));
  }
}

}  // namespace stagecraft
