#include "gui/sweep/axis_row.hpp"

#include <QCompleter>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "base/input_error.hpp"
#include "gui/models/axis_values.hpp"
#include "gui/theme/combo.hpp"
#include "gui/theme/look.hpp"

namespace stagecraft::gui {
QString suggested_values(const FormField& field) {
  constexpr std::size_t most = 8;
  if (field.kind == FieldKind::boolean) return "false,true";
  if (field.kind == FieldKind::choice || (field.kind == FieldKind::name && field.pointer == "/schedule/name")) {
    QStringList words;
    for (const std::string& choice : field.choices)
      if (static_cast<std::size_t>(words.size()) < most) words.append(QString::fromStdString(choice));
    return words.join(',');
  }
  if (field.kind != FieldKind::integer) return {};
  const auto least = static_cast<qint64>(std::max(field.minimum, 1.0));
  if (field.maximum <= 8)
    return QString("%1..%2").arg(static_cast<qint64>(field.minimum)).arg(field.maximum, 0, 'f', 0);
  return least == 1 ? QString("1..8*2") : QString();
}

AxisRow::AxisRow(const std::vector<FormField>& fields, const QString& text, QWidget* parent)
    : QWidget(parent),
      fields_(fields),
      path_(new Combo(this)),
      values_(new QLineEdit(this)),
      verdict_(new QLabel(this)),
      why_(new QLabel(this)) {
  path_->setEditable(true);
  path_->setInsertPolicy(QComboBox::NoInsert);
  path_->setAccessibleName(tr("Field to vary"));
  path_->setToolTip(tr("A field of the scenario, as --set takes it"));
  path_->setMinimumContentsLength(22);
  follow_look(this, [this] {
    const QFontMetrics metrics(QApplication::font());
    path_->setMinimumWidth(metrics.horizontalAdvance("parallel.tensor") + 44);
    values_->setMinimumWidth(metrics.horizontalAdvance("1..64*2") + 20);
  });
  path_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  for (const FormField& field : fields_) {
    path_->addItem(axis_path(field));
    path_->setItemData(path_->count() - 1, QString::fromStdString(field.description), Qt::ToolTipRole);
  }
  path_->completer()->setFilterMode(Qt::MatchContains);
  path_->completer()->setCompletionMode(QCompleter::PopupCompletion);
  path_->lineEdit()->setPlaceholderText(tr("field, as in parallel.tensor"));
  values_->setAccessibleName(tr("Values"));
  values_->setPlaceholderText(tr("1,2,4   or 1..8   or 1..64*2"));
  values_->setToolTip(tr("A list 1,2,4; a range 1..8 or 1..8+2; powers 1..64*2"));
  const qsizetype equals = text.indexOf('=');
  path_->setEditText(equals < 0 ? text : text.left(equals));
  if (equals >= 0) values_->setText(text.mid(equals + 1));
  follow_look(verdict_,
              [this] { verdict_->setMinimumWidth(verdict_->fontMetrics().horizontalAdvance("100 values ")); });
  auto* const remove = new QPushButton(QString::fromUtf8("\u2715"), this);
  remove->setProperty("kind", "quiet");
  remove->setAccessibleName(tr("Do not vary this field"));
  remove->setToolTip(remove->accessibleName());
  connect(remove, &QPushButton::clicked, this, &AxisRow::removed);

  why_->setTextFormat(Qt::PlainText);
  why_->setWordWrap(true);
  set_ink(why_, Ink::bad);
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->setSpacing(gap - 6);
  auto* const row = new QHBoxLayout;
  whole->addLayout(row);
  whole->addWidget(why_);
  row->setSpacing(gap - 2);
  row->addWidget(path_, 3);
  row->addWidget(values_, 4);
  row->addWidget(verdict_);
  row->addWidget(remove);
  connect(path_, &QComboBox::editTextChanged, this, &AxisRow::judge);
  connect(path_, &QComboBox::textActivated, this, &AxisRow::suggest);
  connect(values_, &QLineEdit::textChanged, this, &AxisRow::judge);
  judge();
}

QString AxisRow::text() const {
  return path_->currentText().trimmed() + "=" + values_->text().trimmed();
}

std::optional<SweepAxis> AxisRow::axis() const {
  return axis_;
}

QString AxisRow::why() const {
  return why_->text();
}

void AxisRow::suggest() {
  if (!values_->text().trimmed().isEmpty()) return;
  for (const FormField& field : fields_)
    if (axis_path(field) == path_->currentText()) values_->setText(suggested_values(field));
}

void AxisRow::judge() {
  axis_.reset();
  QString words, why;
  if (path_->currentText().trimmed().isEmpty() || values_->text().trimmed().isEmpty()) {
    words = path_->currentText().trimmed().isEmpty() ? tr("no field yet") : tr("no values yet");
  } else {
    try {
      SweepAxis axis = parse_axis(text().toStdString());
      if (const FormField* const field = field_of_axis(fields_, axis.path)) why = why_not(*field, axis);
      if (why.isEmpty()) axis_ = std::move(axis);
      words = !axis_                      ? tr("cannot be")
              : axis_->values.size() == 1 ? tr("1 value")
                                          : tr("%1 values").arg(axis_->values.size());
    } catch (const InputError& error) {
      words = tr("cannot be");
      why = QString::fromStdString(error.what());
      why.remove(QRegularExpression("^--vary: ([^ ]*: )?"));  // the row names the field
    }
  }
  verdict_->setText(words);
  why_->setText(why);
  why_->setVisible(!why.isEmpty());
  values_->setAccessibleDescription(why);
  set_ink(verdict_, why.isEmpty() ? Ink::faint : Ink::bad);
  Q_EMIT changed();
}

}  // namespace stagecraft::gui
