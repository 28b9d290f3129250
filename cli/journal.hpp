#pragma once
// The finished points of a sweep, one line each, appended as they come: what Ctrl+C and kill -9 leave.

#include <string>

#include "search/sweep_journal.hpp"

namespace stagecraft::cli {

/// Open for appending, locked against other sweeps.
class Journal {
 public:
  /// A new journal; throws UsageError if one is there, InputError if it cannot be written.
  static Journal create(const std::string& path, const SweepIdentity& identity);

  /// Goes on with the one that is there, or creates it. Throws InputError if it belongs to another sweep. `found` gets
  /// its points.
  static Journal resume(const std::string& path, const SweepIdentity& identity, JournalContent& found);

  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;

  /// The system has it when it returns: it outlives this process however that ends.
  void append(const Point& point);

 private:
  Journal(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  void write_line(const std::string& line);
  void lock();

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace stagecraft::cli
