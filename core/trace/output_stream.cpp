#include "trace/output_stream.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

namespace stagecraft {
namespace {

bool is_device_or_pipe(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

}  // namespace

OutputStream::OutputStream(const std::string& named) : path_(written_path(named)) {
  const std::string& path = path_;
  if (!is_device_or_pipe(path)) partial_ = fmt::format("{}.partial-{}", path, ::getpid());
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(InputProblem{path, 0, 0, "", "a directory", "a file to write to", ""});
  }
  file_ = std::fopen(partial_.empty() ? path.c_str() : partial_.c_str(), "wb");
  if (file_ == nullptr) fail();
}

OutputStream::~OutputStream() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!partial_.empty()) std::remove(partial_.c_str());
}

void OutputStream::fail() const {
  throw InputError(InputProblem{path_, 0, 0, "", std::strerror(errno), "a file that can be written", ""});
}

void OutputStream::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail();
}

void OutputStream::commit() {
  if (std::fflush(file_) != 0) fail();
  std::FILE* const file = file_;
  file_ = nullptr;
  const bool closed = std::fclose(file) == 0;
  const bool renamed = closed && (partial_.empty() || std::rename(partial_.c_str(), path_.c_str()) == 0);
  if (renamed) return;
  const int reason = errno;
  if (!partial_.empty()) std::remove(partial_.c_str());
  errno = reason;
  fail();
}

}  // namespace stagecraft
