#pragma once
// Training samples in a fixed order: sequence n of the run is the same whatever the layout.

#include <cstdint>
#include <string>
#include <vector>

#include "exec/model/stage_model.hpp"
#include "exec/run/options.hpp"
#include "plan/plan.hpp"

namespace stagecraft {

/// Tokens from a file of 16-bit or 32-bit little-endian integers, or made up from a seed.
class TokenSource {
 public:
  /// Synthetic: token t of sequence n is a function of (seed, n, t).
  TokenSource(std::int64_t vocabulary, std::int64_t length, std::uint64_t seed);
  /// Throws InputError if the file can't be read, is shorter than one sequence, or holds a token outside the
  /// vocabulary. Files named *.u32 hold 4-byte tokens, all others 2-byte tokens.
  static TokenSource from_file(const std::string& path, std::int64_t vocabulary, std::int64_t length);

  /// length + 1 tokens of sequence n: inputs and, shifted by one, labels. A file is read from its start again at its
  /// end.
  void read(std::int64_t sequence, std::int64_t* tokens) const;

 private:
  std::int64_t vocabulary_, length_;
  std::uint64_t seed_ = 0;
  std::vector<std::int32_t> tokens_;  // empty: synthetic
};

/// What a run is told to read: its token file, or synthetic tokens. Throws InputError.
TokenSource token_source(const Plan& plan, const ExecuteOptions& options);

/// Micro-batch `micro_batch` of data rank `data_rank` in step `step` (counted from 0, warm-up included): sequences
/// step * global + data_rank * (m * micro) + micro_batch * micro + i.
Batch make_batch(const Plan& plan, const ModelShape& shape, const TokenSource& source, std::int64_t step,
                 std::int32_t data_rank, std::int32_t micro_batch);

/// The same for plain layers: normal samples and targets of the widths of the first and the last layer.
Batch make_plain_batch(const Plan& plan, const ModelShape& shape, std::uint64_t seed, std::int64_t step,
                       std::int32_t data_rank, std::int32_t micro_batch);

/// What one stage reads of a micro-batch: inputs if it is the first, labels or targets if it is the last.
Batch make_stage_batch(const Plan& plan, const ModelShape& shape, const TokenSource& source, std::uint64_t seed,
                       const StageModel& stage, std::int64_t step, std::int32_t data_rank, std::int32_t micro_batch);

}  // namespace stagecraft
