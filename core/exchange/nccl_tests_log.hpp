#pragma once
// What the programs of nccl-tests print: comment lines that name every rank's GPU and host, a line of column names, a
// line per size (github.com/NVIDIA/nccl-tests src/common.cu, print_header and print_line of each program). Layouts with
// the column "error" (before 2.13) and with "#wrong", with and without "redop" and "root"; labels that mpirun or srun
// put before each line are passed over, as are lines of NCCL_DEBUG.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stagecraft {

struct NcclTestsRow {
  int line = 0;
  double bytes = 0;    // nccl-tests' size
  double seconds = 0;  // of one collective
  bool in_place = false;
};

/// One program's output.
struct NcclTestsRun {
  std::string file;
  int line = 0;                     // of the column names
  std::string program;              // "all_reduce_perf" as some line of the log says; "": none does
  std::string gpu;                  // of the first rank, "NVIDIA H100 80GB HBM3"
  std::int32_t ranks = 0;           // lines that name a rank
  std::int32_t nodes = 0;           // hosts among them
  std::int32_t ranks_per_node = 0;  // of every host
  std::string reduction;            // of the last row: "sum", "none"; "": no such column
  std::int32_t root = -1;           // of the last row; -1: none
  double bus_over_algorithm = 0;    // busbw / algbw of the row with the largest algbw; 0: all of them are 0
  double ratio_error = 0;           // what the two printed digits leave open, as a fraction of it
  bool checked = false, checked_in_place = false;  // results, in the last row; N/A stands where they were not
  std::vector<NcclTestsRow> rows;  // two per line, out of place and in place; sizes of 0 bytes are left out
};

/// Every run in a log. Throws InputError with the line for a row that is cut off, that is no number, that comes before
/// the column names or that had wrong results; for a run without a line per rank, with hosts of unequal numbers of
/// GPUs, with a GPU twice, or with several groups at once; and if there is no run.
std::vector<NcclTestsRun> read_nccl_tests(std::string_view text, const std::string& file);

}  // namespace stagecraft
