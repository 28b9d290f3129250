#pragma once
// Peak memory of every pipeline rank as stacked bars by class, with the limit of the GPU.

#include <QWidget>

#include "report/report.hpp"

namespace stagecraft::gui {

class MemoryBars : public QWidget {
  Q_OBJECT

 public:
  explicit MemoryBars(QWidget* parent = nullptr);
  void set_report(const Report* report);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void explain(const QString& key);  // "stages.3.peak_memory_bytes"

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int row_at(int y) const;
  QString text_of(std::size_t row) const;

  std::vector<ReportStage> stages_;
  double limit_ = 0;
};

}  // namespace stagecraft::gui
