#include "gui/models/problem.hpp"

#include <algorithm>

#include "gui/models/field_values.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

/// As the form names its fields: "/schedule" is the field "/schedule/name".
std::string field_pointer(const std::string& pointer) {
  if (pointer == "/schedule") return "/schedule/name";
  if (pointer == "/model" || pointer == "/cluster") return pointer + "/extends";
  return pointer;
}

Problem of_reader(const InputProblem& problem) {
  Problem out;
  out.pointer = field_pointer(problem.pointer);
  out.message = QString::fromStdString(problem.got);
  if (!problem.expected.empty())
    out.message =
        problem.got.empty()
            ? QString("expected %1").arg(QString::fromStdString(problem.expected))
            : QString("%1 stands here; expected %2").arg(out.message, QString::fromStdString(problem.expected));
  if (problem.line > 0) out.message += QString(" (line %1)").arg(problem.line);
  out.offers = offered_values(problem.nearest);
  return out;
}

void add_memory(std::vector<Problem>& problems, const Report& report) {
  if (report.fits) return;
  for (const ReportStage& stage : report.stages) {
    if (stage.fits) continue;
    problems.push_back({Severity::error,
                        "",
                        QString("Does not fit: pipeline rank %1 peaks at %2 of %3, most of it %4")
                            .arg(stage.pipeline_rank)
                            .arg(QString::fromStdString(gibibytes(stage.peak_memory_bytes.value)),
                                 QString::fromStdString(gibibytes(report.memory_limit_bytes)),
                                 QString(to_text(stage.dominating)).replace('_', ' ')),
                        {}});
    return;  // the first of them: the others say the same
  }
}

}  // namespace

std::vector<Problem> problems_of(const Evaluation& evaluation) {
  std::vector<Problem> problems;
  for (const InputProblem& problem : evaluation.problems) problems.push_back(of_reader(problem));
  if (evaluation.done) add_memory(problems, evaluation.done->report);
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    for (const Finding& finding : evaluation.findings) {
      if (finding.severity != severity) continue;
      problems.push_back({severity, field_pointer(finding.pointer), QString::fromStdString(finding.message),
                          offered_values(finding.nearest)});
    }
  }
  return problems;
}

}  // namespace stagecraft::gui
