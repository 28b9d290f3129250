#include "exchange/nccl_tests_log.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"

using namespace stagecraft;

namespace {

std::string ranks(int nodes, int per_node, const std::string& label = "") {
  std::string out;
  for (int rank = 0; rank < nodes * per_node; ++rank) {
    out += label + "#  Rank " + std::to_string(rank) + " Group  0 Pid   6899 on host-" +
           std::to_string(rank / per_node) + " device  " + std::to_string(rank % per_node) +
           " [0000:04:00] NVIDIA H100 80GB HBM3\n";
  }
  return out;
}

const std::string columns =
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";

const std::string row =
    "  1073741824     268435456     float     sum      -1    13867   77.43  135.50      0    13877   77.38  135.41     "
    " "
    "0\n";

std::string message(const std::string& log) {
  try {
    read_nccl_tests(log, "a.log");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a log of nccl-tests gives two times per line, the GPUs and the hosts") {
  const auto runs = read_nccl_tests("# nThread 1 nGpus 1 minBytes 8\n# Using devices\n" + ranks(2, 8) +
                                        "host-0:12:12 [0] NCCL INFO Bootstrap : Using eth0\n" + columns + row +
                                        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 135.455 \n#\n",
                                    "a.log");
  REQUIRE(runs.size() == 1);
  const NcclTestsRun& run = runs.front();
  CHECK(run.program.empty());
  CHECK(run.gpu == "NVIDIA H100 80GB HBM3");
  CHECK(run.ranks == 16);
  CHECK(run.nodes == 2);
  CHECK(run.ranks_per_node == 8);
  CHECK(run.reduction == "sum");
  CHECK(run.root == -1);
  CHECK(run.bus_over_algorithm == Approx(1.75).epsilon(1e-4));  // 2 (8 - 1) / 8
  CHECK(run.checked);
  CHECK(run.checked_in_place);
  REQUIRE(run.rows.size() == 2);
  CHECK(run.rows[0].bytes == 1073741824);
  CHECK(run.rows[0].seconds == Approx(13867e-6));
  CHECK_FALSE(run.rows[0].in_place);
  CHECK(run.rows[1].seconds == Approx(13877e-6));
  CHECK(run.rows[1].in_place);
}

TEST_CASE("layouts with errors, without root, with labels of srun or mpirun, and Windows line ends read alike") {
  const std::string old =
      "#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "    16777216       4194304     float     sum    549.8   30.51   57.21  5e-07    548.9   30.56   57.30  "
      "5e-07\r\n";
  CHECK(read_nccl_tests(ranks(1, 8) + old, "old").front().rows[1].seconds == Approx(548.9e-6));
  CHECK(read_nccl_tests(ranks(1, 4, " 0: ") + " 0: " + columns.substr(columns.find("#  ", 2)) + " 0: " + row, "srun")
            .front()
            .ranks == 4);
  const std::string tag = "[1,0]<stdout>:";
  CHECK(read_nccl_tests(ranks(1, 4, tag) + tag + "#  size count type time algbw busbw #wrong\n" + tag +
                            "  8 2 float 12.5 0.00 0.00 0\n",
                        "mpirun")
            .front()
            .rows.size() == 1);
}

TEST_CASE("several runs in one log stay apart, each under the program that the log names") {
  const std::string log = "$ ./build/all_reduce_perf -b 8 -e 8G\n" + ranks(1, 8) + columns + row +
                          "# Collective test concluded: all_reduce_perf\n" +
                          "# Collective test starting: all_gather_perf\n" + ranks(1, 4) + columns + row;
  const auto runs = read_nccl_tests(log, "both.log");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].program == "all_reduce_perf");
  CHECK(runs[0].ranks == 8);
  CHECK(runs[1].program == "all_gather_perf");
  CHECK(runs[1].ranks == 4);
}

TEST_CASE("sizes of 0 bytes and times that were not taken are left out") {
  const std::string exchange =
      "           0             0     float    none      -1     0.05    0.00    0.00      0     0.05    0.00    0.00   "
      " N/A\n"
      "        1024            32     float    none      -1    12.50    0.08    0.07      0    12.40    0.08    0.07   "
      " N/A\n";
  const auto runs = read_nccl_tests(ranks(1, 8) + columns + exchange, "a.log");
  CHECK(runs.front().rows.size() == 2);
  CHECK(runs.front().checked);
  CHECK_FALSE(runs.front().checked_in_place);
}

TEST_CASE("a log that would mislead is refused with its line") {
  CHECK(message("nothing here\n").find("no row of nccl-tests") != std::string::npos);
  CHECK(message(columns + row).find("HOST") != std::string::npos);
  CHECK(message(ranks(1, 2) + row).find("a.log:3") != std::string::npos);  // before the column names
  CHECK(message(ranks(1, 2) + columns + row.substr(0, 60) + "\n").find("cut off") != std::string::npos);
  CHECK(message(ranks(1, 2) + ranks(1, 2) + columns + row).find("twice") != std::string::npos);
  CHECK(message(ranks(1, 2) + "#  Rank  2 Group  0 Pid 1 on other device  0 [x] A\n" + columns + row)
            .find("every host") != std::string::npos);
  CHECK(message("#  Rank  0 Group  1 Pid 1 on other device  0 [x] A\n").find("group 1") != std::string::npos);
  std::string wrong = row;
  wrong.replace(wrong.find("135.50      0"), 13, "135.50     17");
  CHECK(message(ranks(1, 2) + columns + wrong).find("wrong results (17)") != std::string::npos);
  std::string word = row;
  word.replace(word.find("13867"), 5, "1386x");
  CHECK(message(ranks(1, 2) + columns + word).find("a.log:7") != std::string::npos);
  std::string none = row;
  none.replace(none.find("13867"), 5, "  0.0");
  CHECK(message(ranks(1, 2) + columns + none).find("above 0") != std::string::npos);
}
