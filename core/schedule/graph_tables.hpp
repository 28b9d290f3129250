#pragma once
// Where the operations of a micro-batch at a stage stand, as dense tables instead of maps.

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace stagecraft {

inline constexpr std::uint32_t no_node = 0xFFFFFFFFU;
inline constexpr std::uint32_t absent_node = no_node - 1;  // wanted, but the schedule does not have it

/// Nodes of one (stage, micro-batch). A micro-batch runs in one replica only, so the replica needs no index.
struct StageMicroBatchNodes {
  std::uint32_t forward = no_node;
  std::uint32_t backward = no_node;  // B, or I
  std::uint32_t send_activation = no_node, send_gradient = no_node;
  std::uint32_t recv_activation = no_node, recv_gradient = no_node;
};

class NodeTable {
 public:
  NodeTable(std::int32_t stages, std::int32_t micro_batches)
      : micro_batches_(static_cast<std::size_t>(micro_batches)),
        cells_(static_cast<std::size_t>(stages) * static_cast<std::size_t>(micro_batches)) {}

  StageMicroBatchNodes& at(Stage stage, MicroBatch micro_batch) {
    return cells_[stage.index() * micro_batches_ + micro_batch.index()];
  }
  const StageMicroBatchNodes& at(Stage stage, MicroBatch micro_batch) const {
    return cells_[stage.index() * micro_batches_ + micro_batch.index()];
  }
  void place(const Op& op, std::uint32_t node);

 private:
  std::size_t micro_batches_;
  std::vector<StageMicroBatchNodes> cells_;
};

inline void NodeTable::place(const Op& op, std::uint32_t node) {
  switch (op.kind) {
    case OpKind::forward:
      at(op.stage, op.micro_batch).forward = node;
      break;
    case OpKind::backward:
    case OpKind::input_grad:
      at(op.stage, op.micro_batch).backward = node;
      break;
    case OpKind::send_activation:
      at(op.stage, op.micro_batch).send_activation = node;
      break;
    case OpKind::send_gradient:
      at(op.stage, op.micro_batch).send_gradient = node;
      break;
    case OpKind::recv_activation:
      at(op.stage, op.micro_batch).recv_activation = node;
      break;
    case OpKind::recv_gradient:
      at(op.stage, op.micro_batch).recv_gradient = node;
      break;
    default:
      break;
  }
}

}  // namespace stagecraft
