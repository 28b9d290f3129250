#include "base/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path.empty() ? "\"\"" : path, 0, 0, "", got, expected, ""});
}

std::string reason() {
  return std::strerror(errno);
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int value() const { return value_; }
  bool close() {
    const int closed = ::close(value_);
    value_ = -1;
    return closed == 0;
  }

 private:
  int value_;
};

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void write_in_place(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.value() < 0 || !write_all(file.value(), text)) refuse(path, reason(), "a path that can be written");
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.value() < 0) refuse(path, reason(), "a readable file");
  struct stat status {};
  if (::fstat(file.value(), &status) != 0) refuse(path, reason(), "a readable file");
  if (!S_ISREG(status.st_mode)) refuse(path, S_ISDIR(status.st_mode) ? "a directory" : "a special file", "a file");
  const std::string at_most = fmt::format("a file of at most {} bytes", limit);
  if (static_cast<std::size_t>(status.st_size) > limit)
    refuse(path, fmt::format("a file of {} bytes", status.st_size), at_most);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.value(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, reason(), "a readable file");
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

std::string written_path(const std::string& path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(at, error); ++links) {
    if (links == most_links) refuse(path, "symbolic links in a circle", "a path of a file to write");
    const std::filesystem::path target = std::filesystem::read_symlink(at, error);
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
  return at.string();
}

void write_file_whole(const std::string& named, std::string_view text) {
  const std::string path = written_path(named);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(path, "a directory", "a path of a file to write");
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, text);

  std::string temporary = path + ".XXXXXX";
  Descriptor file(::mkstemp(temporary.data()));
  if (file.value() < 0) refuse(path, reason(), "a path in a directory that can be written");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? status.st_mode & 07777 : 0666 & ~mask;
  const bool done = write_all(file.value(), text) && ::fchmod(file.value(), mode) == 0 && file.close() &&
                    ::rename(temporary.c_str(), path.c_str()) == 0;
  if (done) return;
  const std::string why = reason();
  ::unlink(temporary.c_str());
  refuse(path, why, "a path that can be written");
}

void check_can_write(const std::string& named) {
  const std::string path = written_path(named);
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) refuse(path, "a directory", "a path of a file to write");
  if (exists && !S_ISREG(status.st_mode)) return;  // a pipe, a device: known when it is written
  std::string temporary = path + ".XXXXXX";
  const Descriptor file(::mkstemp(temporary.data()));
  if (file.value() < 0) refuse(path, reason(), "a path in a directory that can be written");
  ::unlink(temporary.c_str());
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

bool file_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

}  // namespace stagecraft
