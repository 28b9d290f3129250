#include "validate/timed_collective.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

namespace stagecraft {
namespace {

struct Program {
  const char* name;
  NcclOp op;
  bool reduces, has_root, exchanges;
};

constexpr std::array programs{
    Program{"all_reduce_perf", NcclOp::all_reduce, true, false, false},
    Program{"all_gather_perf", NcclOp::all_gather, false, false, false},
    Program{"reduce_scatter_perf", NcclOp::reduce_scatter, true, false, false},
    Program{"alltoall_perf", NcclOp::all_to_all, false, false, true},
    Program{"broadcast_perf", NcclOp::broadcast, false, true, false},
    Program{"reduce_perf", NcclOp::reduce, true, true, false},
    Program{"sendrecv_perf", NcclOp::sendrecv, false, false, true},
};

bool agrees(NcclOp op, const PrintedColumns& printed) {
  if (printed.bus_over_algorithm <= 0) return true;
  const double factor = nccl_bus_factor(op, printed.ranks);
  return std::abs(printed.bus_over_algorithm / factor - 1) <= 0.005 + printed.ratio_error;
}

bool may_be(const Program& program, const PrintedColumns& printed) {
  if (!agrees(program.op, printed)) return false;
  if (!printed.reduction.empty() && (printed.reduction != "none") != program.reduces) return false;
  if (program.has_root != (printed.root >= 0)) return false;
  if (printed.checked_in_place && program.exchanges) return false;
  return program.exchanges || !printed.checked || printed.checked_in_place;
}

ToldCollective held_against_ratio(NcclOp op, const PrintedColumns& printed) {
  if (agrees(op, printed)) return {op, "", ""};
  return {std::nullopt, fmt::format("busbw {:.3f} times algbw on {} ranks", printed.bus_over_algorithm, printed.ranks),
          fmt::format("{:.3f} times, as {} has it", nccl_bus_factor(op, printed.ranks), to_text(op))};
}

}  // namespace

ToldCollective collective_of(const PrintedColumns& printed, const std::string& stated) {
  if (!stated.empty()) return held_against_ratio(nccl_op_of(stated), printed);
  std::string names, possible;
  std::optional<NcclOp> only;
  std::size_t count = 0;
  for (const Program& program : programs) {
    if (printed.program == program.name) return held_against_ratio(program.op, printed);
    names += (names.empty() ? "" : ", ") + std::string(program.name);
    if (!may_be(program, printed)) continue;
    possible += (possible.empty() ? "" : " or ") + std::string(to_text(program.op));
    only = program.op;
    ++count;
  }
  if (!printed.program.empty()) return {std::nullopt, printed.program, "one of " + names};
  if (count == 1) return {only, "", ""};
  if (count == 0) return {std::nullopt, "columns of no known program", "those of " + names};
  return {std::nullopt, "columns that " + possible + " would have", "a log that names its program, or --op"};
}

}  // namespace stagecraft
