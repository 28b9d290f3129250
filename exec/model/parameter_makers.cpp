#include "exec/model/parameter_makers.hpp"

namespace stagecraft {

namespace {

/// Stacks this rank's rows of every block; `columns` 1 and `vector` for a bias.
Parameter stacked(const std::string& name, const std::vector<RowBlock>& blocks, const char* suffix,
                  std::int64_t columns, const TensorGroup& group) {
  Parameter parameter;
  parameter.name = name + suffix;
  parameter.columns = columns;
  for (const RowBlock& block : blocks) {
    const std::int64_t share = block.rows / group.size();
    parameter.pieces.push_back(
        {block.name + suffix, block.rows, columns, group.index() * share, share, 0, columns, parameter.rows});
    parameter.rows += share;
  }
  return parameter;
}

}  // namespace

Linear make_column_linear(const std::string& name, const std::vector<RowBlock>& blocks, std::int64_t columns, bool bias,
                          double deviation, const TensorGroup& group, ParameterList& parameters) {
  Parameter weight = stacked(name, blocks, ".weight", columns, group);
  weight.deviation = deviation;
  Linear linear;
  linear.weight = &parameters.emplace_back(std::move(weight));
  if (bias) {
    Parameter offset = stacked(name, blocks, ".bias", 1, group);
    offset.vector = true;
    linear.bias = &parameters.emplace_back(std::move(offset));
  }
  return linear;
}

Linear make_row_linear(const std::string& name, std::int64_t rows, std::int64_t columns, bool bias, double deviation,
                       const TensorGroup& group, ParameterList& parameters) {
  Parameter weight;
  weight.name = name + ".weight";
  weight.rows = rows;
  weight.columns = columns / group.size();
  weight.deviation = deviation;
  weight.pieces.push_back({weight.name, rows, columns, 0, rows, group.index() * weight.columns, weight.columns, 0});
  Linear linear;
  linear.weight = &parameters.emplace_back(std::move(weight));
  if (bias) linear.bias = make_vector(name + ".bias", rows, 0, group, parameters);
  return linear;
}

NormLayer make_norm(const std::string& name, Norm kind, std::int64_t width, const TensorGroup& group,
                    ParameterList& parameters) {
  NormLayer norm;
  norm.kind = kind;
  norm.weight = make_vector(name + ".weight", width, 1, group, parameters);
  if (kind == Norm::layer_norm) norm.bias = make_vector(name + ".bias", width, 0, group, parameters);
  return norm;
}

Parameter* make_table(const std::string& name, std::int64_t rows, std::int64_t columns, double deviation,
                      const TensorGroup& group, ParameterList& parameters) {
  Parameter table = stacked(name, {{name, rows}}, ".weight", columns, group);
  table.deviation = deviation;
  return &parameters.emplace_back(std::move(table));
}

Parameter* make_vector(const std::string& name, std::int64_t rows, double mean, const TensorGroup& group,
                       ParameterList& parameters) {
  Parameter parameter;
  parameter.name = name;
  parameter.rows = rows;
  parameter.mean = mean;
  parameter.vector = true;
  parameter.role = group.sequence_parallel() ? TensorRole::partial : TensorRole::replicated;
  parameter.pieces.push_back({name, rows, 1, 0, rows, 0, 1, 0});
  return &parameters.emplace_back(std::move(parameter));
}

}  // namespace stagecraft
