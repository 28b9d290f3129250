#include "base/file_io.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "refused.hpp"

using namespace stagecraft;
using namespace stagecraft::test;

namespace {

namespace fs = std::filesystem;

// An empty directory of this test process, removed at the end.
class Directory {
 public:
  explicit Directory(const std::string& name) : path_(fs::path(STAGECRAFT_BINARY_DIR) / "file_io" / name) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    std::size_t count = 0;
    for (fs::directory_iterator entry(path_), end; entry != end; ++entry) ++count;
    return count;
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("what was written is read back, and no other file is left") {
  const Directory directory("whole");
  const std::string text("a\0b\n", 4);
  write_file_whole(directory.file("out"), text);
  CHECK(read_file(directory.file("out")) == text);
  write_file_whole(directory.file("out"), "shorter");
  CHECK(read_file(directory.file("out")) == "shorter");
  CHECK(directory.entries() == 1);
}

TEST_CASE("writing into a directory that does not exist leaves nothing") {
  const Directory directory("missing");
  const InputProblem problem = refused([&] { write_file_whole(directory.file("no/out"), "text"); });
  CHECK(problem.file == directory.file("no/out"));
  CHECK(contains(problem.got, "No such file"));
  CHECK(directory.entries() == 0);
}

TEST_CASE("writing over a directory is refused") {
  const Directory directory("over");
  CHECK(refused([&] { write_file_whole(directory.file("."), "text"); }).got == "a directory");
}

TEST_CASE("reading refuses what is no file, and files over the limit") {
  const Directory directory("read");
  CHECK(contains(refused([&] { read_file(directory.file("none")); }).got, "No such file"));
  CHECK(refused([&] { read_file(directory.file(".")); }).got == "a directory");
  CHECK(refused([&] { read_file("/dev/zero"); }).got == "a special file");
  write_file_whole(directory.file("ten"), "0123456789");
  CHECK(read_file(directory.file("ten"), 10) == "0123456789");
  CHECK(refused([&] { read_file(directory.file("ten"), 9); }).got == "a file of 10 bytes");
  CHECK(file_exists(directory.file("ten")));
  CHECK_FALSE(file_exists(directory.file(".")));
}

TEST_CASE("a device is written in place") {
  CHECK_NOTHROW(write_file_whole("/dev/null", "text"));
}

TEST_CASE("two paths to one file are the same file, a missing one is the same as none") {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(STAGECRAFT_BINARY_DIR) / "same_file";
  fs::remove_all(directory);
  fs::create_directories(directory / "inner");
  write_file_whole((directory / "a").string(), "a");
  write_file_whole((directory / "b").string(), "a");
  fs::create_symlink(directory / "a", directory / "soft");
  fs::create_hard_link(directory / "a", directory / "hard");
  const auto same = [&](const char* x, const char* y) {
    return same_file((directory / x).string(), (directory / y).string());
  };
  CHECK(same("a", "a"));
  CHECK(same("a", "soft"));
  CHECK(same("hard", "a"));
  CHECK(same("a", "inner/../a"));
  CHECK_FALSE(same("a", "b"));
  CHECK_FALSE(same("none", "none"));
}
