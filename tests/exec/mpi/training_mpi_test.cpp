// The same training over MPI: every rank is a process.

#include <ATen/ops/equal.h>
#include <ATen/ops/norm.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "exec/run/gather.hpp"
#include "exec/run/support.hpp"
#include "mpi_rank.hpp"
#include "reference.hpp"
#include "schedule/family.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

/// Losses of all steps on every rank; how this rank's pieces of the gradients and of the weights differ from those of
/// one device: not one bit, and the relative norm over all ranks.
struct Measured {
  std::vector<double> losses;
  bool bits = true;
  double first_gradient = 0;
};

/// Pieces of a rank against whole tensors: squares of the difference and of the whole, and whether all bits agree.
struct Difference {
  double difference = 0, whole = 0;
  bool bits = true;
};

void compare_pieces(const StageBuffers& buffers, bool gradients, const WholeTensors& expected, Difference& out) {
  for (const Parameter& parameter : buffers.model->parameters) {
    const at::Tensor& mine = gradients ? parameter.gradient : parameter.value;
    if (!mine.defined()) continue;
    const at::Tensor table = mine.to(at::kDouble).view({parameter.rows, parameter.columns});
    for (const ParameterPiece& piece : parameter.pieces) {
      const at::Tensor whole =
          expected.at(piece.name).narrow(0, piece.row_begin, piece.rows).narrow(1, piece.column_begin, piece.columns);
      const at::Tensor local = table.narrow(0, piece.local_row, piece.rows);
      out.bits = out.bits && at::equal(whole, local);
      out.difference += std::pow(at::norm(whole - local).item<double>(), 2);
      out.whole += std::pow(at::norm(whole).item<double>(), 2);
    }
  }
}

Measured train(const Plan& plan, const Schedule& schedule, const ExecuteOptions& options, std::int32_t steps,
               const TrainingRecord& expected) {
  const Graph graph = make_graph(schedule);
  const JobInputs inputs{plan, schedule, graph, options};
  RankExecutor executor(inputs, *this_rank, nullptr);
  Measured measured;
  std::vector<double> mine;
  Difference first;
  for (std::int32_t step = 0; step < steps; ++step) {
    const StepResult result = executor.run_step();
    if (result.loss) mine.push_back(*result.loss);
    Difference gradients;
    for (const StageBuffers& buffers : executor.stages())
      compare_pieces(buffers, true, expected.gradients[static_cast<std::size_t>(step)], gradients);
    measured.bits = measured.bits && gradients.bits;
    if (step == 0) first = gradients;
  }
  const Group& world = executor.groups().world;
  for (const std::vector<double>& theirs : gather_numbers(mine, world, *this_rank, at::kCPU)) {
    if (!theirs.empty()) measured.losses = theirs;
  }
  Difference values;
  for (const StageBuffers& buffers : executor.stages()) compare_pieces(buffers, false, expected.values, values);
  measured.bits = measured.bits && values.bits;
  double difference = 0, whole = 0;
  for (const std::vector<double>& theirs :
       gather_numbers({first.difference, first.whole}, world, *this_rank, at::kCPU)) {
    difference += theirs.at(0);
    whole += theirs.at(1);
  }
  measured.first_gradient = std::sqrt(difference / whole);
  return measured;
}

}  // namespace

TEST_CASE("Pipelines of MPI processes train with the bits of one device, by every executable schedule") {
  std::int32_t executed = 0;
  // Every process works out the reference for itself, so more than two of them on few cores take fewer steps.
  const std::int32_t steps = this_rank->size() == 2 ? 20 : 3;
  for (const FamilyEntry& entry : schedule_family()) {
    TinyLayout layout;
    layout.pipeline = this_rank->size();
    layout.micro_batches = 2 * this_rank->size() + 2;
    layout.chunks = usual_chunks(entry);
    const Plan plan = tiny_plan(tiny_gpt(std::max(4, layout.pipeline * layout.chunks)), layout);
    ScheduleRequest request;
    request.shape = {layout.pipeline, layout.micro_batches, layout.chunks};
    if (!entry.refuse(request).empty()) continue;
    if (has_errors(refusals(plan, entry.generate(request), {}))) continue;
    CAPTURE(entry.name);
    const Schedule schedule = lowered_schedule(entry.name, plan);
    const TrainingRecord expected = train_on_one_device(plan, {}, steps, accumulation_order(schedule));
    const Measured measured = train(plan, schedule, {}, steps, expected);
    CHECK(measured.losses == expected.losses);
    CHECK(measured.bits);
    ++executed;
  }
  CHECK(executed >= 14);
}

TEST_CASE("Tensor, sequence and data parallelism of MPI processes agree with one device to rounding") {
  for (const bool sequence_parallel : {false, true}) {
    for (const at::ScalarType numbers : {at::kDouble, at::kFloat}) {
      TinyLayout layout;
      layout.tensor = 2;
      layout.data = this_rank->size() / 2;
      layout.sequence_parallel = sequence_parallel;
      CAPTURE(sequence_parallel, c10::toString(numbers));
      const Plan plan = tiny_plan(tiny_llama(2), layout);
      ExecuteOptions options;
      options.numbers = numbers;
      const Schedule schedule = lowered_schedule("1f1b", plan);
      const TrainingRecord expected = train_on_one_device(plan, options, 1, accumulation_order(schedule));
      const Measured measured = train(plan, schedule, options, 1, expected);
      const double tolerance = numbers == at::kDouble ? 1e-10 : 1e-5;
      REQUIRE(measured.losses.size() == 1);
      CHECK(std::abs(measured.losses[0] / expected.losses[0] - 1) <= tolerance);
      CHECK(measured.first_gradient <= tolerance);
    }
  }
}

TEST_CASE("MPI processes with a tied embedding, ZeRO and clipping reach the loss of one device") {
  for (const std::int64_t zero_stage : {0, 1, 2, 3}) {
    TinyLayout layout;
    layout.pipeline = 2;
    layout.data = this_rank->size() / 2;
    layout.zero_stage = layout.data > 1 ? zero_stage : 0;
    ModelSpec model = tiny_gpt(4);
    model.tied_embeddings = true;
    const Plan plan = tiny_plan(model, layout);
    ExecuteOptions options;
    options.numbers = at::kDouble;
    options.optimizer.clip_norm = 0.1;
    const Schedule schedule = lowered_schedule("zb-h1", plan);
    const TrainingRecord expected = train_on_one_device(plan, options, 2, accumulation_order(schedule));
    const Graph graph = make_graph(schedule);
    const JobInputs inputs{plan, schedule, graph, options};
    RankExecutor executor(inputs, *this_rank, nullptr);
    for (std::size_t step = 0; step < 2; ++step) {
      CAPTURE(zero_stage, step);
      const StepResult result = executor.run_step();
      const double tolerance = step == 0 ? 1e-10 : 1e-8;
      CHECK(std::abs(result.gradient_norm / expected.norms[step] - 1) <= tolerance);
      if (result.loss) CHECK(std::abs(*result.loss / expected.losses[step] - 1) <= tolerance);
    }
  }
}
