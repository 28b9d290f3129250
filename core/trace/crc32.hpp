#pragma once
// CRC-32 as in PNG and zlib (polynomial 0xEDB88320, ISO 3309).

#include <cstdint>
#include <string_view>

namespace stagecraft {

/// Continues `crc`, which is 0 at the start: crc32("123456789") = 0xCBF43926.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0);

}  // namespace stagecraft
