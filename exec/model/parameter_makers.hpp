#pragma once
// Shorthand for the shapes that layers are made of.

#include "exec/model/layer.hpp"
#include "exec/model/linear.hpp"
#include "exec/model/norm.hpp"

namespace stagecraft {

/// One global tensor [rows, columns] cut by rows over the group and stacked under others.
struct RowBlock {
  std::string name;
  std::int64_t rows = 0;  // whole
};

/// Weight [sum of rows / t, columns] of a column-parallel layer and its bias if asked for: each rank stacks its part of
/// every block.
Linear make_column_linear(const std::string& name, const std::vector<RowBlock>& blocks, std::int64_t columns, bool bias,
                          double deviation, const TensorGroup& group, ParameterList& parameters);

/// Weight [rows, columns / t] of a row-parallel layer and its bias if asked for.
Linear make_row_linear(const std::string& name, std::int64_t rows, std::int64_t columns, bool bias, double deviation,
                       const TensorGroup& group, ParameterList& parameters);

NormLayer make_norm(const std::string& name, Norm kind, std::int64_t width, const TensorGroup& group,
                    ParameterList& parameters);

/// Table [rows / t, columns], cut by rows.
Parameter* make_table(const std::string& name, std::int64_t rows, std::int64_t columns, double deviation,
                      const TensorGroup& group, ParameterList& parameters);

/// A vector of `rows` numbers that every rank of the group holds.
Parameter* make_vector(const std::string& name, std::int64_t rows, double mean, const TensorGroup& group,
                       ParameterList& parameters);

/// Standard deviation of initial weights, as GPT-2 and Megatron-LM start.
inline constexpr double initial_deviation = 0.02;

}  // namespace stagecraft
