#pragma once
// Whole files. Output appears complete or not at all.

#include <cstddef>
#include <string>
#include <string_view>

namespace stagecraft {

/// The bytes of a file. Throws InputError if it is missing, not a regular file, unreadable or larger than `limit`
/// bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);

/// Writes a file beside `path` and renames it over `path`. Throws InputError naming the path and the reason if that
/// fails, and leaves nothing behind. A `path` that is not a regular file ("/dev/stdout", a pipe) is written in place.
void write_file_whole(const std::string& path, std::string_view text);

bool file_exists(const std::string& path);  // and is not a directory

}  // namespace stagecraft
