#include "gui/panels/explanation_html.hpp"

#include "gui/theme/theme.hpp"

namespace stagecraft::gui {
namespace {

QString text(const std::string& from) {
  return QString::fromStdString(from).toHtmlEscaped();
}

/// Dotted names may be broken at their dots.
QString breakable(QString name) {
  return name.replace('.', QString(".") + QChar(0x200b));
}

QString link(const QString& key, const QString& shown) {
  return QString("<a href=\"%1\" style=\"text-decoration: none\">%2</a>").arg(key.toHtmlEscaped(), shown);
}

}  // namespace

QString explanation_html(const Explanation& about, const QString& came_from) {
  const QString faint = QString("color: %1").arg(current_theme().faint.name());
  QString html =
      QString("<p style=\"margin: 0 0 6px 0\"><b>%1</b> = <b>%2</b>").arg(text(about.key), text(about.value));
  if (!about.low.empty()) {
    html += QString(" <span style=\"%1\">(%2 to %3, %4)</span>")
                .arg(faint, text(about.low), text(about.high), text(about.evidence));
  }
  html += "</p>";
  if (!came_from.isEmpty()) {
    html += QString("<p style=\"margin: 0 0 6px 0\">%1</p>")
                .arg(link(came_from, QString::fromUtf8("\u2190 ") + came_from.toHtmlEscaped()));
  }
  html += QString("<p style=\"margin: 0 0 6px 0\">%1</p>").arg(text(about.meaning));
  if (!about.formula.empty()) {
    html += QString("<p style=\"margin: 0 0 8px 0\"><span style=\"%1\">Formula:</span> %2</p>")
                .arg(faint, text(about.formula));
  }
  if (!about.inputs.empty()) html += "<table cellspacing=\"0\" cellpadding=\"3\" width=\"100%\">";
  for (const ExplainedInput& input : about.inputs) {
    const QString path = QString::fromStdString(input.path);
    html += QString("<tr><td>%1</td><td align=\"right\"><b>%2</b></td><td>%3 <span style=\"%4\">(%5)</span></td></tr>")
                .arg(link(path, breakable(path.toHtmlEscaped())), text(input.value), text(input.meaning), faint,
                     text(input.origin));
  }
  if (!about.inputs.empty()) html += "</table>";
  return html + QString("<p style=\"margin: 8px 0 0 0; %1\">%2</p>").arg(faint, text(about.source));
}

}  // namespace stagecraft::gui
