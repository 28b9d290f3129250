#pragma once
// The finished points of a sweep, one line each, appended as they come: what Ctrl+C and kill -9 leave.

#include <map>
#include <string>

#include "search/table.hpp"

namespace stagecraft::cli {

/// Everything that decides the figures of a sweep's points; two journals belong together if it is equal.
struct SweepIdentity {
  std::string scenario;  // as the user named the file
  std::string inputs;    // checksum of every file that was read, and the program's version
  std::string kind;      // "predicted" or "estimated"
  std::vector<std::string> fixed;
  std::vector<SweepAxis> axes;
  std::vector<std::string> objectives;
};

struct JournalContent {
  SweepIdentity identity;
  std::map<std::int64_t, Point> points;  // by number
  std::size_t whole_bytes = 0;           // up to the last whole line
};

/// Throws InputError if the file is no journal. A last line that was cut off is left out.
JournalContent read_journal(const std::string& path);

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
