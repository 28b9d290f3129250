#pragma once
// Chunks of the native trace file and the fields inside them. Private to the writer and the reader.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/input_error.hpp"

namespace stagecraft {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie in memory");

inline constexpr std::string_view trace_magic = "STGTRACE";
inline constexpr std::size_t span_bytes = 48, dependency_bytes = 8;
inline constexpr std::size_t largest_payload = std::size_t{16} << 20;

constexpr std::uint32_t chunk_kind(const char (&name)[5]) {
  std::uint32_t kind = 0;
  for (unsigned i = 0; i < 4; ++i) kind |= static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])) << (8 * i);
  return kind;
}
inline constexpr std::uint32_t chunk_head = chunk_kind("HEAD"), chunk_ranks = chunk_kind("RANK"),
                               chunk_labels = chunk_kind("LABL"), chunk_spans = chunk_kind("SPAN"),
                               chunk_dependencies = chunk_kind("DEPS"), chunk_counter = chunk_kind("CNTR"),
                               chunk_end = chunk_kind("END "), chunk_inner = chunk_kind("innr");

/// Kinds that begin with a lower-case letter may be skipped by a reader that does not know them (as in PNG).
constexpr bool may_be_skipped(std::uint32_t kind) {
  return (kind & 0x20U) != 0;
}

struct ChunkHeader {
  std::uint32_t kind = 0, checksum = 0;  // of the kind, the length and the payload
  std::uint64_t length = 0;              // of the payload
};
inline constexpr std::size_t chunk_header_bytes = 16;

template <class Value>
void put(std::string& out, Value value) {
  static_assert(std::is_arithmetic_v<Value>);
  std::array<char, sizeof(Value)> bytes;
  std::memcpy(bytes.data(), &value, sizeof(Value));
  out.append(bytes.data(), bytes.size());
}

inline void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out.append(text);
}

/// Takes fields from a payload; `ok` turns false, and every later value is zero, once the payload is exhausted.
class FieldReader {
 public:
  explicit FieldReader(std::string_view payload) : rest_(payload) {}

  template <class Value>
  Value get() {
    static_assert(std::is_arithmetic_v<Value>);
    Value value{};
    if (rest_.size() < sizeof(Value)) return ok_ = false, rest_ = {}, value;
    std::memcpy(&value, rest_.data(), sizeof(Value));
    rest_.remove_prefix(sizeof(Value));
    return value;
  }

  std::string get_text() {
    const auto size = get<std::uint32_t>();
    if (rest_.size() < size) return ok_ = false, rest_ = {}, "";
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }

  bool ok() const { return ok_; }
  bool done() const { return ok_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace stagecraft
