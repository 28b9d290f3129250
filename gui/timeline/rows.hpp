#pragma once
// The rows that a timeline shows, from top to bottom: node > rank > lane. Folding and filtering make a list of visible
// rows; painting and hit tests know only that list.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gui/models/trace_rows.hpp"

namespace stagecraft::gui {

enum class RowKind : std::uint8_t { node, rank, lane, memory };

/// What is drawn in one row. A node or a folded node sums the compute lanes of its ranks; a rank shows its compute
/// lane.
struct Row {
  RowKind kind = RowKind::lane;
  std::uint8_t source = 0;           // which trace
  std::string id;                    // "0/node1/rank3/pipeline2": stable, what is folded is remembered by it
  std::string label;                 // "rank 3"
  std::vector<std::uint32_t> lanes;  // into LoadedTrace::lanes; several are summed; none: a name alone
  std::int32_t rank = -1;
  int depth = 0;  // of the label
  bool foldable = false, folded = false;
  int y = 0, height = 0;  // within the whole list, in logical pixels
};

struct RowOptions {
  std::set<std::string> folded;  // ids
  std::string filter;      // "" or words that a row's id, label or stage has to contain: "rank 3", "node1 pipeline"
  bool memory = true;      // a memory row under every open rank
  int rank_height = 24;    // logical pixels
  bool interleave = true;  // of two traces: each rank over its partner, else one after the other
};

/// Ids folded at first: the lanes of every rank if there are more than a screenful.
std::set<std::string> folded_at_first(const std::vector<const LoadedTrace*>& traces);

std::vector<Row> make_rows(const std::vector<const LoadedTrace*>& traces, const RowOptions& options);
int total_height(const std::vector<Row>& rows);
/// Index of the row at height y, or rows.size().
std::size_t row_at(const std::vector<Row>& rows, int y);

}  // namespace stagecraft::gui
