#include "gui/panels/memory_bars.hpp"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "gui/theme/theme.hpp"
#include "gui/timeline/palette.hpp"
#include "report/number_text.hpp"

namespace stagecraft::gui {
namespace {

constexpr int legend_gap = 14, least_bar = 40;

QString words(const char* key) {
  return QString(key).replace('_', ' ');
}

QString text(const std::string& from) {
  return QString::fromStdString(from);
}

int row_height() {
  return QFontMetrics(scaled_font(0.92)).height() + 7;
}

int label_width() {
  return QFontMetrics(scaled_font(0.92)).horizontalAdvance("rank 000 ");
}

int value_width() {
  return QFontMetrics(scaled_font(0.92)).horizontalAdvance(" 0000.0 GiB ");
}

int legend_height() {
  return 2 * QFontMetrics(scaled_font(0.88)).height() + legend_gap;
}

}  // namespace

MemoryBars::MemoryBars(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("Peak memory by pipeline rank"));
}

void MemoryBars::set_report(const Report* report) {
  stages_ = report == nullptr ? std::vector<ReportStage>{} : report->stages;
  limit_ = report == nullptr ? 0 : report->memory_limit_bytes;
  QStringList lines;
  for (std::size_t i = 0; i < stages_.size(); ++i) lines.append(text_of(i));
  setAccessibleDescription(lines.join("\n"));
  updateGeometry();
  update();
}

QSize MemoryBars::sizeHint() const {
  return {420, static_cast<int>(stages_.size()) * row_height() + legend_height() + gap};
}

QSize MemoryBars::minimumSizeHint() const {
  return {label_width() + least_bar + value_width(), sizeHint().height()};
}

QString MemoryBars::text_of(std::size_t row) const {
  const ReportStage& stage = stages_[row];
  QString out = tr("pipeline rank %1: %2 of %3 at %4\n%5")
                    .arg(stage.pipeline_rank)
                    .arg(text(gibibytes(stage.peak_memory_bytes.value)), text(gibibytes(limit_)), text(stage.peak_op),
                         text(stage.layers));
  for (std::size_t i = 0; i < memory_class_count; ++i)
    if (stage.memory[i].value > 0)
      out +=
          QString("\n%1: %2").arg(words(to_text(static_cast<MemoryClass>(i))), text(gibibytes(stage.memory[i].value)));
  return out;
}

int MemoryBars::row_at(int y) const {
  const int row = y / row_height();
  return y >= 0 && row < static_cast<int>(stages_.size()) ? row : -1;
}

bool MemoryBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const int row = row_at(help->y());
  if (row < 0) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), text_of(static_cast<std::size_t>(row)), this);
  }
  return true;
}

void MemoryBars::mousePressEvent(QMouseEvent* event) {
  const int row = row_at(static_cast<int>(event->position().y()));
  if (row >= 0) Q_EMIT explain(QString("stages.%1.peak_memory_bytes").arg(row));
}

void MemoryBars::paintEvent(QPaintEvent*) {
  if (stages_.empty()) return;
  const Theme theme = current_theme();
  const Palette colours = make_palette(theme.dark);
  QPainter painter(this);
  painter.setFont(scaled_font(0.92));
  const int left = label_width(), width = this->width() - left - value_width();
  double most = limit_;
  for (const ReportStage& stage : stages_) most = std::max(most, stage.peak_memory_bytes.value);
  const double scale = width / std::max(most * 1.02, 1.0);
  const int line = row_height();
  int y = 0;
  for (const ReportStage& stage : stages_) {
    painter.setPen(theme.faint);
    painter.drawText(QRect(0, y, left, line), Qt::AlignVCenter | Qt::AlignLeft, tr("rank %1").arg(stage.pipeline_rank));
    double x = left;
    for (std::size_t i = 0; i < memory_class_count; ++i) {
      const double part = stage.memory[i].value * scale;
      painter.fillRect(QRectF(x, y + 3, part, line - 6), QColor(colours.memory[i]));
      x += part;
    }
    painter.setPen(stage.fits ? theme.ink : theme.bad);
    painter.drawText(QRect(left + width, y, value_width(), line), Qt::AlignVCenter | Qt::AlignRight,
                     text(gibibytes(stage.peak_memory_bytes.value)));
    y += line;
  }
  if (limit_ > 0) {
    const double x = left + limit_ * scale;
    painter.setPen(QPen(QColor(colours.limit), 1.5, Qt::DashLine));
    painter.drawLine(QPointF(x, 0), QPointF(x, y));
  }
  painter.setFont(scaled_font(0.88));
  const QFontMetrics metrics(painter.font());
  y += legend_gap / 2;
  int x = left;
  for (std::size_t i = 0; i < memory_class_count; ++i) {
    const QString name = words(to_text(static_cast<MemoryClass>(i)));
    const int advance = metrics.horizontalAdvance(name) + 28;
    if (x + advance > this->width() && x > left) {
      x = left;
      y += metrics.height() + 2;
    }
    painter.fillRect(QRect(x, y + metrics.height() / 2 - 4, 9, 9), QColor(colours.memory[i]));
    painter.setPen(theme.faint);
    painter.drawText(x + 14, y + metrics.ascent(), name);
    x += advance;
  }
}

}  // namespace stagecraft::gui
