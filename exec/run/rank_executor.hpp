#pragma once
// One rank of the job: its stages, its communicators and the loop over its lowered program. Every operation kind has a
// handler of its own (handlers_*.cpp). What an operation waits for is read off the schedule's graph.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/model/stage_model.hpp"
#include "exec/run/data.hpp"
#include "exec/run/failure.hpp"
#include "exec/run/groups.hpp"
#include "exec/run/memory_meter.hpp"
#include "exec/run/options.hpp"
#include "exec/run/recorder.hpp"
#include "exec/run/whereabouts.hpp"
#include "exec/zero/adamw.hpp"
#include "schedule/graph.hpp"

namespace stagecraft {

/// What every rank of a job is given. All outlive the executor.
struct JobInputs {
  const Plan& plan;
  const Schedule& schedule;  // lowered
  const Graph& graph;        // of that schedule
  const ExecuteOptions& options;
};

struct StepResult {
  std::optional<double> loss;  // mean over the global batch, on ranks that hold the last stage
  double gradient_norm = 0;    // of the whole model, before clipping
  bool skipped = false;        // fp16: a gradient was not finite
};

class RankExecutor {
 public:
  /// `meter` may be null: memory is not recorded then.
  RankExecutor(const JobInputs& inputs, Transport& transport, MemoryMeter* meter);
  ~RankExecutor();
  RankExecutor(const RankExecutor&) = delete;
  RankExecutor& operator=(const RankExecutor&) = delete;

  /// Runs one step. Throws RankFailure; the job is aborted then.
  StepResult run_step();

  /// Runs `work`, which belongs to no operation. What it throws becomes a RankFailure as in a step.
  void between_steps(const std::function<void()>& work);
  /// Keeps `whereabouts`, which outlives the executor, up to date.
  void stand_in(Whereabouts& whereabouts) { whereabouts_ = &whereabouts; }

  /// Waits until nothing is under way.
  void settle();
  /// Forgets what has been recorded, once nothing of it is under way.
  void begin_measuring();
  const Recorder& recorder() const { return recorder_; }
  const RankGroups& groups() const { return groups_; }
  /// Stages of this rank, ascending; gradients and values are read by tests.
  std::vector<StageBuffers>& stages() { return buffers_; }

 private:
  /// State of one stage and micro-batch between its operations.
  struct Cell {
    at::Tensor input, output;                    // arrived or made here; to be sent
    at::Tensor output_gradient, input_gradient;  // the same backwards
    Tape tape;
    std::optional<WeightGradients> weights;  // between I and W
  };
  /// An operation that goes on after the loop has passed it.
  struct Pending {
    std::vector<WorkHandle> works;
    std::size_t record = 0;
    StageBuffers* reduced = nullptr;  // gradients to be dropped once they are reduced
    std::int32_t peer = -1;
    bool handed_over = false;  // its record is complete
  };

  void build_stages();
  void check_tied_reduction() const;
  void find_waits();
  void finish_step();
  void drain_device();
  void run_position(std::uint32_t position);
  void execute(const Op& op, std::uint32_t position, std::size_t record);
  void complete(std::uint32_t position);
  void poll_pending();
  void read_times(const Pending& pending);
  void drill(std::uint32_t position);
  void stand(std::uint32_t position);
  /// What has been caught becomes a RankFailure at the place where this rank stands.
  [[noreturn]] void fail(const std::exception& error);
  std::string memory_text(const std::string& wanted) const;
  std::vector<std::string> pending_texts() const;

  // handlers_compute.cpp
  void forward(const Op& op);
  void backward(const Op& op, std::size_t record);
  void weight_grad(const Op& op);
  // handlers_message.cpp
  void send(const Op& op, std::uint32_t position, std::size_t record);
  void receive(const Op& op, std::uint32_t position, std::size_t record);
  at::Tensor message_part(const at::Tensor& whole) const;
  at::Tensor whole_message(const at::Tensor& part);
  /// For what passes between stage `below` and the next: an activation, or the gradient of one.
  at::Tensor message_buffer(Stage below) const;
  bool scattered() const;
  // handlers_state.cpp
  void reduce_grad(const Op& op, std::uint32_t position, std::size_t record);
  void optimizer_step(std::size_t record);
  void state_collective(const Op& op, std::uint32_t position, std::size_t record);
  void park(std::uint32_t position, std::size_t record, std::vector<WorkHandle> works);

  Cell& cell(Stage stage, MicroBatch micro_batch);
  StageBuffers& buffers_of(Stage stage);
  bool holds(Stage stage) const;
  Batch batch_for(const StageModel& model, MicroBatch micro_batch) const;
  void ready_for_gradients(StageBuffers& buffers);
  const std::vector<Op>& program() const;

  const JobInputs inputs_;
  Transport& transport_;
  RankGroups groups_;
  TensorGroup tensor_;
  ModelShape shape_;
  TokenSource tokens_;
  std::vector<std::unique_ptr<StageModel>> models_;
  std::vector<StageBuffers> buffers_;
  std::vector<std::int32_t> slot_of_stage_;                       // [stage] -> index into models_, -1 elsewhere
  std::vector<Cell> cells_;                                       // [slot * m + micro-batch]
  std::vector<std::vector<std::uint32_t>> waits_, waits_across_;  // [position] -> positions of this rank
  std::vector<std::optional<Pending>> pending_;                   // [position]
  std::vector<std::uint32_t> active_;                             // positions with something pending, oldest first
  std::vector<Pending> unread_;                                   // on a GPU: done with, times not read yet
  bool tied_here_ = false;  // the last stage uses the embedding table of the first, both on this rank
  Recorder recorder_;
  MemoryMeter* const meter_;
  LossScale loss_scale_;
  std::int64_t steps_run_ = 0, updates_ = 0;
  struct {
    std::int32_t step = 0;
    std::uint32_t position = 0;  // the program's length: after the last operation
  } place_;
  Whereabouts* whereabouts_ = nullptr;
  std::optional<std::uint32_t> waited_for_;
  at::Tensor loss_sum_;
  StepResult result_;
};

}  // namespace stagecraft
