#include "journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/input_error.hpp"
#include "command_line.hpp"

namespace stagecraft::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
}

int open_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno != EEXIST && errno != ENOENT)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  return descriptor;
}

}  // namespace

Journal Journal::create(const std::string& path, const SweepIdentity& identity) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
  if (descriptor < 0 && errno == EEXIST)
    throw UsageError(
        fmt::format("the journal {} of an earlier sweep is there; --resume goes on with it, --restart "
                    "throws it away",
                    path));
  if (descriptor < 0) refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  Journal journal(path, descriptor);
  journal.lock();
  journal.write_line(journal_header(identity));
  return journal;
}

Journal Journal::resume(const std::string& path, const SweepIdentity& identity, JournalContent& found) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND);
  if (descriptor < 0) return create(path, identity);
  Journal journal(path, descriptor);
  journal.lock();
  found = read_journal(path);
  if (::ftruncate(descriptor, static_cast<off_t>(found.whole_bytes)) != 0)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  if (found.whole_bytes == 0) {
    journal.write_line(journal_header(identity));
  } else if (journal_header(found.identity) != journal_header(identity)) {
    refuse(path, "a journal of another sweep (its scenario, axes, options or a file that it reads differ)",
           "the journal of this one; --restart throws it away");
  }
  return journal;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Journal::Journal(Journal&& other) noexcept : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

void Journal::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  throw UsageError(fmt::format("another sweep is writing to the journal {}", path_));
}

void Journal::append(const Point& point) {
  write_line(point_line(point));
}

// In one write, so that a killed process leaves whole lines.
void Journal::write_line(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) refuse(path_, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace stagecraft::cli
