#pragma once
// The strip of headline figures, with the difference to a pinned baseline.

#include <QString>
#include <vector>

#include "report/report.hpp"

namespace stagecraft::gui {

enum class Trend : std::uint8_t { none, better, worse };

struct HeadlineFigure {
  QString title;   // "Step time"
  QString value;   // "24.02 s"
  QString remark;  // "22.40 s - 25.65 s"
  QString detail;  // for a tool tip: "between 22.40 s and 25.65 s, borrowed"
  QString change;  // against the baseline, "-3.1 %" or "+1.2 points"; "" without one
  QString key;     // of the report, for explain()
  Trend trend = Trend::none;
  bool alarm = false;  // does not fit
  double share = -1;   // of a bar below the value, 0 to 1; below 0: no bar
};

/// Step time, tokens/s, MFU, bubble, exposed communication, peak memory of the worst pipeline rank. `baseline` may be
/// null.
std::vector<HeadlineFigure> headline(const Report& report, const Report* baseline);

}  // namespace stagecraft::gui
