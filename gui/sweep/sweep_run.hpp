#pragma once
// A sweep or search in a process of its own, and its points as they come.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <optional>

#include "gui/models/background.hpp"
#include "gui/models/journal_tail.hpp"
#include "gui/process/child.hpp"
#include "gui/sweep/sweep_words.hpp"

namespace stagecraft::gui {

/// How far a sweep is; a rate of 0 is not known yet.
struct SweepProgress {
  std::int64_t done = 0, total = 0;
  double per_second = 0, left_s = 0;
};

class SweepRun : public QObject {
  Q_OBJECT

 public:
  explicit SweepRun(QObject* parent = nullptr);

  /// Precondition: not running(). With `resume`, its finished points are kept.
  void start(const QString& program, const SweepOrder& order, bool resume);
  /// Reads what is there without running anything: a journal or the JSON of a sweep or search.
  void open(const QString& path);
  /// Ctrl+C; ended() follows, and finished points stay.
  void interrupt();

  bool running() const { return child_.running(); }
  /// Running, or reading what it left.
  bool busy() const { return child_.running() || tick_.isActive() || opening_.busy(); }
  /// What was started or opened last; none of a result without a journal.
  const std::optional<SweepOrder>& order() const { return order_; }
  /// Whether resuming would compute anything.
  bool unfinished() const;
  SweepProgress progress() const;

 Q_SIGNALS:
  void table_began(const PointTable& table);  // another sweep: its axes, without points, or all of a finished one
  void came(const std::vector<Point>& points);
  void progressed();
  void searching(const SearchProgress& progress);
  void ended(int exit_code, const QString& errors);  // after the last came()
  void opened(const QString& problem);               // "" if all is well

 private:
  void read_on();
  void take_piece(const JournalTail::Piece& piece);
  void child_ended(int exit_code);
  void open_search();
  void read_result(const QString& path, const std::function<void()>& then);

  enum class Seen : std::uint8_t { no, done, failed };

  ChildRun child_;
  std::optional<SweepOrder> order_;
  std::optional<JournalTail> tail_;
  bool opens_ = false;                                     // nothing runs, a journal is read
  std::optional<int> exit_code_;                           // the process has ended, its journal is read to the end
  bool search_left_ = false;                               // an interrupted search of which a journal is there
  std::vector<Seen> seen_;                                 // by number; empty before the journal's first line
  std::int64_t total_ = 0, done_ = 0, done_at_start_ = 0;  // of all points, or of the journal's shard
  QElapsedTimer clock_;
  QTimer tick_;
  QString problem_;    // of the journal
  PointTable result_;  // this and the next: written by opening_'s job
  QString result_problem_;
  Background opening_;
};

}  // namespace stagecraft::gui
