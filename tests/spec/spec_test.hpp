#pragma once
// Small scenarios for tests, and what a refusal says.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/input_error.hpp"
#include "spec/scenario.hpp"

namespace stagecraft::test {

/// The library of the source tree, whatever the environment says.
inline Library shipped_library() {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return {{root + "/scenarios", root + "/topologies"}};
}

inline std::string source_file(const std::string& path) {
  return std::string(STAGECRAFT_SOURCE_DIR) + "/" + path;
}

/// The smallest scenario that loads.
inline const char* small_scenario() {
  return R"({
  "model": "gpt-1.7b",
  "cluster": "box-1gpu",
  "parallel": {},
  "batch": {"global": 8}
})";
}

inline Scenario parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_scenario(text, "run.json", overrides, shipped_library());
}

inline Scenario small(const std::vector<std::string>& overrides = {}) {
  return parsed(small_scenario(), overrides);
}

template <class Action>
std::vector<InputProblem> problems_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

/// The first problem of the InputError that `action` throws; fails the test if it throws none.
template <class Action>
InputProblem refused(Action action) {
  const std::vector<InputProblem> problems = problems_of(action);
  if (problems.empty()) FAIL("nothing was refused");
  return problems.front();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace stagecraft::test
