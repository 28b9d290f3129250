#pragma once
// PyTorch's two pipelining CSV formats (torch/distributed/pipelining/schedules.py, _load_csv and _dump_csv): one row
// per rank, one cell per operation, no header; the stage -> rank map follows from the rows.

#include <optional>
#include <string>
#include <string_view>

#include "base/findings.hpp"
#include "schedule/schedule.hpp"

namespace stagecraft {

enum class CsvForm : std::uint8_t {
  compute_only,   // F, I, W, B, OVERLAP_F_B; a blank cell is a deliberate idle slot and is dropped
  compute_comms,  // also UNSHARD, RESHARD, REDUCE_GRAD, SEND_*, RECV_*; no blank cells
};

struct CsvOptions {
  std::string file = "csv";        // for messages
  std::optional<CsvForm> form;     // none: compute_comms if any cell holds communication
  bool legacy_letters = false;     // old tables: B is the input gradient, BW the full backward
  std::size_t most_problems = 20;  // reported at once
};

/// Reads a table. Every cell must be one operation as a whole: "0F0", "(0F7;7B3)OVERLAP_F_B", "1UNSHARD"; rows may
/// differ in length and end in \n or \r\n. A stage that stands on two rows, s and p-1-s, is read as the two replicas of
/// a bidirectional schedule. The result is named "csv"; channels and bytes are not part of the format. Throws
/// InputError with file, row, column and cell, all problems at once.
Schedule parse_csv_schedule(std::string_view text, const CsvOptions& options);
Schedule load_csv_schedule(const std::string& path, CsvOptions options);

/// Operations that the format has no word for: recompute, reduction of tied embeddings, optimizer step, gathered
/// parameters.
Findings refuse_csv(const Schedule& schedule);

/// One line per rank, lines end in \r\n as csv.writer ends them. Precondition: refuse_csv is empty.
std::string to_csv(const Schedule& schedule);

}  // namespace stagecraft
