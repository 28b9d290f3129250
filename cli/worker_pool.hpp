#pragma once
// Work spread over child processes: SimGrid keeps one engine per process, and a crash takes one piece of work along,
// not the program.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stagecraft::cli {

struct PoolWork {
  std::function<std::string(std::int64_t)> work;  // in a child; what it returns travels back. Must not throw.
  /// In this process, in the order in which work ends. `how` says how a child died over it, then there is no result.
  std::function<void(std::int64_t number, const std::string* result, const std::string& how)> done;
  bool fresh = false;  // every piece in a child of its own: what a child has done before changes nothing
};

/// Forks up to `workers` children, hands out `numbers` one at a time and returns when all are done. Children die with
/// this process, whatever ends it. An exception of `done` ends them and goes on. Throws std::runtime_error if no child
/// can be started.
void run_pool(const std::vector<std::int64_t>& numbers, int workers, const PoolWork& pool);

/// Processors that this process may use.
int usable_processors();

}  // namespace stagecraft::cli
