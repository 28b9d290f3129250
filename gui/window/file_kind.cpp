#include "gui/window/file_kind.hpp"

#include <QFile>
#include <QFileInfo>

namespace stagecraft::gui {

FileKind kind_of_file(const QString& path) {
  const QFileInfo info(path);
  if (!info.exists()) return FileKind::missing;
  if (info.isDir()) return FileKind::folder;
  if (!info.isFile()) return FileKind::unknown;
  if (path.endsWith(".csv", Qt::CaseInsensitive)) return FileKind::schedule_csv;
  if (path.endsWith(".sgt", Qt::CaseInsensitive)) return FileKind::trace;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return FileKind::unknown;
  constexpr qint64 head_bytes = 64 * 1024;
  const QByteArray head = file.read(head_bytes).trimmed();
  if (head.startsWith('[')) return head.contains("\"ph\"") ? FileKind::trace : FileKind::unknown;  // Chrome's events
  if (head.contains("\"traceEvents\"") || head.contains("\"schemaVersion\"")) return FileKind::trace;
  const bool journal = head.startsWith("{\"form\":\"stagecraft sweep journal") ||
                       head.startsWith("{\"form\":\"stagecraft search journal");
  if (journal || (head.contains("\"objectives\"") && head.contains("\"axes\""))) return FileKind::sweep;
  return head.startsWith('{') || path.endsWith(".json", Qt::CaseInsensitive) ? FileKind::scenario : FileKind::unknown;
}

}  // namespace stagecraft::gui
