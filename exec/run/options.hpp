#pragma once
// What the executor is told beyond the scenario.

#include <cstdint>
#include <optional>
#include <string>

#include "exec/zero/adamw.hpp"
#include "schedule/op.hpp"

namespace stagecraft {

/// A fault made on purpose, to see that the job ends as it should.
struct Drill {
  enum class Kind : std::uint8_t { none, raise, stall, stop, die } kind = Kind::none;  // stop: SIGSTOP, die: SIGKILL
  std::int32_t rank = 0;
  std::int32_t step = 0;
  std::int32_t position = 0;  // in the rank's program; its length: after the last operation
};

struct ExecuteOptions {
  std::int32_t steps = 1;   // measured
  std::int32_t warmup = 0;  // run before them, not in the trace
  std::uint64_t seed = 1;   // of initial weights and synthetic tokens
  std::string data;         // a token file; empty: synthetic tokens
  AdamWOptions optimizer;
  double initial_loss_scale = 65536;  // fp16 only
  at::Device device = at::kCPU;
  std::optional<at::ScalarType>
      numbers;  // all values, gradients and states in this type instead of the scenario's precision
  Drill drill;
};

}  // namespace stagecraft
