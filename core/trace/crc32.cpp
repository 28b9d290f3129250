#include "trace/crc32.hpp"

#include <array>
#include <cstring>

namespace stagecraft {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight tables let the loop take eight bytes at a time ("slicing by 8", Kounavis and Berry, ISCC 2005).
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
    tables[0][byte] = value;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t slice = 1; slice < 8; ++slice) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}
constexpr Tables tables = make_tables();

std::uint32_t byte_of(std::uint64_t word, unsigned index) {
  return static_cast<std::uint32_t>((word >> (8U * index)) & 0xFFU);
}

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) {
  crc = ~crc;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (unsigned index = 0; index < 8; ++index) crc ^= tables[7 - index][byte_of(word, index)];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(c)) & 0xFFU];
  return ~crc;
}

}  // namespace stagecraft
