#include "console.hpp"

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

}  // namespace

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
  fmt::print(stderr, "stagecraft: {}: {}\n", shown, text);
}

void write_output(const Console& console, const std::string& path, std::string_view text) {
  if (path.empty()) return console.print(text);
  const auto writing = console.interrupt.hold_off();
  write_file_whole(path, text);
}

}  // namespace stagecraft::cli
