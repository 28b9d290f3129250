#pragma once
// The journal of a sweep, read as it grows; of a search its first line only.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/sweep_journal.hpp"

namespace stagecraft::gui {

/// Reads whole lines only, a piece at a time that takes milliseconds.
class JournalTail {
 public:
  explicit JournalTail(std::string path);

  const std::string& path() const { return path_; }
  /// Once its first line has been read.
  const std::optional<SweepIdentity>& identity() const { return identity_; }

  struct Piece {
    std::vector<Point> points;
    bool more = false;  // there was more to read
  };
  /// What was written since; nothing while the file is not there. Throws InputError if it is no journal.
  Piece read();

 private:
  void take_line(const std::string& line, Piece& piece);

  std::string path_;
  std::int64_t offset_ = 0;  // of the first line that was not read whole: what a killed sweep cut off is written anew
  std::size_t at_once_;
  std::optional<SweepIdentity> identity_;
};

}  // namespace stagecraft::gui
