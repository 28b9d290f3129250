#pragma once
// What the journal of a sweep says: which sweep it is, and its finished points, one line each, in the order they came.

#include <map>
#include <string>
#include <vector>

#include "search/table.hpp"

namespace stagecraft {

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

/// The first line of a journal, and back. Throws InputError (file `path`) if it is none.
std::string journal_header(const SweepIdentity& identity);
SweepIdentity read_journal_header(const std::string& line, const std::string& path);

/// A later line: throws InputError (file `path`) unless it is a point of that sweep.
Point read_journal_point(const std::string& line, const SweepIdentity& identity, const std::string& path);

/// Throws InputError if the file is no journal. A last line that was cut off is left out.
JournalContent read_journal(const std::string& path);

}  // namespace stagecraft
