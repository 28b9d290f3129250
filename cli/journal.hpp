#pragma once
// What a sweep or search has computed, a line each, appended as it comes: what Ctrl+C and kill -9 leave.

#include <functional>
#include <optional>
#include <string>

#include "command_line.hpp"
#include "search/sweep_journal.hpp"

namespace stagecraft::cli {

/// Open for appending, locked against other processes.
class Journal {
 public:
  /// A new journal; throws UsageError if one is there, InputError if it cannot be written.
  static Journal create(const std::string& path, const SweepIdentity& identity);

  /// Goes on with the one that is there, or creates it. Throws InputError if it belongs to another sweep or search.
  /// `take` gets its lines after the first.
  static Journal resume(const std::string& path, const SweepIdentity& identity,
                        const std::function<void(const std::string& line)>& take);

  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;

  /// One line or several, without the last newline. The system has them when it returns: they outlive this process
  /// however that ends.
  void append(const std::string& lines);

 private:
  Journal(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  void lock();

  std::string path_;
  int descriptor_ = -1;
};

/// --journal, --resume and --restart of a verb, "sweep" or "search".
struct JournalOptions {
  std::string path;  // "": none is kept
  bool resume = false, restart = false;
};
void add_journal_options(CLI::App& app, JournalOptions& options, const std::string& verb);

/// Throws UsageError for options that contradict each other. The journal of an output is OUTPUT.journal unless told
/// otherwise; a device or a pipe has none.
void settle_journal(JournalOptions& options, const std::string& output, const std::string& verb);

/// Nothing if none is kept. Otherwise as Journal::resume or create; with `restart` an earlier one is removed, if it is
/// a journal at all.
std::optional<Journal> open_journal(const JournalOptions& options, const SweepIdentity& identity,
                                    const std::function<void(const std::string& line)>& take);

}  // namespace stagecraft::cli
