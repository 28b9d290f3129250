#include "find_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace stagecraft::cli {
namespace {

namespace fs = std::filesystem;

bool runnable(const fs::path& path) {
  std::error_code ignored;
  return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, ignored);
}

}  // namespace

std::string find_program(const std::string& name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error && runnable(self.parent_path() / name)) return self.parent_path() / name;
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    const fs::path candidate = fs::path(folders.substr(0, colon)) / name;
    if (runnable(candidate)) return candidate;
    folders = colon == std::string::npos ? "" : folders.substr(colon + 1);
  }
  return "";
}

}  // namespace stagecraft::cli
