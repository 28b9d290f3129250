// The same training over MPI: every rank is a process.

#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>

#include "exec/run/gather.hpp"
#include "mpi_rank.hpp"
#include "reference.hpp"
#include "schedule/family.hpp"
#include "tiny_model.hpp"

using namespace stagecraft;

namespace {

/// Losses of `steps` steps on rank 0, and whether this rank's pieces of the weights have the bits of `expected`.
struct Measured {
  std::vector<double> losses;
  bool bits = true;
};

Measured train(const Plan& plan, const Schedule& schedule, std::int32_t steps, const WholeTensors& expected) {
  const ExecuteOptions options;
  const Graph graph = make_graph(schedule);
  const JobInputs inputs{plan, schedule, graph, options};
  RankExecutor executor(inputs, *this_rank, nullptr);
  Measured measured;
  std::vector<double> mine;
  for (std::int32_t step = 0; step < steps; ++step) {
    const StepResult result = executor.run_step();
    if (result.loss) mine.push_back(*result.loss);
  }
  for (const std::vector<double>& theirs : gather_numbers(mine, executor.groups().world, *this_rank, at::kCPU)) {
    if (!theirs.empty()) measured.losses = theirs;
  }
  for (const StageBuffers& buffers : executor.stages()) {
    for (const Parameter& parameter : buffers.model->parameters) {
      const at::Tensor table = parameter.value.to(at::kDouble).view({parameter.rows, parameter.columns});
      for (const ParameterPiece& piece : parameter.pieces) {
        const at::Tensor whole =
            expected.at(piece.name).narrow(0, piece.row_begin, piece.rows).narrow(1, piece.column_begin, piece.columns);
        measured.bits = measured.bits && at::equal(whole, table.narrow(0, piece.local_row, piece.rows));
      }
    }
  }
  return measured;
}

}  // namespace

TEST_CASE("Pipelines of MPI processes train with the bits of one device") {
  for (const std::string name : {"gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zbv"}) {
    CAPTURE(name);
    TinyLayout layout;
    layout.pipeline = this_rank->size();
    layout.micro_batches = 8;
    layout.chunks = usual_chunks(*find_schedule(name));
    const Plan plan = tiny_plan(tiny_gpt(std::max(4, layout.pipeline * layout.chunks)), layout);
    const Schedule schedule = lowered_schedule(name, plan);
    const TrainingRecord expected = train_on_one_device(plan, {}, 4, accumulation_order(schedule));
    const Measured measured = train(plan, schedule, 4, expected.values);
    CHECK(measured.losses == expected.losses);
    CHECK(measured.bits);
  }
}

TEST_CASE("Tensor-parallel MPI processes agree with one device to rounding") {
  TinyLayout layout;
  layout.tensor = 2;
  layout.data = this_rank->size() / 2;
  layout.sequence_parallel = true;
  const Plan plan = tiny_plan(tiny_llama(2), layout);
  const Schedule schedule = lowered_schedule("1f1b", plan);
  const TrainingRecord expected = train_on_one_device(plan, {}, 1, accumulation_order(schedule));
  const Measured measured = train(plan, schedule, 1, expected.values);
  REQUIRE(measured.losses.size() == 1);
  CHECK(measured.losses[0] == Approx(expected.losses[0]).epsilon(1e-6));
}
