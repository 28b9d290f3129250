#include "exec/run/data.hpp"

#include <string>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "exec/model/parameter.hpp"
#include "schedule/executable.hpp"

namespace stagecraft {

namespace {

constexpr std::size_t largest_file = std::size_t{4} << 30;

[[noreturn]] void fail(const std::string& path, std::string got, std::string expected) {
  throw InputError(InputProblem{path, 0, 0, "", std::move(got), std::move(expected), ""});
}

std::int64_t first_sequence(const Plan& plan, std::int64_t step, std::int32_t data_rank, std::int32_t micro_batch) {
  const std::int64_t micro = plan.run.batch.micro;
  return step * plan.run.batch.global + data_rank * (plan.micro_batches * micro) + micro_batch * micro;
}

at::Tensor normal_rows(const ModelShape& shape, const std::string& name, std::int64_t rows, std::int64_t columns,
                       std::uint64_t seed, std::int64_t first_row) {
  Parameter numbers;
  numbers.rows = rows;
  numbers.columns = columns;
  numbers.deviation = 1;
  numbers.pieces.push_back({name, first_row + rows, columns, first_row, rows, 0, columns, 0});
  const at::Tensor host = at::empty({rows, columns}, at::TensorOptions().dtype(shape.dtype));
  fill_initial(numbers, seed, host);
  return host.to(shape.device);
}

double bytes_per_number(const Plan& plan) {
  return plan.run.precision == Precision::fp32 || plan.run.precision == Precision::tf32 ? 4 : 2;
}

at::Tensor plain_samples(const Plan& plan, const ModelShape& shape, std::uint64_t seed, std::int64_t first) {
  const std::int64_t in = plain_widths(plan.model.plain_layers.front(), bytes_per_number(plan)).in;
  return normal_rows(shape, "samples", shape.sequences, in, seed, first);
}

at::Tensor plain_targets(const Plan& plan, const ModelShape& shape, std::uint64_t seed, std::int64_t first) {
  const std::int64_t out = plain_widths(plan.model.plain_layers.back(), bytes_per_number(plan)).out;
  return normal_rows(shape, "targets", shape.sequences, out, seed, first);
}

}  // namespace

TokenSource::TokenSource(std::int64_t vocabulary, std::int64_t length, std::uint64_t seed)
    : vocabulary_(vocabulary), length_(length), seed_(seed) {}

TokenSource TokenSource::from_file(const std::string& path, std::int64_t vocabulary, std::int64_t length) {
  const std::string bytes = read_file(path, largest_file);
  const std::size_t width = path.ends_with(".u32") ? 4 : 2;
  TokenSource source(vocabulary, length, 0);
  if (bytes.size() % width != 0)
    fail(path, std::to_string(bytes.size()) + " bytes", "whole tokens of " + std::to_string(width) + " bytes");
  source.tokens_.reserve(bytes.size() / width);
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::uint32_t token = 0;
    for (std::size_t i = 0; i < width; ++i)
      token |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    if (token >= static_cast<std::uint64_t>(vocabulary)) {
      fail(path, "token " + std::to_string(token) + " at byte " + std::to_string(at),
           "tokens below the vocabulary of " + std::to_string(vocabulary));
    }
    source.tokens_.push_back(static_cast<std::int32_t>(token));
  }
  if (static_cast<std::int64_t>(source.tokens_.size()) < length + 1) {
    fail(path, std::to_string(source.tokens_.size()) + " tokens",
         "at least one sequence and its next token, " + std::to_string(length + 1));
  }
  return source;
}

void TokenSource::read(std::int64_t sequence, std::int64_t* tokens) const {
  if (tokens_.empty()) {
    const std::uint64_t stream = name_hash("tokens") ^ (seed_ * 0x9E3779B97F4A7C15ULL);
    for (std::int64_t t = 0; t <= length_; ++t) {
      const auto n = static_cast<std::uint64_t>(sequence * (length_ + 1) + t);
      tokens[t] = static_cast<std::int64_t>(random_word(stream, n) % static_cast<std::uint64_t>(vocabulary_));
    }
    return;
  }
  const std::int64_t sequences = (static_cast<std::int64_t>(tokens_.size()) - 1) / length_;
  const std::int64_t begin = sequence % sequences * length_;
  for (std::int64_t t = 0; t <= length_; ++t) tokens[t] = tokens_[static_cast<std::size_t>(begin + t)];
}

TokenSource token_source(const Plan& plan, const ExecuteOptions& options) {
  if (options.data.empty())
    return {std::max<std::int64_t>(plan.model.vocabulary, 1), plan.run.sequence_length, options.seed};
  return TokenSource::from_file(options.data, plan.model.vocabulary, plan.run.sequence_length);
}

Batch make_batch(const Plan& plan, const ModelShape& shape, const TokenSource& source, std::int64_t step,
                 std::int32_t data_rank, std::int32_t micro_batch) {
  const std::int64_t first = first_sequence(plan, step, data_rank, micro_batch);
  const at::Tensor read = at::empty({shape.sequences, shape.length + 1}, at::TensorOptions().dtype(at::kLong));
  for (std::int64_t i = 0; i < shape.sequences; ++i) {
    source.read(first + i, read.mutable_data_ptr<std::int64_t>() + i * (shape.length + 1));
  }
  Batch batch;
  batch.tokens = read.narrow(1, 0, shape.length).reshape({-1}).to(shape.device);
  batch.labels = read.narrow(1, 1, shape.length).reshape({-1}).to(shape.device);
  return batch;
}

Batch make_plain_batch(const Plan& plan, const ModelShape& shape, std::uint64_t seed, std::int64_t step,
                       std::int32_t data_rank, std::int32_t micro_batch) {
  const std::int64_t first = first_sequence(plan, step, data_rank, micro_batch);
  Batch batch;
  batch.samples = plain_samples(plan, shape, seed, first);
  batch.targets = plain_targets(plan, shape, seed, first);
  return batch;
}

Batch make_stage_batch(const Plan& plan, const ModelShape& shape, const TokenSource& source, std::uint64_t seed,
                       const StageModel& stage, std::int64_t step, std::int32_t data_rank, std::int32_t micro_batch) {
  if (!stage.first && !stage.last) return {};
  if (plan.model.plain_layers.empty()) return make_batch(plan, shape, source, step, data_rank, micro_batch);
  const std::int64_t first = first_sequence(plan, step, data_rank, micro_batch);
  Batch batch;
  if (stage.first) batch.samples = plain_samples(plan, shape, seed, first);
  if (stage.last) batch.targets = plain_targets(plan, shape, seed, first);
  return batch;
}

}  // namespace stagecraft
