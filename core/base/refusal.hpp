#pragma once
// Input that is well-formed but cannot work: all the reasons at once. Exit code 3.

#include <stdexcept>
#include <string>

#include "base/findings.hpp"

namespace stagecraft {

class Refusal : public std::runtime_error {
 public:
  /// One line per finding, each begun with the file's name.
  Refusal(const std::string& file, Findings findings);

  const Findings& findings() const { return findings_; }

 private:
  Findings findings_;
};

/// Throws a Refusal if there is an error among the findings.
void refuse_errors(const std::string& file, const Findings& findings);

}  // namespace stagecraft
