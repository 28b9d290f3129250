#pragma once
// What a file is, from its first bytes.

#include <QString>

namespace stagecraft::gui {

enum class FileKind : std::uint8_t { missing, unknown, folder, scenario, trace, schedule_csv, sweep };

/// Reads 64 KiB at most.
FileKind kind_of_file(const QString& path);

}  // namespace stagecraft::gui
