#include "reference.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/norm.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "exec/run/support.hpp"
#include "job_of_threads.hpp"

namespace stagecraft {

void add_pieces(const StageBuffers& buffers, bool gradients, WholeTensors& whole) {
  for (const Parameter& parameter : buffers.model->parameters) {
    const at::Tensor& local = gradients ? parameter.gradient : parameter.value;
    if (!local.defined()) continue;
    const at::Tensor table = local.detach().to(at::kCPU, at::kDouble).view({parameter.rows, parameter.columns});
    for (const ParameterPiece& piece : parameter.pieces) {
      at::Tensor& into = whole[piece.name];
      if (!into.defined()) {
        into = at::zeros({piece.global_rows, piece.global_columns}, at::TensorOptions().dtype(at::kDouble));
      }
      into.narrow(0, piece.row_begin, piece.rows)
          .narrow(1, piece.column_begin, piece.columns)
          .copy_(table.narrow(0, piece.local_row, piece.rows));
    }
  }
}

void add_owned_gradients(const StageBuffers& buffers, WholeTensors& whole) {
  const at::Tensor flat = at::zeros({buffers.layout.elements}, at::TensorOptions().dtype(at::kDouble));
  for (const OwnedPiece& piece : owned_pieces(buffers)) {
    flat.narrow(0, piece.at.begin, piece.at.length).copy_(reduced_gradient(buffers, piece));
  }
  for (std::size_t i = 0; i < buffers.model->parameters.size(); ++i) {
    const Parameter& parameter = buffers.model->parameters[i];
    if (parameter.role != TensorRole::sharded && buffers.tensor.size() > 1 && buffers.tensor.index != 0) continue;
    if (parameter.tied && !buffers.model->first) continue;
    const at::Tensor table =
        flat.narrow(0, buffers.layout.offsets[i], parameter.elements()).view({parameter.rows, parameter.columns});
    for (const ParameterPiece& piece : parameter.pieces) {
      at::Tensor& into = whole[piece.name];
      if (!into.defined()) {
        into = at::zeros({piece.global_rows, piece.global_columns}, at::TensorOptions().dtype(at::kDouble));
      }
      into.narrow(0, piece.row_begin, piece.rows)
          .narrow(1, piece.column_begin, piece.columns)
          .add_(table.narrow(0, piece.local_row, piece.rows));
    }
  }
}

std::vector<std::int32_t> accumulation_order(const Schedule& schedule) {
  std::vector<std::vector<std::int32_t>> orders(static_cast<std::size_t>(stage_count(schedule)));
  for (const std::vector<Op>& program : schedule.programs) {
    for (const Op& op : program) {
      if (op.kind == OpKind::backward || op.kind == OpKind::weight_grad) {
        orders[op.stage.index()].push_back(op.micro_batch.value);
      }
    }
  }
  for (const std::vector<std::int32_t>& order : orders) {
    if (order != orders.front()) throw std::runtime_error("stages add micro-batches in different orders");
  }
  return orders.front();
}

TrainingRecord train_on_one_device(const Plan& plan, const ExecuteOptions& options, std::int32_t steps,
                                   const std::vector<std::int32_t>& order) {
  at::set_num_threads(1);  // as every rank does: sums depend on how they are cut over threads
  Plan alone = plan;
  alone.degrees = {};
  alone.run.parallel = {};
  alone.run.zero_stage = 0;
  alone.micro_batches = plan.micro_batches * plan.degrees.data;
  alone.stages = partition_layers(alone.model, alone.run);
  InProcessJob job(1, {});
  Transport& transport = job.transport(0);
  const Group self = transport.make_group({0});
  TensorGroup group;
  const BufferPolicy policy = buffer_policy(alone, options);
  ModelShape shape = model_shape(alone, policy.value, options.device);
  shape.padded_vocabulary = padded_vocabulary(plan);
  const auto model = make_stage_model(alone, Stage(0), shape, group, TiedCopy::none, nullptr);
  std::vector<StageBuffers> buffers;
  buffers.push_back(make_stage_buffers(*model, policy, transport, self, self, true));
  const TokenSource tokens = token_source(alone, options);
  const double parts = alone.micro_batches;
  TrainingRecord record;
  for (std::int32_t step = 0; step < steps; ++step) {
    prepare_gradients(buffers.front());
    const at::TensorOptions scalar = at::TensorOptions().dtype(at::kDouble).device(options.device);
    const at::Tensor loss_sum = at::zeros({}, scalar);
    for (std::int32_t data = 0; data < plan.degrees.data; ++data) {
      for (const std::int32_t micro_batch : order) {
        const std::int32_t index = data * plan.micro_batches + micro_batch;
        const Batch batch = alone.model.plain_layers.empty()
                                ? make_batch(alone, shape, tokens, step, 0, index)
                                : make_plain_batch(alone, shape, options.seed, step, 0, index);
        Tape tape;
        loss_sum.add_(run_forward(*model, {}, batch, &tape).to(at::kDouble));
        WeightGradients weights(false);
        Backward backward{weights, {}, 0};
        tape.run(at::ones({}, scalar).div_(parts), backward);
      }
    }
    record.losses.push_back(loss_sum.item<double>() / parts);
    record.gradients.emplace_back();
    add_pieces(buffers.front(), true, record.gradients.back());
    const double norm = std::sqrt(squared_norm(buffers));
    record.norms.push_back(norm);
    const double limit = options.optimizer.clip_norm;
    adamw_update(buffers, options.optimizer, limit > 0 && norm > limit ? limit / (norm + 1e-6) : 1, step + 1);
  }
  add_pieces(buffers.front(), false, record.values);
  return record;
}

TrainingRecord train_in_process(const Plan& plan, const Schedule& schedule, const ExecuteOptions& options,
                                std::int32_t steps) {
  const Graph graph = make_graph(schedule);
  const JobInputs inputs{plan, schedule, graph, options};
  TrainingRecord record;
  record.gradients.resize(static_cast<std::size_t>(steps));
  record.losses.resize(static_cast<std::size_t>(steps));
  record.norms.resize(static_cast<std::size_t>(steps));
  std::mutex mutex;
  run_ranks(static_cast<std::int32_t>(world_size(plan.degrees)), {60, true}, [&](Transport& transport) {
    // Ranks that share a GPU have a stream each.
    std::optional<c10::StreamGuard> stream;
    if (!options.device.is_cpu()) {
      stream.emplace(c10::impl::VirtualGuardImpl(options.device.type()).getStreamFromGlobalPool(options.device));
    }
    RankExecutor executor(inputs, transport, nullptr);
    for (std::int32_t step = 0; step < steps; ++step) {
      const StepResult result = executor.run_step();
      const std::lock_guard<std::mutex> lock(mutex);
      const auto at = static_cast<std::size_t>(step);
      if (result.loss) record.losses[at] = *result.loss;
      record.norms[at] = result.gradient_norm;
      for (const StageBuffers& buffers : executor.stages()) {
        if (buffers.policy.zero_stage > 0) {
          add_owned_gradients(buffers, record.gradients[at]);
        } else {
          add_pieces(buffers, true, record.gradients[at]);
        }
      }
    }
    for (StageBuffers& buffers : executor.stages()) {
      if (!buffers.values.defined()) {
        for (const WorkHandle& work : begin_unshard(buffers)) work->wait();
      }
    }
    transport.barrier(executor.groups().world)->wait();
    const std::lock_guard<std::mutex> lock(mutex);
    for (const StageBuffers& buffers : executor.stages()) add_pieces(buffers, false, record.values);
  });
  return record;
}

double relative_difference(const WholeTensors& a, const WholeTensors& b) {
  double size = 0, difference = 0;
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  for (const auto& [name, tensor] : b) {
    const auto found = a.find(name);
    if (found == a.end()) return std::numeric_limits<double>::infinity();
    size += std::pow(at::norm(tensor).item<double>(), 2);
    difference += std::pow(at::norm(found->second - tensor).item<double>(), 2);
  }
  return std::sqrt(difference / size);
}

bool bit_equal(const WholeTensors& a, const WholeTensors& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
           return x.first == y.first && at::equal(x.second, y.second);
         });
}

}  // namespace stagecraft
