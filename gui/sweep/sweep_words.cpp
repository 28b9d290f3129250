#include "gui/sweep/sweep_words.hpp"

#include <QCoreApplication>
#include <QRegularExpression>

namespace stagecraft::gui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

/// docs/exit-codes.md.
QString meaning_of(int code) {
  switch (code) {
    case -1:
      return tr("it could not be started");
    case 1:
      return tr("internal error");
    case 2:
      return tr("usage");
    case 3:
      return tr("invalid input");
    default:
      return code > 128 ? tr("ended by signal %1").arg(code - 128) : tr("unknown");
  }
}

/// "stagecraft: error: my.json: ..." without what only a terminal needs.
QString last_words(const QString& errors) {
  const qsizetype at = errors.lastIndexOf("error: ");
  QString words = at < 0 ? errors : errors.mid(at + 7);
  words = words.simplified();
  constexpr qsizetype most = 600;
  return words.size() > most ? words.left(most) + QString::fromUtf8("\u2026") : words;
}

QString joined(const SweepAxis& axis) {
  QString text = QString::fromStdString(axis.path) + "=";
  for (std::size_t i = 0; i < axis.values.size(); ++i)
    text += (i == 0 ? "" : ",") + QString::fromStdString(axis.values[i]);
  return text;
}

QStringList words_of(const std::vector<std::string>& texts) {
  QStringList words;
  for (const std::string& text : texts) words.append(QString::fromStdString(text));
  return words;
}

}  // namespace

SweepOrder order_of(const SweepIdentity& identity, const QString& journal) {
  SweepOrder order;
  order.kind = identity.search ? SweepKind::search : SweepKind::sweep;
  order.scenario = QString::fromStdString(identity.scenario);
  for (const SweepAxis& axis : identity.axes) order.axes.append(joined(axis));
  order.fixed = words_of(identity.fixed);
  order.objectives = words_of(identity.objectives);
  order.options = words_of(identity.options);
  if (identity.shard.count > 1) order.options << "--shard" << QString::fromStdString(to_text(identity.shard));
  order.estimate = identity.kind == "estimated";
  order.journal = journal;
  order.output = journal.endsWith(".journal") ? journal.chopped(8) : journal + ".json";
  if (identity.search && !order.output.endsWith(".json")) order.output += ".json";  // all that is read back
  return order;
}

QStringList sweep_arguments(const SweepOrder& order, bool resume) {
  const bool sweep = order.kind == SweepKind::sweep;
  QStringList words{sweep ? "sweep" : "search"};
  if (!order.scenario.isEmpty()) words << order.scenario;
  for (const QString& axis : order.axes) words << "--vary" << axis;
  for (const QString& fixed : order.fixed) words << "--set" << fixed;
  for (const QString& objective : order.objectives) words << "--objective" << objective;
  if (order.estimate) words << "--estimate";
  words << order.options;
  const QString ending = order.output.mid(order.output.lastIndexOf('.') + 1);
  words << "--output" << order.output << "--format" << (ending == "csv" || ending == "json" ? ending : QString("md"));
  words << "--journal" << order.journal;
  if (resume) words << "--resume";
  if (!sweep) words << "--progress";
  return words;
}

QString failure_text(SweepKind kind, int exit_code, const QString& errors) {
  constexpr int nothing_fits = 4;
  if (exit_code == 0) return {};
  if (kind == SweepKind::search && exit_code == nothing_fits) return tr("No layout fits: the table has the reasons.");
  return (kind == SweepKind::sweep ? tr("The sweep ended early (exit code %1, %2): %3")
                                   : tr("The search ended early (exit code %1, %2): %3"))
      .arg(exit_code)
      .arg(meaning_of(exit_code), last_words(errors));
}

SearchProgress search_progress(const QString& written) {
  const QRegularExpression line("(\\d+) of (\\d+) [a-z ]+, \\S+ per second, [^\\n]+ left");
  QRegularExpressionMatchIterator all = line.globalMatch(written);
  SearchProgress progress;
  while (all.hasNext()) {
    const QRegularExpressionMatch match = all.next();
    progress = {match.captured(0), match.captured(1).toInt(), match.captured(2).toInt()};
  }
  return progress;
}

}  // namespace stagecraft::gui
