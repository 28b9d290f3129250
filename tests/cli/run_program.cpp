#include "run_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace stagecraft {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return text;
}

[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<std::string>& environment, int output,
                         int messages) {
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  for (const std::string& entry : environment) ::putenv(const_cast<char*>(entry.c_str()));
  become_program(words);
}

}  // namespace

std::string program_path() {
  return STAGECRAFT_BINARY_DIR "/bin/stagecraft";
}

void become_program(const std::vector<std::string>& words) {
  const std::string program = program_path();
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  std::_Exit(99);
}

bool start_and_kill(const std::vector<std::string>& words, std::chrono::microseconds delay) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);
    become_program(words);
  }
  std::this_thread::sleep_for(delay);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

int kill_rounds() {
  const char* const asked = std::getenv("STAGECRAFT_KILL_ROUNDS");
  return asked == nullptr ? 3 : std::atoi(asked);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string shipped(const std::string& name) {
  return std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios/" + name + ".json";
}

Outcome run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                    const std::string& standard_output) {
  int output[2] = {-1, -1}, messages[2] = {-1, -1};
  if (::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(messages, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const int sink = standard_output.empty() ? output[1] : ::open(standard_output.c_str(), O_WRONLY | O_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) become(words, environment, sink, messages[1]);
  ::close(output[1]);
  ::close(messages[1]);
  if (!standard_output.empty()) ::close(sink);
  Outcome outcome;
  std::thread reader([&] { outcome.messages = read_all(messages[0]); });
  outcome.output = read_all(output[0]);
  reader.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stagecraft-cli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
  path_ = pattern;
}

Scratch::~Scratch() {
  std::filesystem::remove_all(path_);
}

std::string Scratch::file(const std::string& name) const {
  return path_ + "/" + name;
}

std::string Scratch::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
  return file(name);
}

std::vector<std::string> Scratch::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace stagecraft
