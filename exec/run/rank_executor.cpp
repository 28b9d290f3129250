#include "exec/run/rank_executor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "exec/model/out_of_memory.hpp"
#include "exec/run/support.hpp"
#include "exec/run/transfers.hpp"
#include "memory/timeline.hpp"

namespace stagecraft {

namespace {

bool goes_on_behind(OpKind kind) {
  return is_send(kind) || is_receive(kind) || kind == OpKind::reduce_grad || kind == OpKind::unshard ||
         kind == OpKind::gather_params;
}

}  // namespace

RankExecutor::RankExecutor(const JobInputs& inputs, Transport& transport, MemoryMeter* meter)
    : inputs_(inputs),
      transport_(transport),
      groups_(make_groups(inputs.plan, inputs.schedule, transport)),
      tensor_(groups_.tensor.size() > 1
                  ? TensorGroup(transport, groups_.tensor, inputs.plan.run.parallel.sequence_parallel)
                  : TensorGroup()),
      shape_(model_shape(inputs.plan, buffer_policy(inputs.plan, inputs.options).value, inputs.options.device)),
      tokens_(token_source(inputs.plan, inputs.options)),
      recorder_(inputs.options.device),
      meter_(meter) {
  if (inputs.plan.run.precision == Precision::fp16_mixed && !inputs.options.numbers) {
    loss_scale_ = {true, inputs.options.initial_loss_scale, 0, 1000};
  }
  build_stages();
  find_waits();
  pending_.resize(program().size());
}

RankExecutor::~RankExecutor() = default;

const std::vector<Op>& RankExecutor::program() const {
  return inputs_.schedule.programs[static_cast<std::size_t>(groups_.at.pipeline)];
}

void RankExecutor::build_stages() {
  const Plan& plan = inputs_.plan;
  const StageMap& placement = inputs_.schedule.placement[0];
  const bool tied = plan.model.tied_embeddings && plan.model.plain_layers.empty() && placement.size() > 1;
  const TiedCopy copy = !tied                                   ? TiedCopy::none
                        : placement.front() == placement.back() ? TiedCopy::same_rank
                                                                : TiedCopy::other_rank;
  BufferPolicy policy = buffer_policy(plan, inputs_.options);
  if (groups_.data.size() <= 1) policy.zero_stage = 0;  // a group of one has nothing to cut
  slot_of_stage_.assign(placement.size(), -1);
  tied_here_ = copy == TiedCopy::same_rank && placement.front().value == groups_.at.pipeline;
  if (tied_here_) check_tied_reduction();
  for (std::size_t stage = 0; stage < placement.size(); ++stage) {
    if (placement[stage].value != groups_.at.pipeline) continue;
    slot_of_stage_[stage] = static_cast<std::int32_t>(models_.size());
    Parameter* const word = copy == TiedCopy::same_rank && !models_.empty() ? word_table(*models_.front()) : nullptr;
    models_.push_back(make_stage_model(plan, Stage(stage), shape_, tensor_, copy, word));
  }
  for (const std::unique_ptr<StageModel>& model : models_) {
    buffers_.push_back(naming(
        "values, gradients and optimizer states of stage", std::to_string(model->stage.value),
        [&] { return make_stage_buffers(*model, policy, transport_, groups_.data, groups_.tensor, model->first); }));
  }
  cells_.resize(models_.size() * static_cast<std::size_t>(plan.micro_batches));
}

/// The table's gradient lies with the first stage and must not be reduced before the last stage has added its part.
void RankExecutor::check_tied_reduction() const {
  const Stage last(stage_count(inputs_.schedule) - 1);
  bool reduced = false;
  for (const Op& op : program()) {
    reduced = reduced || (op.kind == OpKind::reduce_grad && op.stage.value == 0);
    if (reduced && op.stage == last && (op.kind == OpKind::backward || op.kind == OpKind::weight_grad)) {
      throw TransportError(TransportFailure::refused,
                           "the gradient of the tied embedding is reduced before " + to_text(op));
    }
  }
}

/// Edges of the graph that end on this rank and come from its operations that go on behind the loop. Collectives of
/// one lane need no wait among each other: the transport keeps their order.
void RankExecutor::find_waits() {
  const Graph& graph = inputs_.graph;
  const std::uint32_t first = graph.first_of_rank[static_cast<std::size_t>(groups_.at.pipeline)];
  const auto count = static_cast<std::uint32_t>(program().size());
  waits_.resize(count);
  waits_across_.resize(count);
  const auto both_reduce = [&](std::uint32_t from, std::uint32_t to) {
    return program()[from].kind == program()[to].kind && program()[from].lane == Lane::data;
  };
  for (std::uint32_t from = 0; from < count; ++from) {
    if (!goes_on_behind(program()[from].kind)) continue;
    for (const std::uint32_t node : successors_of(graph, first + from)) {
      if (node < first || node >= first + count || both_reduce(from, node - first)) continue;
      if (is_send(program()[from].kind) || is_send(program()[node - first].kind)) continue;
      waits_[node - first].push_back(from);
    }
  }
  for (const Graph::Edge& edge : graph.across_steps) {
    const bool mine = edge.from >= first && edge.from < first + count && edge.to >= first && edge.to < first + count;
    if (mine && program()[edge.from - first].kind == OpKind::gather_params) {
      waits_across_[edge.to - first].push_back(edge.from - first);
    }
  }
}

StepResult RankExecutor::run_step() {
  result_ = {};
  loss_sum_ = at::zeros({}, at::TensorOptions().dtype(at::kDouble).device(shape_.device));
  try {
    for (StageBuffers& buffers : buffers_) {
      if (buffers.gradients.defined()) prepare_gradients(buffers);
      buffers.partial_sums_done = false;
    }
    const auto count = static_cast<std::uint32_t>(program().size());
    for (std::uint32_t position = 0; position < count; ++position) run_position(position);
    stand(count);
    drill(count);
    finish_step();
  } catch (const RankFailure&) {
    throw;
  } catch (const std::exception& error) {
    fail(error);
  }
  ++steps_run_;
  return result_;
}

void RankExecutor::between_steps(const std::function<void()>& work) {
  try {
    work();
  } catch (const RankFailure&) {
    throw;
  } catch (const std::exception& error) {
    fail(error);
  }
}

void RankExecutor::stand(std::uint32_t position) {
  place_ = {static_cast<std::int32_t>(steps_run_), position};
  if (whereabouts_ != nullptr) whereabouts_->stand(place_.step, position);
}

void RankExecutor::finish_step() {
  const std::vector<std::uint32_t> left = active_;
  for (const std::uint32_t position : left) {
    const Op& op = program()[position];
    if (op.kind != OpKind::gather_params) complete(position);  // these may end behind the next step's first forwards
  }
  drain_device();
  recorder_.resolve();
  for (const TensorGroup::Charge& charge : tensor_.take_charges())
    recorder_.at(charge.record).tensor_s += charge.seconds;
  for (const Pending& done : unread_) read_times(done);
  unread_.clear();
  if (models_.empty() || !models_.back()->last) return;
  loss_sum_.div_(static_cast<double>(inputs_.plan.micro_batches));
  if (groups_.data.size() > 1) {
    transport_.all_reduce(loss_sum_, Reduction::sum, groups_.data)->wait();
    loss_sum_.div_(static_cast<double>(groups_.data.size()));
  }
  result_.loss = loss_sum_.item<double>();
}

void RankExecutor::settle() {
  const std::vector<std::uint32_t> left = active_;
  for (const std::uint32_t position : left) complete(position);
  drain_device();
  for (const Pending& done : unread_) read_times(done);
  unread_.clear();
}

void RankExecutor::begin_measuring() {
  settle();
  tensor_.take_charges();
  recorder_.clear();
}

/// On a GPU waits only order streams. The host looks here whether everything has arrived, so that a hang is seen.
void RankExecutor::drain_device() {
  for (const Pending& done : unread_) {
    for (const WorkHandle& work : done.works) {
      while (!work->query()) std::this_thread::yield();
    }
  }
  synchronize(shape_.device);
}

void RankExecutor::run_position(std::uint32_t position) {
  stand(position);
  drill(position);
  poll_pending();
  for (const std::uint32_t before : waits_across_[position]) complete(before);
  for (const std::uint32_t before : waits_[position]) complete(before);
  complete(position);  // what this operation left behind in the step before
  const std::size_t record = recorder_.begin(static_cast<std::int32_t>(steps_run_), position);
  tensor_.charge_to(record);
  if (meter_ != nullptr) meter_->restart_peak();
  execute(program()[position], position, record);
  if (meter_ != nullptr) recorder_.at(record).peak_bytes = meter_->peak();
  if (!pending_[position]) recorder_.end(record);
}

void RankExecutor::execute(const Op& op, std::uint32_t position, std::size_t record) {
  switch (op.kind) {
    case OpKind::forward:
      return forward(op);
    case OpKind::backward:
    case OpKind::input_grad:
      return backward(op, record);
    case OpKind::weight_grad:
      return weight_grad(op);
    case OpKind::recompute:
      return;  // block by block inside the backward that follows, see trace_spans.cpp
    case OpKind::send_activation:
    case OpKind::send_gradient:
      return send(op, position, record);
    case OpKind::recv_activation:
    case OpKind::recv_gradient:
      return receive(op, position, record);
    case OpKind::reduce_grad:
      return reduce_grad(op, position, record);
    case OpKind::optimizer_step:
      return optimizer_step(record);
    case OpKind::unshard:
    case OpKind::reshard:
    case OpKind::reduce_tied:
    case OpKind::gather_params:
      return state_collective(op, position, record);
    case OpKind::offload:
    case OpKind::reload:
    case OpKind::offload_grad:
    case OpKind::reload_param:
      return;  // scenarios that copy are refused (schedule/executable.hpp, execute-offload)
  }
}

void RankExecutor::park(std::uint32_t position, std::size_t record, std::vector<WorkHandle> works) {
  const Op& op = program()[position];
  Pending pending;
  pending.works = std::move(works);
  pending.record = record;
  pending.handed_over = is_handed_over(op, shape_.device);
  if (pending.handed_over) recorder_.end(record);
  pending_[position] = std::move(pending);
  active_.push_back(position);
  if (op.lane == Lane::compute && !is_receive(op.kind) && !pending_[position]->handed_over) complete(position);
}

void RankExecutor::read_times(const Pending& pending) {
  if (pending.handed_over) return;
  RecordedOp& op = recorder_.at(pending.record);
  if (pending.works.empty() || !pending.works.back()->query()) {
    op.end_s = now_s();
    return;
  }
  op.begin_s = std::max(op.posted_s, pending.works.front()->times().started_s);
  op.end_s = std::max(pending.works.back()->times().finished_s, op.begin_s);
}

void RankExecutor::complete(std::uint32_t position) {
  if (!pending_[position]) return;
  waited_for_ = position;
  for (const WorkHandle& work : pending_[position]->works) work->wait();
  Pending done = std::move(*pending_[position]);
  pending_[position].reset();
  active_.erase(std::find(active_.begin(), active_.end(), position));
  waited_for_.reset();
  if (done.reduced != nullptr) finish_reduce(*done.reduced);
  if (shape_.device.is_cpu()) {
    read_times(done);
  } else {
    unread_.push_back(std::move(done));
  }
}

void RankExecutor::poll_pending() {
  transport_.poll();
  const std::vector<std::uint32_t> looked_at = active_;
  for (const std::uint32_t position : looked_at) {
    bool done = true;
    for (const WorkHandle& work : pending_[position]->works) done = work->query() && done;
    if (done) complete(position);
  }
}

void RankExecutor::drill(std::uint32_t position) {
  const Drill& drill = inputs_.options.drill;
  if (drill.kind == Drill::Kind::none || drill.rank != transport_.rank() || drill.step != steps_run_ ||
      drill.position != static_cast<std::int32_t>(position)) {
    return;
  }
  if (drill.kind == Drill::Kind::raise) throw std::runtime_error("an exception raised by --drill");
  if (drill.kind == Drill::Kind::die) ::kill(::getpid(), SIGKILL);
  if (drill.kind == Drill::Kind::stop) {
    ::kill(::getpid(), SIGSTOP);
    return;
  }
  for (;;) {  // a stalled rank answers nothing; as a thread it ends with the job
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    transport_.poll();
  }
}

std::vector<std::string> RankExecutor::pending_texts() const {
  std::vector<std::string> texts;
  for (const std::uint32_t position : active_) {
    const Op& op = program()[position];
    std::string text = to_text(op);
    if (pending_[position]->peer >= 0)
      text += fmt::format(" {} rank {}", is_send(op.kind) ? "to" : "from", pending_[position]->peer);
    if (waited_for_ == position) text += " (waited for)";
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string RankExecutor::memory_text(const std::string& wanted) const {
  const std::vector<MemoryPeak> peaks = memory_peaks(inputs_.plan, inputs_.schedule);
  const MemoryPeak& peak = peaks[static_cast<std::size_t>(groups_.at.pipeline)];
  std::string text = "out of memory: " + wanted;
  if (meter_ != nullptr) text += fmt::format("; {} were held", to_text(Bytes{static_cast<double>(meter_->current())}));
  return text + fmt::format("; the rank was predicted to need {} at its peak", to_text(peak.peak));
}

void RankExecutor::fail(const std::exception& error) {
  const FailureKind kind = kind_of(error);
  const std::string reason = is_out_of_memory(error) ? memory_text(wanted_memory(error)) : reason_of(error);
  FailurePlace place{transport_.rank(), place_.step, PipelineRank(groups_.at.pipeline), place_.position,
                     pending_texts()};
  const std::string line = failure_line(inputs_.schedule, place, reason);
  if (was_stopped(kind)) throw RankFailure(kind, std::move(place), reason);
  transport_.abort(line, kind == FailureKind::timed_out ? StopCause::timed_out : StopCause::failed);
  throw RankFailure(kind, std::move(place), line);
}

RankExecutor::Cell& RankExecutor::cell(Stage stage, MicroBatch micro_batch) {
  const auto slot = static_cast<std::size_t>(slot_of_stage_[stage.index()]);
  return cells_[slot * static_cast<std::size_t>(inputs_.plan.micro_batches) + micro_batch.index()];
}

StageBuffers& RankExecutor::buffers_of(Stage stage) {
  return buffers_[static_cast<std::size_t>(slot_of_stage_[stage.index()])];
}

bool RankExecutor::holds(Stage stage) const {
  return stage.valid() && stage.index() < slot_of_stage_.size() && slot_of_stage_[stage.index()] >= 0;
}

}  // namespace stagecraft
