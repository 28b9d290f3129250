#include "memory/peak_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "memory/block_memory.hpp"
#include "plan/recompute_scope.hpp"

namespace stagecraft {
namespace {

using Live = std::map<std::int32_t, std::set<std::int32_t>>;  // stage -> micro-batches

/// The micro-batches alive while the operation at `position` runs.
Live live_at(const std::vector<Op>& program, std::size_t position) {
  Live live;
  for (std::size_t i = 0; i <= position; ++i) {
    const Op& op = program[i];
    if (op.kind == OpKind::forward) live[op.stage.value].insert(op.micro_batch.value);
    const bool ends = op.kind == OpKind::backward || op.kind == OpKind::input_grad;
    if (ends && i < position) live[op.stage.value].erase(op.micro_batch.value);
  }
  return live;
}

class TensorList {
 public:
  TensorList(const Plan& plan, const LocalShape& shape) : plan_(plan), shape_(shape) {}

  /// `times` tensors for every row that is kept from F to B.
  void add(const LocalShape& shape, const std::vector<SavedTensor>& rows, MemoryClass memory_class, double times,
           Recompute recompute) {
    if (times <= 0) return;
    for (const SavedTensor& row : rows) {
      if (row.held == Held::input_grad_to_weight_grad) continue;
      const Bytes one = activations_of(shape, {row}, recompute).kept;
      if (one.value <= 0) continue;
      PeakTensor& tensor = by_name_[row.name];
      tensor.name = row.name;
      tensor.memory_class = memory_class;
      tensor.bytes += one * times;
      tensor.count = tensor.bytes == one * times ? times : tensor.count + times;
    }
  }

  void add_stage(Stage stage, double micro_batches) {
    const StageLayers range = plan_.stages[stage.index()];
    std::vector<std::pair<BlockKind, double>> blocks;  // kind, count
    double all = 0;
    for (std::int32_t l = range.first; l < range.last; ++l) {
      const Layer& layer = plan_.layers[static_cast<std::size_t>(l)];
      switch (layer.kind) {
        case LayerKind::embedding:
          add(shape_, embedding_tensors(shape_), MemoryClass::activations, micro_batches, Recompute::none);
          break;
        case LayerKind::head:
          add(shape_, head_tensors(shape_), MemoryClass::activations, micro_batches, Recompute::none);
          break;
        case LayerKind::loss:
          add(shape_, loss_tensors(shape_), MemoryClass::logits, micro_batches, Recompute::none);
          break;
        case LayerKind::block:
          count_block(blocks, memory_kind(plan_.model, layer.index));
          ++all;
          break;
        case LayerKind::plain:
          break;
      }
    }
    const double staying = 1 - offloaded_share(plan_.run.offload, static_cast<std::int64_t>(all));
    if (staying == 0) return;
    bool attends = false;
    for (const auto& [kind, count] : blocks) {
      const LocalShape shape = kind.encoder ? encoder_shape_of(plan_, shape_) : shape_;
      add_blocks(shape, block_tensors(shape, kind), count, all, micro_batches * staying);
      attends = attends || kind.cross;
      if (!kind.prediction) continue;
      add(shape_, head_tensors(shape_), MemoryClass::activations, count * micro_batches, Recompute::none);
      add(shape_, loss_tensors(shape_), MemoryClass::logits, count * micro_batches, Recompute::none);
    }
    if (attends) add(shape_, {encoder_output(shape_)}, MemoryClass::activations, micro_batches, Recompute::none);
  }

  std::vector<PeakTensor> sorted() const {
    std::vector<PeakTensor> tensors;
    for (const auto& [name, tensor] : by_name_) tensors.push_back(tensor);
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const PeakTensor& a, const PeakTensor& b) { return a.bytes > b.bytes; });
    return tensors;
  }

 private:
  static void count_block(std::vector<std::pair<BlockKind, double>>& blocks, const BlockKind& kind) {
    const auto at = std::find_if(blocks.begin(), blocks.end(), [&](const auto& block) { return block.first == kind; });
    if (at == blocks.end()) {
      blocks.emplace_back(kind, 1);
    } else {
      ++at->second;
    }
  }

  void add_blocks(const LocalShape& shape, const std::vector<SavedTensor>& rows, double count, double all,
                  double micro_batches) {
    const Recompute rule = plan_.run.recompute;
    if (rule != Recompute::full) return add(shape, rows, MemoryClass::activations, count * micro_batches, rule);
    const RecomputedBlocks scope = recomputed_blocks(plan_.run, static_cast<std::int64_t>(all));
    const double again = std::min(count, static_cast<double>(scope.count));
    add(shape, rows, MemoryClass::activations, std::ceil(again / static_cast<double>(scope.piece)) * micro_batches,
        rule);
    add(shape, rows, MemoryClass::activations, (count - again) * micro_batches, Recompute::none);
  }

  const Plan& plan_;
  const LocalShape& shape_;
  std::map<std::string, PeakTensor> by_name_;
};

std::string gibibytes_of(Bytes bytes) {
  return fmt::format("{:.2f} GiB", bytes.value / 1073741824.0);
}

/// The class that grew most between two states.
MemoryClass grown(const MemoryByClass& before, const MemoryByClass& after) {
  std::size_t most = 0;
  for (std::size_t c = 1; c < memory_class_count; ++c) {
    if (after[c] - before[c] > after[most] - before[most]) most = c;
  }
  return static_cast<MemoryClass>(most);
}

void find_failure(const MemoryTimeline& timeline, Bytes limit, const std::vector<Op>& program,
                  PeakExplanation& explanation) {
  if (total(timeline.resident) > limit) {
    explanation.failing_allocation =
        fmt::format("{} ({}) before the first operation", to_text(dominating_class(timeline.resident)),
                    gibibytes_of(at(timeline.resident, dominating_class(timeline.resident))));
    explanation.fails_at = 0;
    return;
  }
  for (std::size_t i = 0; i < timeline.while_op.size(); ++i) {
    if (total(timeline.while_op[i]) <= limit) continue;
    const MemoryByClass& before = i == 0 ? timeline.resident : timeline.while_op[i - 1];
    const MemoryClass of = grown(before, timeline.while_op[i]);
    explanation.fails_at = i;
    explanation.failing_allocation = fmt::format("{} of {} ({} more)", to_text(of), to_text(program[i]),
                                                 gibibytes_of(at(timeline.while_op[i], of) - at(before, of)));
    return;
  }
}

}  // namespace

PeakExplanation explain_peak(const Plan& plan, const Schedule& schedule, PipelineRank rank) {
  const std::vector<Op>& program = schedule.programs[rank.index()];
  const MemoryModel model = make_memory_model(plan, schedule);
  const MemoryTimeline timeline = memory_timeline(model, schedule, rank);
  PeakExplanation explanation;
  explanation.op = program[timeline.peak_op];
  const LocalShape shape = local_shape(plan);
  TensorList tensors(plan, shape);
  for (const auto& [stage, micro_batches] : live_at(program, timeline.peak_op)) {
    if (micro_batches.empty()) continue;
    explanation.live.push_back({Stage(stage), {micro_batches.begin(), micro_batches.end()}});
    if (plan.model.plain_layers.empty()) tensors.add_stage(Stage(stage), static_cast<double>(micro_batches.size()));
  }
  explanation.tensors = tensors.sorted();
  Bytes listed;
  for (const PeakTensor& tensor : explanation.tensors) listed += tensor.bytes;
  explanation.working_set =
      at(timeline.at_peak, MemoryClass::activations) + at(timeline.at_peak, MemoryClass::logits) - listed;
  find_failure(timeline, model.limits[rank.index()], program, explanation);
  return explanation;
}

}  // namespace stagecraft
