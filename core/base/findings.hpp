#pragma once
// A layout that cannot work is a value: people and sweeps want every reason at once.

#include <string>
#include <vector>

namespace stagecraft {

enum class Severity { error, warning, note };

struct Finding {
  Severity severity = Severity::error;
  std::string code;     // stable and greppable: "heads-not-divisible"
  std::string pointer;  // JSON pointer of the field to change: "/parallel/tensor"
  std::string message;  // what is wrong, with the numbers
  std::string nearest;  // the nearest value or values that would work; empty if there is none
};

using Findings = std::vector<Finding>;

bool has_errors(const Findings& findings);
std::string to_text(const Finding& finding);

}  // namespace stagecraft
