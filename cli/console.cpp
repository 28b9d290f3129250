#include "console.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/file_io.hpp"

namespace stagecraft::cli {
namespace {

/// no-color.org: any value but the empty one turns colour off.
bool wants_colour(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool refused =
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return !refused && ::isatty(descriptor) == 1;
}

/// Messages quote what others wrote; a terminal must not obey it.
std::string printable(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte < 0x20 && letter != '\n' && letter != '\t') || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += letter;
    }
  }
  return out;
}

}  // namespace

void occupy_closed_streams() {
  const auto occupy = [](int descriptor, int mode) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) return;
    const int opened = ::open("/dev/null", mode);  // the lowest free number, which is `descriptor`
    if (opened != descriptor && opened >= 0) ::close(opened);
  };
  occupy(STDIN_FILENO, O_RDONLY);
  occupy(STDOUT_FILENO, O_RDONLY);
  occupy(STDERR_FILENO, O_WRONLY);
}

Console make_console(Interrupt& interrupt, const char* executable) {
  return {interrupt, executable == nullptr ? "stagecraft" : executable, wants_colour(STDOUT_FILENO),
          wants_colour(STDERR_FILENO)};
}

void Console::print(std::string_view text) const {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return;
  throw OutputError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void Console::message(std::string_view kind, std::string_view text) const {
  const std::string shown = colour_messages ? fmt::format("\x1b[31m{}\x1b[0m", kind) : std::string(kind);
  const std::string line = fmt::format("stagecraft: {}: {}\n", shown, printable(text));
  std::fwrite(line.data(), 1, line.size(), stderr);  // a message that nobody can take is no error of its own
}

void write_output(const Console& console, const std::string& path, std::string_view text) {
  if (path.empty()) return console.print(text);
  const auto writing = console.interrupt.hold_off();
  write_file_whole(path, text);
}

}  // namespace stagecraft::cli
