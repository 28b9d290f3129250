// Files that nobody would write: each is refused in words or read, in a process that may take 320 MiB.

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/input_error.hpp"
#include "trace/chrome_json_reader.hpp"
#include "trace/level_of_detail_rows.hpp"
#include "trace/native_format.hpp"
#include "trace/torch_profiler.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit_memory = false;  // sanitizers reserve terabytes of addresses
#else
constexpr bool can_limit_memory = true;
#endif

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

enum class End : int { was_read = 10, was_refused = 11, was_out_of_memory = 12, was_another_error = 13 };

struct Folder {
  fs::path path = fs::temp_directory_path() / ("stagecraft-hostile-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

End end_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return std::string(error.what()).size() > 20 ? End::was_refused : End::was_another_error;
  } catch (const std::bad_alloc&) {
    return End::was_out_of_memory;
  } catch (...) {
    return End::was_another_error;
  }
  return End::was_read;
}

/// How reading ends in a process of its own, which a crash or a hang would end alone.
int outcome_of(const std::function<void()>& read) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr rlim_t most_bytes = rlim_t{320} << 20;
    const rlimit memory{most_bytes, most_bytes}, seconds{60, 60};
    if (can_limit_memory) ::setrlimit(RLIMIT_AS, &memory);
    ::setrlimit(RLIMIT_CPU, &seconds);
    ::_exit(static_cast<int>(end_of(read)));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Read, and laid out in rows as a timeline does.
void read_whole(const std::string& path) {
  const Trace trace = read_chrome_json(path);
  lane_rows(trace, predecessors_of(trace));
}

std::string slice(const std::string& pid, const std::string& tid, const std::string& ts, const std::string& dur,
                  const std::string& name = "2F5") {
  return R"({"ph":"X","pid":)" + pid + R"(,"tid":)" + tid + R"(,"ts":)" + ts + R"(,"dur":)" + dur + R"(,"name":")" +
         name + "\"}";
}

void repeat(std::ostream& out, const std::string& text, std::size_t bytes) {
  for (std::size_t written = 0; written < bytes; written += text.size()) out << text;
}

constexpr std::size_t huge = std::size_t{200} << 20;  // more than a reader may hold

struct Case {
  const char* what;
  std::function<void(std::ostream&)> write;
  End expected;
};

const Case cases[] = {
    {"a name of hundreds of megabytes",
     [](std::ostream& out) {
       out << R"([{"ph":"X","pid":0,"tid":1,"name":")";
       repeat(out, std::string(1 << 20, 'x'), huge);
     },
     End::was_refused},
    {"a name of escapes without end",
     [](std::ostream& out) {
       out << R"([{"ph":"X","name":")";
       std::string escapes;
       while (escapes.size() < (1 << 20)) escapes += "\\u0041";
       repeat(out, escapes, huge);
     },
     End::was_refused},
    {"a number of hundreds of megabytes",
     [](std::ostream& out) {
       out << "[{\"ts\":";
       repeat(out, std::string(1 << 20, '7'), huge);
     },
     End::was_refused},
    {"white space without end", [](std::ostream& out) { repeat(out, std::string(1 << 20, ' '), huge); },
     End::was_refused},
    {"objects within objects", [](std::ostream& out) { repeat(out, R"({"args":)", std::size_t{8} << 20); },
     End::was_refused},
    {"arrays within arrays, where they are skipped",
     [](std::ostream& out) {
       out << R"({"other": )";
       repeat(out, "[", std::size_t{8} << 20);
     },
     End::was_refused},
    {"a file that is all zero bytes",
     [](std::ostream& out) { repeat(out, std::string(1 << 20, '\0'), std::size_t{4} << 20); }, End::was_refused},
    {"no number at all", [](std::ostream& out) { out << "[" << slice("0", "1", "NaN", "1") << "]"; }, End::was_refused},
    {"an infinite time", [](std::ostream& out) { out << "[" << slice("0", "1", "1e999", "1") << "]"; },
     End::was_refused},
    {"a duration below 0", [](std::ostream& out) { out << "[" << slice("0", "1", "5", "-1e-9") << "]"; },
     End::was_refused},
    {"a rank below 0", [](std::ostream& out) { out << "[" << slice("-1", "1", "5", "1") << "]"; }, End::was_refused},
    {"a rank beyond all clusters", [](std::ostream& out) { out << "[" << slice("99999999999", "1", "5", "1") << "]"; },
     End::was_refused},
    {"times at either end of a double",
     [](std::ostream& out) {
       out << "[" << slice("0", "1", "-1.7e308", "0") << "," << slice("0", "1", "1.7e308", "1.7e300", "2F6") << "]";
     },
     End::was_read},
    {"threads far beyond the lanes",
     [](std::ostream& out) { out << "[" << slice("0", "9223372036854775807", "0", "1") << "]"; }, End::was_read},
    {"every slice over the others",
     [](std::ostream& out) {
       out << "[";
       for (int i = 0; i < 20'000; ++i)
         out << (i > 0 ? "," : "") << slice("0", "1", "0", "10", "0F" + std::to_string(i));
       out << "]";
     },
     End::was_read},
    {"a rank for every slice",
     [](std::ostream& out) {
       out << "[";
       for (int i = 0; i < 30'000; ++i) out << (i > 0 ? "," : "") << slice(std::to_string(i), "1", "0", "10");
       out << "]";
     },
     End::was_read},
    {"more names of segments than a trace can hold",
     [](std::ostream& out) {
       out << "[";
       for (int i = 0; i < 70'000; ++i) {
         out << (i > 0 ? "," : "") << R"({"ph":"X","pid":0,"tid":1,"ts":0,"dur":1,"name":"k)" << i
             << R"(","args":{"op":"step0/2F5/0"}})";
       }
       out << "]";
     },
     End::was_refused},
    {"a profile of kernels alone",
     [](std::ostream& out) {
       out << R"({"traceEvents":[)";
       for (int i = 0; i < 100'000; ++i)
         out << (i > 0 ? "," : "") << R"({"ph":"X","cat":"kernel","name":"k","ts":)" << i << R"(,"dur":1})";
       out << "]}";
     },
     End::was_refused},
};

}  // namespace

TEST_CASE("no JSON file crashes the reader, hangs it or takes unbounded memory") {
  const Folder folder;
  const std::string path = (folder.path / "hostile.json").string();
  for (const Case& one : cases) {
    CAPTURE(one.what);
    {
      std::ofstream out(path, std::ios::binary);
      one.write(out);
    }
    CHECK(outcome_of([&] { read_whole(path); }) == static_cast<int>(one.expected));
    const int as_profile = outcome_of([&] { read_torch_profiler_folder(folder.path.string()); });
    CHECK(as_profile == static_cast<int>(End::was_refused));
    CHECK(outcome_of([&] { read_trace(path); }) == static_cast<int>(End::was_refused));
  }
}

TEST_CASE("what is no file is refused: a folder, a device that never ends, a pipe that nobody writes") {
  const Folder folder;
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& path : {folder.path.string(), std::string("/dev/zero"), pipe, std::string("/nowhere")}) {
    CAPTURE(path);
    CHECK(outcome_of([&] { read_chrome_json(path); }) == static_cast<int>(End::was_refused));
    CHECK(outcome_of([&] { read_trace(path); }) == static_cast<int>(End::was_refused));
  }
}
