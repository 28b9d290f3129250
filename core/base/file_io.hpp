#pragma once
// Whole files. Output appears complete or not at all.

#include <cstddef>
#include <string>
#include <string_view>

namespace stagecraft {

/// The bytes of a file. Throws InputError if it is missing, not a regular file, unreadable or larger than `limit`
/// bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);

/// Writes a file beside `path` and renames it over `path`; a symbolic link stays and the file that it leads to is
/// replaced. Throws InputError naming the path and the reason if that fails, and leaves nothing behind. A `path` that
/// is not a regular file ("/dev/stdout", a pipe) is written in place.
void write_file_whole(const std::string& path, std::string_view text);

/// Throws what write_file_whole would where no file can be made beside `path`; for those who would lose long work then.
void check_can_write(const std::string& path);

/// The path that a write to `path` replaces: itself, or where symbolic links lead. Throws InputError if they lead in a
/// circle.
std::string written_path(const std::string& path);

/// Whether both paths lead to the same file, through whatever links; false if one of them leads nowhere.
bool same_file(const std::string& a, const std::string& b);

bool file_exists(const std::string& path);  // and is not a directory

}  // namespace stagecraft
