#include "gui/models/trace_compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/timeline/time_axis.hpp"

namespace stagecraft::gui {
namespace {

constexpr double resolved_s = 0.5e-9;     // some formats write whole nanoseconds
constexpr double least_percent = 0.0005;  // that is shown as 0.1 %

Cell text_cell(const std::string& text) {
  return {QString::fromStdString(text), QString::fromStdString(text), false};
}
Cell seconds_cell(double seconds) {
  return {QString::fromStdString(duration_text(seconds)), seconds, true};
}
/// What two times differ by; nothing where both are shown as the same, or by less than traces resolve.
double difference(double a, double b) {
  return std::abs(a - b) < resolved_s || duration_text(a) == duration_text(b) ? 0 : a - b;
}
Cell difference_cell(double a, double b) {
  const double seconds = difference(a, b);
  return {QString::fromStdString((seconds > 0 ? "+" : "") + duration_text(seconds)), seconds, true};
}
Cell percent_cell(double part) {
  const bool visible = std::abs(part) >= least_percent;
  return {visible ? QString::fromStdString(fmt::format("{:+.1f} %", 100 * part)) : QStringLiteral("0.0 %"),
          visible ? part : 0.0, true};
}
Cell relative(double a, double b) {
  return b > 0 ? percent_cell(difference(a, b) / b) : Cell{QStringLiteral("-"), 0.0, true};
}

/// "192", or "192, 96" where A and B number it differently.
QString rank_text(std::int32_t a, std::int32_t b) {
  return a == b ? QString::number(a) : QString("%1, %2").arg(a).arg(b);
}

double begin_of_last_step(const Trace& trace) {
  const std::size_t steps = trace.step_end_s.size();
  return steps > 1 ? trace.step_end_s[steps - 2] : trace.begin_s;
}

}  // namespace

Comparison compare(const LoadedTrace& a, const LoadedTrace& b) {
  Comparison comparison;
  comparison.alignment = align(a.trace, b.trace);
  const Summary first = summarise(a.trace), second = summarise(b.trace);
  comparison.a = first.mean;
  comparison.b = second.mean;
  comparison.a_step_s = first.step_s;
  comparison.b_step_s = second.step_s;
  return comparison;
}

PlainTable class_table(const Comparison& comparison) {
  PlainTable table;
  table.headers = {QStringLiteral("time"), QStringLiteral("A"), QStringLiteral("B"), QStringLiteral("A - B"),
                   QStringLiteral("of B's step")};
  table.explanations = {QStringLiteral("class of time, mean over the ranks"),
                        QStringLiteral("seconds of A's last step"), QStringLiteral("seconds of B's last step"),
                        QStringLiteral("difference; the lines add up to the difference of the step times"),
                        QStringLiteral("difference as a part of B's step time")};
  const auto line = [&](const std::string& name, double a, double b) {
    const double part = comparison.b_step_s > 0 ? difference(a, b) / comparison.b_step_s : 0;
    table.lines.push_back(
        {text_cell(name), seconds_cell(a), seconds_cell(b), difference_cell(a, b), percent_cell(part)});
  };
  for (std::size_t i = 0; i < time_class_count; ++i) {
    if (comparison.a[i] > 0 || comparison.b[i] > 0) {
      line(to_text(static_cast<TimeClass>(i)), comparison.a[i], comparison.b[i]);
    }
  }
  line("step", comparison.a_step_s, comparison.b_step_s);
  return table;
}

PlainTable kind_table(const Comparison& comparison) {
  PlainTable table;
  table.headers = {QStringLiteral("operation"), QStringLiteral("in both"), QStringLiteral("A"),
                   QStringLiteral("B"),         QStringLiteral("error"),   QStringLiteral("p95"),
                   QStringLiteral("explains")};
  table.explanations = {QStringLiteral("kind of operation"),
                        QStringLiteral("operations that both traces have"),
                        QStringLiteral("seconds, summed over these operations"),
                        QStringLiteral("seconds, summed over these operations"),
                        QStringLiteral("(A - B) / B of the sums"),
                        QStringLiteral("95th percentile of the absolute errors of single operations"),
                        QStringLiteral("change of A's step time if this kind took as long as in B")};
  for (const KindError& kind : comparison.alignment.kinds) {
    table.lines.push_back(
        {text_cell(std::string(word_of(kind.kind))),
         {QString::number(kind.operations), static_cast<qulonglong>(kind.operations), true},
         seconds_cell(kind.predicted_s),
         seconds_cell(kind.measured_s),
         percent_cell(kind.mean_error),
         {QString::fromStdString(fmt::format("{:.1f} %", 100 * kind.p95_error)), kind.p95_error, true},
         difference_cell(comparison.a_step_s + kind.explains_s, comparison.a_step_s)});
  }
  return table;
}

PlainTable operation_table(const LoadedTrace& a, const LoadedTrace& b, const Comparison& comparison, std::size_t most) {
  PlainTable table;
  table.headers = {QStringLiteral("operation"), QStringLiteral("rank"),  QStringLiteral("A"),
                   QStringLiteral("B"),         QStringLiteral("A - B"), QStringLiteral("error")};
  const std::vector<AlignedPair>& pairs = comparison.alignment.pairs;
  const auto length = [](const Span& span) { return span.end_s - span.begin_s; };
  const auto apart = [&](std::uint32_t pair) {
    return length(a.trace.spans[pairs[pair].predicted]) - length(b.trace.spans[pairs[pair].measured]);
  };
  std::vector<std::uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::uint32_t x, std::uint32_t y) {
                      const double left = std::abs(apart(x)), right = std::abs(apart(y));
                      return left != right ? left > right : x < y;
                    });
  for (std::size_t i = 0; i < count; ++i) {
    const Span &first = a.trace.spans[pairs[order[i]].predicted], &second = b.trace.spans[pairs[order[i]].measured];
    table.lines.push_back({text_cell(short_name(a.trace, first)),
                           {rank_text(first.rank, second.rank), first.rank, true},
                           seconds_cell(length(first)),
                           seconds_cell(length(second)),
                           difference_cell(length(first), length(second)),
                           relative(length(first), length(second))});
    table.tags.push_back(order[i]);
  }
  return table;
}

double shift_to_step_start(const LoadedTrace& a, const LoadedTrace& b) {
  return begin_of_last_step(a.trace) - begin_of_last_step(b.trace);
}

std::optional<double> shift_to_operation(const LoadedTrace& a, const LoadedTrace& b, const Comparison& comparison,
                                         bool in_a, std::uint32_t span) {
  for (const AlignedPair& pair : comparison.alignment.pairs) {
    if ((in_a ? pair.predicted : pair.measured) != span) continue;
    return a.trace.spans[pair.predicted].begin_s - b.trace.spans[pair.measured].begin_s;
  }
  return std::nullopt;
}

QString headline(const Comparison& comparison) {
  const double a = comparison.a_step_s, b = comparison.b_step_s;
  std::string text = fmt::format("A {}, B {}", duration_text(a), duration_text(b));
  if (b > 0) {
    const double part = difference(a, b) / b;
    const std::string by =
        std::abs(part) < least_percent ? "less than 0.1 %" : fmt::format("{:.1f} %", 100 * std::abs(part));
    text += part == 0 ? ": equal" : fmt::format(": A is {} {}", by, part < 0 ? "faster" : "slower");
  }
  const Alignment& alignment = comparison.alignment;
  text += fmt::format(". {} operations in both", alignment.pairs.size());
  if (alignment.only_predicted > 0) text += fmt::format(", {} only in A", alignment.only_predicted);
  if (alignment.only_measured > 0) text += fmt::format(", {} only in B", alignment.only_measured);
  return QString::fromStdString(text);
}

}  // namespace stagecraft::gui
