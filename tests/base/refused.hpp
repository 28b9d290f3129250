#pragma once
// What a refusal says.

#include <catch2/catch.hpp>
#include <string>

#include "base/input_error.hpp"

namespace stagecraft::test {

/// The first problem of the InputError that `action` throws; fails the test if it throws none.
template <class Action>
InputProblem refused(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    REQUIRE_FALSE(error.problems().empty());
    return error.problems().front();
  }
  FAIL("nothing was refused");
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace stagecraft::test
