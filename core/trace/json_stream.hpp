#pragma once
// JSON files too large to be held in memory, read forward only: the caller asks for what it expects, value by value,
// and skips the rest. Memory is a buffer of 256 KiB, or as long as the longest string or number.

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/json_number.hpp"

namespace stagecraft {

class JsonStream {
 public:
  enum class Type : std::uint8_t { object, array, string, number, word };  // word: true, false, null

  /// `expected` is what messages say the file should be. Throws InputError if the file cannot be read. All other
  /// functions throw InputError, naming the byte, for what is not JSON (RFC 8259, UTF-8 checked), for a file that is
  /// cut off, for more than 200 levels of nesting and for a string or number of more than 16 MiB.
  JsonStream(const std::string& path, const std::string& expected);

  /// What comes next.
  Type type();

  /// Calls member(key) for every member; it has to take or skip the value. The key is valid until it does.
  template <class Member>
  void object(Member&& member) {
    open('{');
    for (bool more = !is_empty(); more; more = has_more()) member(key());
  }

  /// Calls element() for every element; it has to take or skip the value.
  template <class Element>
  void array(Element&& element) {
    open('[');
    for (bool more = !is_empty(); more; more = has_more()) element();
  }

  std::string_view string();  // valid until the next call
  JsonNumber number();
  void skip();
  /// Nothing but white space may follow.
  void end();

  /// Where the value is, for messages of every kind: a JSON pointer that the caller keeps up to date.
  std::function<std::string()> place;
  std::uint64_t byte() const { return before_ + static_cast<std::uint64_t>(at_ - buffer_.data()); }

  static constexpr std::size_t deepest = 200, longest = std::size_t{16} << 20;

 private:
  [[noreturn]] void fail(const std::string& got) const;
  [[noreturn]] void fail_here();
  bool refill();
  char look();
  void need(std::size_t count);
  void open(char bracket);
  bool is_empty();
  bool has_more();
  std::string_view key();
  void escape();
  std::uint32_t escaped_unit();
  void utf8();
  void word();

  std::string path_, expected_;
  std::ifstream stream_;
  std::vector<char> buffer_;     // one zero byte after what has been read ends every scan
  const char* at_ = nullptr;     // next byte
  const char* end_ = nullptr;    // of what has been read
  const char* token_ = nullptr;  // from here on bytes are kept when the buffer is refilled; null: from at_ on
  std::uint64_t before_ = 0;     // bytes of the file before the buffer
  std::string key_, text_;       // text_: a string with escapes
  std::size_t depth_ = 0;
  std::array<char, deepest> close_{};  // what ends the objects and arrays around the next value
};

}  // namespace stagecraft
