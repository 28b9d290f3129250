#pragma once
// What the journal of a sweep or search says: which one it is in its first line, and what was computed, in the order in
// which it came: of a sweep its finished points, one line each; of a search see search/search_record.hpp.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "search/shard.hpp"
#include "search/table.hpp"

namespace stagecraft {

/// Everything that decides the figures of a sweep's points or a search's candidates; two journals belong together if it
/// is equal.
struct SweepIdentity {
  std::string scenario;  // as the user named the file; "" for a search that has a model and a cluster among its options
  std::string inputs;    // checksum of every file that was read, and the program's version
  std::string kind;      // "predicted" or "estimated"
  std::vector<std::string> fixed;
  std::vector<SweepAxis> axes;  // of a search: the values that it was restricted to
  std::vector<std::string> objectives;
  Shard shard = {};                       // of a sweep
  bool search = false;                    // else a sweep
  std::vector<std::string> options = {};  // of a search: the others, as its command line takes them: "--gpus", "64"
};

/// "sweep" or "search".
std::string verb_of(const SweepIdentity& identity);

/// The first line of a journal, and back. Throws InputError (file `path`) if it is none.
std::string journal_header(const SweepIdentity& identity);
SweepIdentity read_journal_header(const std::string& line, const std::string& path);

/// Calls `begin` with what the first line says and `take` with every later line that is whole. Returns the bytes up to
/// the last whole line: what kill -9 cut off is left out. Throws InputError if the file is no journal.
std::size_t read_journal_lines(const std::string& path, const std::function<void(const SweepIdentity&)>& begin,
                               const std::function<void(const std::string& line)>& take);

/// A later line of a sweep's: throws InputError (file `path`) unless it is a point of that sweep.
Point read_journal_point(const std::string& line, const SweepIdentity& identity, const std::string& path);

struct JournalContent {
  SweepIdentity identity;
  std::map<std::int64_t, Point> points;  // by number
  std::size_t whole_bytes = 0;
};

/// Throws InputError if the file is no journal of a sweep.
JournalContent read_journal(const std::string& path);

}  // namespace stagecraft
