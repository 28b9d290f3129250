#pragma once
// What happens inside an operation: kernels with shapes and collectives with bytes, in order. One body is shared by all
// operations of one (stage, kind), and by stages of equal composition. No duration.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/units.hpp"
#include "plan/plan.hpp"
#include "schedule/op.hpp"

namespace stagecraft {

enum class KernelKind : std::uint8_t {
  gemm,       // batch x (m x k) * (k x n); m = n = k = 0: a shape that is not known, given by its FLOPs
  attention,  // fused attention (flash): batch = sequences * heads of this rank, m = query length, n = key length, k =
              // head_dim
  memory,     // bound by bytes moved: norms, element-wise chains, softmax, optimizer
  host,       // what the framework's host code costs once per step; the calibration has the figure
  host_adam,  // Adam on the host's cores; k parameters of this rank
  loading,    // wait for the next batch, as the run states it
  host_sync,  // the host waits for a result of the GPU before it goes on launching
  collection  // pauses of the garbage collector that a step waits for
};

struct Kernel {
  KernelKind kind = KernelKind::memory;
  Dtype dtype = Dtype::bf16;
  bool backward = false;           // attention: backward is another kernel
  bool causal = false;             // attention: the mask's diagonal runs through it
  bool masked = false;             // part of causal attention that skips what the mask hides
  std::int32_t flash_version = 2;  // attention: generation of the kernel, 1 to 4
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t group = 1;      // attention: query heads that share one key and value head
  Flops flops;                 // executed
  Bytes bytes;                 // read + written at best
  std::int32_t launches = 1;   // kernels launched, for unfused chains
  bool row_wise = false;       // product of fp8 operands with a scale per row
  bool among_streams = false;  // each of them waits for kernels of other streams, and is waited for (experts)
  double average = 1;          // work of the average rank over that of this one, the busiest
};

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  exchange,   // each rank sends `bytes` to its neighbour on the ring and receives as much
  host_copy,  // no collective: `bytes` between this GPU and its host, over PCIe
  nvme_copy   // the same to or from the host's drives
};
const char* to_text(CollectiveKind kind);  // "all_reduce", "host_copy", ...

inline bool is_host_copy(CollectiveKind kind) {
  return kind == CollectiveKind::host_copy || kind == CollectiveKind::nvme_copy;
}

/// What passes on the host, once per step, while the GPU has nothing to do.
inline bool is_host_work(KernelKind kind) {
  return kind == KernelKind::host || kind == KernelKind::loading || kind == KernelKind::collection;
}

/// `bytes` is the size S of the whole array as nccl-tests counts it: all-reduce buffer, all-gather output,
/// reduce-scatter input, what a rank sends in an all-to-all, its own part included.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Axis group = Axis::tensor;
  Bytes bytes;
  // Deduplicated dispatch: of so many copies of a token those for one node cross the network once, and those for one
  // rank reach it once; 0: each copy travels.
  std::int32_t copies = 0;
  std::int32_t most_nodes = 0;   // that the copies of a token go to (node-limited routing); 0: any number
  bool reduced_in_node = false;  // an all-to-all in tiers: what the ranks of a node have is added up before it leaves
};

struct Segment {
  const char* name = "";  // static text: "qkv", "attention-scores", "mlp-down", "norm", ...
  bool is_collective = false;
  Kernel kernel;          // if !is_collective
  Collective collective;  // if is_collective
  /// Of a collective: how many of the following segments a framework with tensor overlap can run behind it.
  std::int32_t hides_behind = 0;
};

/// A run of segments executed `repeat` times (once per transformer block).
struct BodyPart {
  std::vector<Segment> segments;
  std::int32_t repeat = 1;
  /// Where dispatch and combine hide behind the other pass of another micro-batch: both passes of such a block in the
  /// order in which they run together. It says how much of each exchange of `segments`, found by its name, sticks out.
  std::vector<Segment> beside = {};
};

struct Body {
  std::vector<BodyPart> parts;
};

/// Bodies of every (stage, kind) of a plan; equal ones share an id.
struct Bodies {
  std::vector<Body> bodies;
  std::vector<std::vector<BodyId>> of_stage;  // [stage][OpKind]; none if the kind has no body for that stage
  /// Where passes run beside each other (overlap.expert) the bodies of stages are those beside a backward pass, or a
  /// forward pass, with as many blocks of experts; these are what they become with less company (company.hpp).
  struct Company {
    BodyId usual;
    std::int32_t blocks = 0;       // that have company; 0: the pass runs alone
    bool without_weights = false;  // of a forward pass: beside an input gradient
    BodyId body;
  };
  std::vector<Company> company;
};

/// `rank_of_stage` is the stage -> pipeline rank map of the schedule (empty: stage modulo pipeline ranks). It decides
/// which bodies open with the all-gather that ends a scattered transfer (arXiv 2104.04473, section 4.1), and that the
/// optimizer body of a stage covers every stage of its rank. Bodies exist for the compute kinds; recompute only under
/// Recompute::full (selective recompute is part of the backward body).
Bodies make_bodies(const Plan& plan, std::span<const PipelineRank> rank_of_stage = {});

/// Executed floating-point operations, repeats included.
Flops flops_of(const Body& body);

/// Bytes that the kernels read and write at best, repeats included.
Bytes kernel_bytes_of(const Body& body);

/// Trainable parameters that one rank of the tensor group holds of a stage, the last stage's copy of tied embeddings
/// included. What every tensor rank holds whole is counted so, but for norms and the
/// biases of row-parallel layers.
double parameters_per_rank(const Plan& plan, Stage stage);

/// Those of experts among them: reduced and sharded over the expert-data group.
double expert_parameters_per_rank(const Plan& plan, Stage stage);

}  // namespace stagecraft
