#pragma once
// What stands against a scenario, from the reader and from the checks alike.

#include <QString>
#include <string>
#include <vector>

#include "base/findings.hpp"
#include "gui/models/evaluation.hpp"

namespace stagecraft::gui {

struct Problem {
  Severity severity = Severity::error;
  std::string pointer;              // of the form's field where there is one, else of the document; "" for the whole
  QString message;                  // what is wrong, with the numbers
  std::vector<std::string> offers;  // values that would work
};

/// Reading problems first, then findings by severity; the peak that does not fit among them. Findings that say the same
/// at one place are one.
std::vector<Problem> problems_of(const Evaluation& evaluation);

}  // namespace stagecraft::gui
