#pragma once
// Standard output for data, standard error for messages.

#include <stdexcept>
#include <string>
#include <string_view>

#include "interrupt.hpp"

namespace stagecraft::cli {

/// Standard output could not be written for another reason than that its reader has gone.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Console {
  Interrupt& interrupt;
  std::string executable;      // argv[0]
  bool colour_output = false;  // standard output is a terminal, NO_COLOR is unset and TERM is not "dumb"
  bool colour_messages = false;

  /// Writes data. A reader that has gone ("| head") is no error; a full disk throws OutputError.
  void print(std::string_view text) const;

  /// "stagecraft: error: ..." and the like, on standard error.
  void message(std::string_view kind, std::string_view text) const;
};

/// Opens /dev/null in place of standard streams that are closed, so that no file of ours takes their number and what is
/// meant for them. Writing to a closed standard output still fails; messages for a closed standard error are lost.
void occupy_closed_streams();

Console make_console(Interrupt& interrupt, const char* executable);

/// To `path`, whole or not at all, or to standard output if it is "".
void write_output(const Console& console, const std::string& path, std::string_view text);

}  // namespace stagecraft::cli
