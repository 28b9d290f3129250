#include "journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"

namespace stagecraft::cli {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& got, const std::string& expected) {
  throw InputError(InputProblem{path, 0, 0, "", got, expected, ""});
}

int open_file(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno != EEXIST && errno != ENOENT)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  return descriptor;
}

/// A terminal, a pipe, /dev/null: nothing is kept beside it.
bool is_device(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  return std::filesystem::is_other(status);
}

void refuse_other(const std::string& path, const SweepIdentity& theirs, const SweepIdentity& mine) {
  if (journal_header(theirs) == journal_header(mine)) return;
  refuse(path,
         fmt::format("a journal of another {} (its scenario, axes, options or a file that it reads differ)",
                     verb_of(theirs)),
         fmt::format("the journal of this {}; --restart throws it away", verb_of(mine)));
}

}  // namespace

Journal Journal::create(const std::string& path, const SweepIdentity& identity) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
  if (descriptor < 0 && errno == EEXIST)
    throw UsageError(
        fmt::format("the journal {} of an earlier {} is there; --resume goes on with it, --restart throws it away",
                    path, verb_of(identity)));
  if (descriptor < 0) refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  Journal journal(path, descriptor);
  journal.lock();
  journal.append(journal_header(identity));
  return journal;
}

Journal Journal::resume(const std::string& path, const SweepIdentity& identity,
                        const std::function<void(const std::string& line)>& take) {
  const int descriptor = open_file(path, O_WRONLY | O_APPEND);
  if (descriptor < 0) return create(path, identity);
  Journal journal(path, descriptor);
  journal.lock();
  const std::size_t whole_bytes = read_journal_lines(
      path, [&](const SweepIdentity& theirs) { refuse_other(path, theirs, identity); }, take);
  if (::ftruncate(descriptor, static_cast<off_t>(whole_bytes)) != 0)
    refuse(path, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
  if (whole_bytes == 0) journal.append(journal_header(identity));
  return journal;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Journal::Journal(Journal&& other) noexcept : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

void Journal::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  throw UsageError(fmt::format("another sweep or search is writing to the journal {}", path_));
}

// In one write, so that a killed process leaves whole lines.
void Journal::append(const std::string& lines) {
  const std::string text = lines + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) refuse(path_, "", fmt::format("a journal that can be written: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(wrote);
  }
}

void add_journal_options(CLI::App& app, JournalOptions& options, const std::string& verb) {
  app.add_option("--journal", options.path, "Where what is computed is kept as it comes (OUTPUT.journal)")
      ->type_name("FILE");
  app.add_flag("--resume", options.resume, fmt::format("Go on with the journal of a {} that was interrupted", verb));
  app.add_flag("--restart", options.restart, fmt::format("Throw the journal of an earlier {} away", verb));
}

void settle_journal(JournalOptions& options, const std::string& output, const std::string& verb) {
  if (options.resume && options.restart) throw UsageError("--resume and --restart contradict each other");
  if (options.path.empty() && !output.empty() && !is_device(output)) options.path = output + ".journal";
  if ((options.resume || options.restart) && options.path.empty())
    throw UsageError(fmt::format(
        "--resume and --restart need the journal of a {}: give --output or --journal as it was given", verb));
}

std::optional<Journal> open_journal(const JournalOptions& options, const SweepIdentity& identity,
                                    const std::function<void(const std::string& line)>& take) {
  if (options.path.empty()) return std::nullopt;
  if (options.restart && file_exists(options.path)) {
    // Never throw away what is no journal.
    (void)read_journal_lines(
        options.path, [](const SweepIdentity&) {}, [](const std::string&) {});
    std::filesystem::remove(options.path);
  }
  if (options.resume) return Journal::resume(options.path, identity, take);
  return Journal::create(options.path, identity);
}

}  // namespace stagecraft::cli
