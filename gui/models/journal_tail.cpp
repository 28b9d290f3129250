#include "gui/models/journal_tail.hpp"

#include <fstream>

#include "base/input_error.hpp"

namespace stagecraft::gui {
namespace {

constexpr std::size_t piece_bytes = std::size_t{256} << 10;
constexpr std::size_t longest_line = std::size_t{64} << 20;

}  // namespace

JournalTail::JournalTail(std::string path) : path_(std::move(path)), at_once_(piece_bytes) {}

JournalTail::Piece JournalTail::read() {
  Piece piece;
  std::ifstream file(path_, std::ios::binary);
  if (!file) return piece;
  file.seekg(offset_);
  std::string bytes(at_once_, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  piece.more = bytes.size() == at_once_;
  std::size_t begin = 0;
  for (std::size_t end = bytes.find('\n'); end != std::string::npos; end = bytes.find('\n', begin)) {
    take_line(bytes.substr(begin, end - begin), piece);
    begin = end + 1;
  }
  offset_ += static_cast<std::int64_t>(begin);
  if (identity_ && identity_->search) piece.more = false;
  at_once_ = begin == 0 && piece.more ? 2 * at_once_ : piece_bytes;
  if (at_once_ > longest_line || (!identity_ && !bytes.empty() && !bytes.starts_with('{')))
    throw InputError(InputProblem{path_, 0, 0, "", bytes.substr(0, 60), "a journal of stagecraft sweep or search", ""});
  return piece;
}

void JournalTail::take_line(const std::string& line, Piece& piece) {
  if (!identity_) {
    identity_ = read_journal_header(line, path_);
  } else if (!identity_->search) {
    piece.points.push_back(read_journal_point(line, *identity_, path_));
  }
}

}  // namespace stagecraft::gui
