// `stagecraft nccl-tests`: what nccl-tests would print on a cluster, in its own columns, to hold against a real run.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "command_line.hpp"
#include "cost/nccl.hpp"
#include "exit_code.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

struct Request {
  std::string cluster, op = "all_reduce", first = "8", last = "8G", system, algorithm;
  double factor = 2;
  std::int64_t gpus = 0;
};

// nccl-tests' own form: "8", "32M", "8G"; powers of 1024.
double parse_size(const char* option, const std::string& text) {
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
  const std::string unit = text.substr(digits);
  const double scale = unit.empty() ? 1 : unit == "K" ? 0x1p10 : unit == "M" ? 0x1p20 : unit == "G" ? 0x1p30 : 0;
  const bool readable = digits > 0 && digits <= 15 && scale > 0;
  const double bytes = readable ? std::stod(text.substr(0, digits)) * scale : 0;
  if (!readable || bytes < 1 || bytes > 0x1p50) {
    throw UsageError(fmt::format(
        "{}: got \"{}\", expected bytes as nccl-tests takes them, from 1 to 1048576G: 8, 32M, 8G", option, text));
  }
  return bytes;
}

// Reduction and root as nccl-tests prints them for an operation.
const char* reduction(NcclOp op) {
  return op == NcclOp::all_reduce || op == NcclOp::reduce_scatter || op == NcclOp::reduce ? "sum" : "none";
}

int root_of(NcclOp op) {
  return op == NcclOp::broadcast || op == NcclOp::reduce ? 0 : -1;
}

std::string table(const Request& request, const NcclMachine& machine, const NcclTuner& tuner,
                  const NcclSystem& system) {
  const NcclOp op = nccl_op_of(request.op);
  std::vector<NcclAlgorithm> only;
  if (!request.algorithm.empty()) only.push_back(nccl_algorithm_of(request.algorithm));
  std::string out = fmt::format("# {:>11} {:>12} {:>8} {:>6} {:>6} {:>8} {:>7} {:>7}  {}\n", "size", "count", "type",
                                "redop", "root", "time", "algbw", "busbw", "algorithm");
  out += fmt::format("# {:>11} {:>12} {:>8} {:>6} {:>6} {:>8} {:>7} {:>7}\n", "(B)", "(elements)", "", "", "", "(us)",
                     "(GB/s)", "(GB/s)");
  const double last = parse_size("-e", request.last);
  double sum = 0, rows = 0;
  for (double bytes = parse_size("-b", request.first); bytes <= last; bytes = std::floor(bytes * request.factor)) {
    const NcclTime time = nccl_time(op, {bytes}, machine, tuner, system, only);
    out += fmt::format("  {:>11.0f} {:>12.0f} {:>8} {:>6} {:>6} {:>8.2f} {:>7.2f} {:>7.2f}  {} {}\n", bytes,
                       std::floor(bytes / 4), "float", reduction(op), root_of(op), time.total.value * 1e6,
                       time.algorithm_GBps, time.bus_GBps, to_text(time.ran.algorithm), to_text(time.ran.protocol));
    sum += time.bus_GBps;
    ++rows;
    if (std::floor(bytes * request.factor) <= bytes) break;
  }
  if (rows == 0) throw UsageError("-b is larger than -e: no size to print");
  return out + fmt::format("# Avg bus bandwidth    : {:g}\n", sum / rows);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string predict(const Request& request, const Library& library) {
  const ClusterSpec cluster = load_cluster(request.cluster, library);
  const std::int64_t all = cluster.nodes * gpus_per_node(cluster.node);
  const std::int64_t gpus = request.gpus == 0 ? std::min<std::int64_t>(all, gpus_per_node(cluster.node)) : request.gpus;
  if (gpus < 2 || gpus > all) {
    throw UsageError(fmt::format("--gpus: got {}, expected 2 to {}, the GPUs of {}", gpus, all, cluster.name));
  }
  const NcclTuner tuner = load_nccl_tuner(library);
  const Topology topology = build_topology(cluster);
  const NcclMachine machine = nccl_machine(topology, gpus, tuner, load_calibration(cluster.calibration, library));
  if (tuner.architectures.find(machine.architecture) == tuner.architectures.end()) {
    std::vector<std::string> known;
    for (const auto& [name, constants] : tuner.architectures) known.push_back(name);
    std::size_t kind = 0;
    while (gpu_of_kind(cluster, kind).architecture != machine.architecture) ++kind;
    throw UsageError(fmt::format("{} is of architecture \"{}\", which NCCL's tuner has no constants for; it knows: {}",
                                 gpu_of_kind(cluster, kind).name, machine.architecture, joined(known)));
  }
  const NcclSystem system = find_nccl_system(load_nccl_systems(library), cluster, machine.nodes, request.system);
  std::string out =
      fmt::format("# {} on {} of {}: {} GPUs, {} node{}; predicted, not measured\n", request.op, cluster.gpu.name,
                  cluster.name, machine.ranks, machine.nodes, machine.nodes == 1 ? "" : "s");
  out += fmt::format("# calibration: {} ({})\n", system.name, system.source);
  return out + table(request, machine, tuner, system);
}

}  // namespace

int run_nccl_tests(const Words& words, const Console& console) {
  Request request;
  const auto app = make_app(
      "nccl-tests", "Prints what nccl-tests would print on a cluster, in its columns: bytes, time, algbw, busbw.",
      {{"nccl-tests --cluster eos --op all_reduce -b 8 -e 8G", "one node"},
       {"nccl-tests --cluster eos --op all_gather -b 1M -e 1G -f 4 --gpus 64", "eight nodes"}});
  app->add_option("--cluster", request.cluster, "A name of `topology list`, or a cluster file")->required();
  app->add_option("--op", request.op, joined(nccl_op_names()))->check(CLI::IsMember(nccl_op_names()));
  app->add_option("-b,--minbytes", request.first, "The first size: 8, 32M, 1G");
  app->add_option("-e,--maxbytes", request.last, "The last size");
  app->add_option("-f,--stepfactor", request.factor, "From one size to the next")->check(number_between(1.01, 1e6));
  app->add_option("--gpus", request.gpus, "The first GPUs of the cluster (left out: those of one node)");
  app->add_option("--algorithm", request.algorithm, "Instead of the tuner's choice: " + joined(nccl_algorithm_names()))
      ->check(CLI::IsMember(nccl_algorithm_names()));
  app->add_option("--system", request.system, "The calibration, a name of topologies/nccl/systems.json");
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  const Library library = default_library(console.executable);
  try {
    return console.print(predict(request, library)), ok;
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--algorithm {}: {}", request.algorithm, error.what()));
  }
}

}  // namespace stagecraft::cli
