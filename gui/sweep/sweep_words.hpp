#pragma once
// The command line of a sweep or search, and what its exit codes mean.

#include <QString>
#include <QStringList>

#include "search/sweep_journal.hpp"

namespace stagecraft::gui {

enum class SweepKind : std::uint8_t { sweep, search };

/// What one is started with.
struct SweepOrder {
  SweepKind kind = SweepKind::sweep;
  QString scenario;         // a file
  QStringList axes, fixed;  // "batch.micro=1,2,4", "zero_stage=1"
  QStringList options;      // others, as the command line takes them: "--shard", "2/8"
  QStringList objectives = {"tokens_per_s", "peak_memory_bytes"};
  bool estimate = false;  // closed form instead of simulation
  QString output;         // ends in .json, .csv or .md
  QString journal;
};

/// The order that a journal was begun with, to go on with it.
SweepOrder order_of(const SweepIdentity& identity, const QString& journal);

QStringList sweep_arguments(const SweepOrder& order, bool resume);

/// One sentence for a sweep that ended with this code, and why as its last words on standard error say; "" for success.
QString failure_text(SweepKind kind, int exit_code, const QString& errors);

/// The rate and time left in what a search with --progress wrote last; "" if there is none.
struct SearchProgress {
  QString text;
  int done = 0, total = 0;
};
SearchProgress search_progress(const QString& written);

}  // namespace stagecraft::gui
