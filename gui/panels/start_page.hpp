#pragma once
// What a newcomer sees: lessons and example scenarios, and what was open lately.

#include <QScrollArea>

namespace stagecraft::gui {

/// A scenario as a card shows it.
struct ScenarioCard {
  QString path, name, description;
};
/// The scenarios of a folder, by file name; such that cannot be read are left out.
std::vector<ScenarioCard> scenario_cards(const QString& folder);

class StartPage : public QScrollArea {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  void show_recent(const QStringList& paths);

 Q_SIGNALS:
  void open(const QString& path);
  void browse();
  void schedules();

 private:
  void add_section(const QString& title, const QString& remark, const std::vector<ScenarioCard>& cards, int columns);

  class QVBoxLayout* column_;
  QWidget* recent_;
};

}  // namespace stagecraft::gui
