#pragma once
// A file that is written piece by piece and appears complete or not at all.

#include <cstdio>
#include <string>
#include <string_view>

namespace stagecraft {

/// Writes beside `path` and renames over it in `commit`. A `path` that exists and is not a regular file ("/dev/full", a
/// pipe) is written in place. Every failure throws InputError with the path and the system's reason.
class OutputStream {
 public:
  explicit OutputStream(const std::string& path);
  ~OutputStream();  // without a commit nothing is left behind
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_, partial_;  // partial_ is "" when written in place
  std::FILE* file_ = nullptr;
};

}  // namespace stagecraft
