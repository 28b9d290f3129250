#include "gui/sweep/sweep_run.hpp"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

namespace stagecraft::gui {
namespace {

constexpr int look_again_ms = 150;
constexpr std::size_t largest_result = std::size_t{512} << 20;

PointTable table_of(const SweepIdentity& identity) {
  return {identity.scenario, identity.kind, identity.fixed, identity.axes, identity.objectives, {}};
}

}  // namespace

SweepRun::SweepRun(QObject* parent) : QObject(parent) {
  tick_.setSingleShot(true);
  connect(&tick_, &QTimer::timeout, this, &SweepRun::read_on);
  connect(&child_, &ChildRun::wrote, this, [this](const QString& text) {
    if (!order_ || order_->kind != SweepKind::search) return;
    if (const SearchProgress progress = search_progress(text); progress.total > 0) Q_EMIT searching(progress);
  });
  connect(&child_, &ChildRun::ended, this, &SweepRun::child_ended);
}

void SweepRun::start(const QString& program, const SweepOrder& order, bool resume) {
  opening_.cancel();
  opens_ = false;
  exit_code_.reset();
  order_ = order;
  search_left_ = false;
  const bool sweep = order.kind == SweepKind::sweep;
  const bool goes_on = sweep && resume && tail_ && tail_->path() == order.journal.toStdString();
  if (!goes_on) {
    tail_.reset();
    seen_.clear();
    total_ = done_ = 0;
  }
  std::replace(seen_.begin(), seen_.end(), Seen::failed, Seen::no);  // tried again
  done_at_start_ = done_;
  if (sweep && !goes_on) tail_.emplace(order.journal.toStdString());
  clock_.start();
  child_.start(program, sweep_arguments(order, resume));
  if (sweep) tick_.start(look_again_ms);
}

void SweepRun::open(const QString& path) {
  const bool has_journal = QFileInfo::exists(path + ".journal");
  opens_ = true;
  exit_code_.reset();
  order_.reset();
  search_left_ = false;
  seen_.clear();
  total_ = done_ = 0;
  if (path.endsWith(".journal") || has_journal) {
    tail_.emplace((has_journal ? path + ".journal" : path).toStdString());
    return tick_.start(0);
  }
  tail_.reset();
  read_result(path, [this] { Q_EMIT opened(result_problem_); });
}

void SweepRun::interrupt() {
  child_.interrupt();
}

bool SweepRun::unfinished() const {
  return !running() && order_ && (search_left_ || done_ < total_);
}

SweepProgress SweepRun::progress() const {
  SweepProgress progress{done_, total_, 0, 0};
  const double seconds = static_cast<double>(clock_.isValid() ? clock_.elapsed() : 0) / 1000;
  const auto came = static_cast<double>(done_ - done_at_start_);
  if (running() && came > 0 && seconds > 0) {
    progress.per_second = came / seconds;
    progress.left_s = static_cast<double>(progress.total - done_) / progress.per_second;
  }
  return progress;
}

void SweepRun::read_on() {
  JournalTail::Piece piece;
  problem_.clear();
  try {
    piece = tail_->read();
    if (opens_ && !tail_->identity() && !piece.more)
      throw InputError(InputProblem{tail_->path(), 0, 0, "", "no sweep", "a journal of stagecraft sweep", ""});
    take_piece(piece);
  } catch (const InputError& error) {
    problem_ = QString::fromStdString(error.what());
    piece.more = false;
  }
  if (piece.more) return tick_.start(0);
  if (opens_ && problem_.isEmpty() && order_ && order_->kind == SweepKind::search) return open_search();
  if (opens_) return Q_EMIT opened(problem_);
  if (exit_code_) return Q_EMIT ended(*std::exchange(exit_code_, {}), problem_ + child_.errors());
  if (running()) tick_.start(look_again_ms);
}

void SweepRun::take_piece(const JournalTail::Piece& piece) {
  if (tail_->identity() && seen_.empty()) {
    const SweepIdentity& identity = *tail_->identity();
    if (!order_) order_ = order_of(identity, QString::fromStdString(tail_->path()));
    if (identity.search) return;
    const std::int64_t all = count_points(identity.axes);
    seen_.assign(static_cast<std::size_t>(all), Seen::no);
    total_ = count_points(identity.shard, all);
    Q_EMIT table_began(table_of(identity));
  }
  for (const Point& point : piece.points) {
    Seen& seen = seen_[static_cast<std::size_t>(point.number)];
    if (seen != Seen::done && point.status != PointStatus::failed) ++done_;
    seen = point.status == PointStatus::failed && seen != Seen::done ? Seen::failed : Seen::done;
  }
  if (!piece.points.empty()) Q_EMIT came(piece.points);
  Q_EMIT progressed();
}

/// Its points are in its result only, which is written when it is done: after the last line of its journal.
void SweepRun::open_search() {
  const QFileInfo result(order_->output), journal(order_->journal);
  if (result.exists() && result.lastModified() >= journal.lastModified())
    return read_result(order_->output, [this] { Q_EMIT opened(result_problem_); });
  search_left_ = true;
  Q_EMIT opened({});
}

void SweepRun::child_ended(int exit_code) {
  if (order_->kind == SweepKind::sweep) {
    exit_code_ = exit_code;
    return tick_.start(0);
  }
  constexpr int nothing_fits = 4;
  if (exit_code != 0 && exit_code != nothing_fits) {
    search_left_ = QFileInfo::exists(order_->journal);
    return Q_EMIT ended(exit_code, child_.errors());
  }
  read_result(order_->output, [this, exit_code] { Q_EMIT ended(exit_code, result_problem_ + child_.errors()); });
}

void SweepRun::read_result(const QString& path, const std::function<void()>& then) {
  opening_.run(
      [this, file = path.toStdString()](const std::atomic<bool>&) {
        result_problem_.clear();
        try {
          result_ = read_points_json(read_file(file, largest_result), file);
        } catch (const std::exception& error) {
          result_problem_ = QString::fromUtf8(error.what());
        }
      },
      [this, then] {
        if (result_problem_.isEmpty()) Q_EMIT table_began(std::exchange(result_, {}));
        then();
      });
}

}  // namespace stagecraft::gui
