#pragma once
// The scenario as a form: groups of fields, what stands against the whole, and what would work now at the field that
// has the focus.

#include <QScrollArea>
#include <QVBoxLayout>
#include <vector>

#include "gui/models/background.hpp"
#include "gui/models/evaluation.hpp"
#include "gui/models/form_model.hpp"
#include "gui/models/scenario_document.hpp"
#include "gui/panels/field_row.hpp"

namespace stagecraft::gui {

class FormPanel : public QWidget {
  Q_OBJECT

 public:
  FormPanel(ScenarioDocument& document, const Library& library, QWidget* parent = nullptr);
  ~FormPanel() override;
  /// What is known of the document's text. Null while nothing is.
  void show_evaluation(const Evaluation* evaluation);
  FormModel& model() { return *model_; }
  FieldRow* row(const std::string& pointer) const;
  void go_to(const std::string& pointer);  // opens its group, scrolls there, gives it the focus
  void finish_typing();                    // takes what a line holds and would take when it loses the focus
  void set_fold_state(const QStringList& closed);
  QStringList fold_state() const;  // titles of closed groups

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Group {
    QPushButton* header;
    QWidget* body;
  };
  void build();
  void set_title_widths();
  void take(FieldRow& row, const QString& value);
  void let_in();  // only while a scenario is open
  void refresh_values(const Scenario* scenario);
  void show_banner();
  void focus_moved(QWidget* now);
  void ask_allowed();
  void set_open(const Group& group, bool open);

  ScenarioDocument& document_;
  Library library_;
  FormModel* model_;
  QLabel *name_ = nullptr, *description_ = nullptr;
  QWidget* banner_ = nullptr;
  QVBoxLayout* banner_lines_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  std::vector<FieldRow*> rows_;
  std::vector<Group> groups_;
  FieldRow* focused_ = nullptr;
  AllowedValues allowed_;  // written by asking_'s job
  Background asking_;
};

/// Every name that the form offers.
KnownNames known_names(const Library& library);

}  // namespace stagecraft::gui
