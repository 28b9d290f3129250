#pragma once
// The window: the scenario form on the left, headline figures and views on the right, runs below.

#include <QAction>
#include <QMainWindow>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QTimer>
#include <memory>

#include "gui/compare/compare_widget.hpp"
#include "gui/models/evaluator.hpp"
#include "gui/models/scenario_document.hpp"
#include "gui/models/trace_slice_table.hpp"
#include "gui/panels/form_panel.hpp"
#include "gui/panels/headline_strip.hpp"
#include "gui/panels/message_bar.hpp"
#include "gui/panels/run_panel.hpp"
#include "gui/panels/schedule_panel.hpp"
#include "gui/panels/start_page.hpp"
#include "gui/panels/timeline_page.hpp"
#include "gui/panels/why_panel.hpp"
#include "gui/sweep/sweep_page.hpp"
#include "gui/theme/theme.hpp"
#include "gui/topology_view/topology_widget.hpp"

namespace stagecraft::gui {

enum class ViewTab : std::uint8_t { timeline, why, topology, compare, schedule, table, sweep };
inline constexpr int view_tab_count = 7;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(const Library& library, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// A scenario, a trace, a schedule, results of a sweep, or a folder of traces; what it is not tells the message bar.
  void open_path(const QString& path);
  /// The whole session as it was left: geometry, files, unsaved edits, theme.
  void restore_session();
  /// Edits of other windows that it finds unsaved are kept for a later start.
  void save_session();

  void show_view(ViewTab tab);
  ViewTab shown_view() const { return static_cast<ViewTab>(tabs_->currentIndex()); }
  /// A picture of a view; throws InputError if it cannot be written.
  void export_view(ViewTab tab, const QString& path);
  void export_report(const QString& path);
  /// The shown view as a picture or the report, by the ending. Throws InputError, also for another ending.
  void export_file(const QString& path);

  void pin();
  void unpin();
  bool pinned() const { return pinned_report_ != nullptr; }
  /// Nothing is being worked out or read.
  bool idle() const;

  ScenarioDocument& document() { return document_; }
  Evaluator& evaluator() { return evaluator_; }
  FormPanel& form() { return *form_; }
  SchedulePanel& schedule_panel() { return *schedule_; }
  RunPanel& run_panel() { return *run_; }
  MessageBar& message_bar() { return *message_; }
  WhyPanel& why_panel() { return *why_; }
  HeadlineStrip& headline_strip() { return *strip_; }
  TimelinePage& timeline_page() { return *timeline_; }
  SweepPage& sweep_page() { return *sweep_; }
  QWidget* page(ViewTab tab) const { return tabs_->widget(static_cast<int>(tab)); }
  const LoadedTrace* measured() const { return measured_.get(); }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  // main_window.cpp
  void build_panels();
  void connect_panels();
  void drop_traces();    // views let go of every trace
  void show_traces();    // and take what is there now
  void show_all_soon();  // everything but the headline
  void show_all();
  const Report* shown_report() const;  // null if there is none
  void show_headline();
  void show_comparison();
  void show_scenario_schedule();
  void show_figures();
  void show_state();
  void leave_start_page();
  void tell_nothing_to_run();
  void start_run(RunKind kind, const QString& output = {});
  void show_look();  // what depends on the theme and on the size of text
  void fit_table();
  void show_palette();
  void show_title();
  void show_keys();
  const LoadedTrace* compared_with() const;
  bool has_content() const;

  // menus.cpp
  void build_menus();
  QAction* add_action(QMenu* menu, const QString& title, const QKeySequence& key, std::function<void()> run);
  void build_recent_menu();
  void set_theme(ThemeChoice choice);
  void scale_text(double factor);

  // session.cpp
  void save_open_files();
  bool open_unsaved(const QString& path, const QString& text);
  void offer_drafts();

  // session_schedule.cpp
  void save_schedules();
  void restore_schedules();

  // open_files.cpp
  void leave_scenario(const QString& save_first, const QString& without, std::function<void()> then);
  void open_scenario(const QString& path);
  void close_scenario();
  void load_scenario(const QString& path);
  bool open_schedule(const QString& path);
  void open_trace(const QString& path);
  void open_dialog();
  void open_folder_dialog();
  void save();
  void save_as_dialog();
  void export_dialog();
  void bundle_dialog();
  void csv_dialog(bool save);
  void remember(const QString& path);
  void report_problem(const std::exception& error);

  ScenarioDocument document_;
  Evaluator evaluator_;
  std::unique_ptr<Report> pinned_report_;
  std::unique_ptr<const LoadedTrace> pinned_trace_, measured_, opened_, copied_;  // the last two: of a job
  QString opened_problem_, measured_path_;
  QString taken_over_;          // the unsaved text that the settings hold of this window
  QStringList kept_schedules_;  // moved tables that the settings hold of this window
  QStringList recent_;
  std::vector<const LoadedTrace*> shown_;  // what the views hold
  bool compared_ = false;                  // the comparison holds them too
  bool form_is_behind_ = false;            // there is an evaluation that the form does not show yet
  QTimer soon_;
  QString scheduled_;  // the scenario's schedule and shape that the editor started from
  ThemeChoice theme_ = ThemeChoice::system;
  double text_scale_ = 1;

  QStackedWidget* stack_ = nullptr;
  StartPage* start_ = nullptr;
  QSplitter *across_ = nullptr, *down_ = nullptr;
  FormPanel* form_ = nullptr;
  HeadlineStrip* strip_ = nullptr;
  MessageBar* message_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  TimelinePage* timeline_ = nullptr;
  WhyPanel* why_ = nullptr;
  TopologyWidget* topology_ = nullptr;
  CompareWidget* compare_ = nullptr;
  SchedulePanel* schedule_ = nullptr;
  SliceTableModel* slices_ = nullptr;
  QTableView* table_ = nullptr;
  SweepPage* sweep_ = nullptr;
  RunPanel* run_ = nullptr;
  QLabel *state_ = nullptr, *described_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QAction *simulate_ = nullptr, *show_form_ = nullptr, *show_run_ = nullptr, *show_start_ = nullptr, *unpin_ = nullptr,
          *cancel_run_ = nullptr, *cancel_sweep_ = nullptr;
  Background opening_, copying_;  // last: their jobs touch what is above
};

}  // namespace stagecraft::gui
