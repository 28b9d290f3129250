#include "trace/json_stream.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

constexpr std::size_t first_size = std::size_t{256} << 10;

/// What a byte of a string is: 0 stands for itself, 1 needs a look.
constexpr std::array<std::uint8_t, 256> special = [] {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = c < 0x20 || c >= 0x80 || c == '"' || c == '\\' ? 1 : 0;
  return table;
}();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace

JsonStream::JsonStream(const std::string& path, const std::string& expected) : path_(path), expected_(expected) {
  std::error_code problem;
  stream_.rdbuf()->pubsetbuf(nullptr, 0);  // straight into the buffer here
  if (std::filesystem::is_regular_file(path, problem)) stream_.open(path, std::ios::binary);
  if (!stream_.is_open()) throw InputError(InputProblem{path, 0, 0, "", "no such regular file", expected, ""});
  buffer_.resize(first_size + 1);
  at_ = end_ = buffer_.data();
  refill();
  if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("\xEF\xBB\xBF")) at_ += 3;
}

void JsonStream::fail(const std::string& got) const {
  const std::string pointer = place ? place() : "";
  throw InputError(InputProblem{path_, 0, 0, pointer, fmt::format("{} at byte {}", got, byte()), expected_, ""});
}

void JsonStream::fail_here() {
  if (at_ == end_ && !refill()) fail("the file ends");
  const char c = *at_;
  fail(c > 0x20 && c < 0x7f ? fmt::format("no JSON: '{}'", c)
                            : fmt::format("no JSON: 0x{:02x}", static_cast<unsigned char>(c)));
}

/// More bytes behind the token, if there are any. Moves the buffer, and token_ and at_ with it.
bool JsonStream::refill() {
  const char* const keep = token_ ? token_ : at_;
  const auto kept = static_cast<std::size_t>(end_ - keep), passed = static_cast<std::size_t>(at_ - keep);
  before_ += static_cast<std::uint64_t>(keep - buffer_.data());
  std::memmove(buffer_.data(), keep, kept);
  if (kept > longest) fail("a string or number of more than 16 MiB");
  if (kept >= buffer_.size() / 2) buffer_.resize(2 * buffer_.size());
  stream_.read(buffer_.data() + kept, static_cast<std::streamsize>(buffer_.size() - 1 - kept));
  if (stream_.bad()) fail("a file that cannot be read further");
  const auto count = static_cast<std::size_t>(stream_.gcount());
  if (token_) token_ = buffer_.data();
  at_ = buffer_.data() + passed;
  end_ = buffer_.data() + kept + count;
  buffer_[kept + count] = '\0';
  return count > 0;
}

/// The next byte that is no white space; 0 at the end of the file (and for a zero byte, which is no JSON either).
char JsonStream::look() {
  for (;;) {
    const char c = *at_;
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      ++at_;
    } else if (c != '\0' || at_ != end_ || !refill()) {
      return *at_;
    }
  }
}

/// Makes sure that `count` bytes can be looked at.
void JsonStream::need(std::size_t count) {
  while (static_cast<std::size_t>(end_ - at_) < count) {
    if (refill()) continue;
    at_ = end_;
    fail_here();
  }
}

JsonStream::Type JsonStream::type() {
  const char c = look();
  if (c == '{') return Type::object;
  if (c == '[') return Type::array;
  if (c == '"') return Type::string;
  if (c == '-' || is_digit(c)) return Type::number;
  if (c == 't' || c == 'f' || c == 'n') return Type::word;
  fail_here();
}

void JsonStream::open(char bracket) {
  if (look() != bracket) fail_here();
  if (depth_ >= deepest) fail(fmt::format("more than {} levels of nesting", deepest));
  close_[depth_++] = bracket == '{' ? '}' : ']';
  ++at_;
}

/// Whether the innermost object or array has no values; it is left then.
bool JsonStream::is_empty() {
  if (look() != close_[depth_ - 1]) return false;
  ++at_;
  --depth_;
  return true;
}

/// Whether a comma follows the value; leaves the innermost object or array otherwise.
bool JsonStream::has_more() {
  const char c = look();
  if (c != ',' && c != close_[depth_ - 1]) fail_here();
  ++at_;
  if (c != ',') --depth_;
  return c == ',';
}

std::string_view JsonStream::key() {
  if (look() != '"') fail_here();
  key_ = string();
  if (look() != ':') fail_here();
  ++at_;
  return key_;
}

std::string_view JsonStream::string() {
  if (look() != '"') fail_here();
  bool escaped = false;
  for (token_ = ++at_;;) {
    while (special[static_cast<unsigned char>(*at_)] == 0) ++at_;
    if (*at_ == '"') break;
    if (*at_ == '\\') {
      if (!escaped) text_.clear();
      escaped = true;
      text_.append(token_, at_);
      if (text_.size() > longest) fail("a string or number of more than 16 MiB");
      token_ = at_;
      escape();
      token_ = at_;
    } else if (static_cast<unsigned char>(*at_) >= 0x80) {
      utf8();
    } else if (at_ != end_) {
      fail("a control character in a string");
    } else if (!refill()) {
      fail("the file ends");
    }
  }
  std::string_view result(token_, static_cast<std::size_t>(at_ - token_));
  if (escaped) result = text_.append(result);
  token_ = nullptr;
  ++at_;
  return result;
}

/// Takes "\n" or "\u00e9" and adds what it stands for to the text.
void JsonStream::escape() {
  need(2);
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const std::size_t letter = letters.find(at_[1]);
  if (letter != std::string_view::npos) {
    text_ += meant[letter];
    at_ += 2;
    return;
  }
  std::uint32_t code = escaped_unit();
  if (code >= 0xDC00 && code < 0xE000) fail("half of a surrogate pair");
  if (code >= 0xD800 && code < 0xDC00) {
    need(2);
    const bool pair = at_[0] == '\\' && at_[1] == 'u';
    const std::uint32_t low = pair ? escaped_unit() : 0;
    if (low < 0xDC00 || low >= 0xE000) fail("half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  append_utf8(text_, code);
}

/// The number in "\u00e9".
std::uint32_t JsonStream::escaped_unit() {
  if (at_[0] != '\\' || at_[1] != 'u') fail("no escape of JSON in a string");
  need(6);
  std::uint32_t code = 0;
  const auto [end, problem] = std::from_chars(at_ + 2, at_ + 6, code, 16);
  if (problem != std::errc() || end != at_ + 6) fail("no escape of JSON in a string");
  at_ += 6;
  return code;
}

/// Passes one character of several bytes (table 3-7 of the Unicode standard).
void JsonStream::utf8() {
  const auto lead = static_cast<unsigned char>(*at_);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  bool valid = lead >= 0xC2 && lead <= 0xF4;
  for (std::size_t i = 1; i < length && valid; ++i) {
    need(i + 1);
    const auto byte = static_cast<unsigned char>(at_[i]);
    valid = byte >= (i == 1 ? low : 0x80) && byte <= (i == 1 ? high : 0xBF);
  }
  if (!valid) fail("a string that is not UTF-8");
  at_ += length;
}

void JsonStream::word() {
  look();
  for (token_ = at_; end_ - at_ < 5 && refill();) {
  }
  const std::string_view ahead(at_, static_cast<std::size_t>(end_ - at_));
  token_ = nullptr;
  for (const std::string_view word : {"true", "false", "null"}) {
    if (!ahead.starts_with(word)) continue;
    at_ += word.size();
    return;
  }
  fail_here();
}

void JsonStream::skip() {
  const std::size_t outside = depth_;
  do {
    const Type next = type();
    bool more = false;
    if (next == Type::object || next == Type::array) {
      open(*at_);
      more = !is_empty();
    } else if (next == Type::string) {
      string();
    } else if (next == Type::number) {
      number();
    } else {
      word();
    }
    while (!more && depth_ > outside) more = has_more();
    if (more && close_[depth_ - 1] == '}') key();
  } while (depth_ > outside);
}

void JsonStream::end() {
  if (look() != '\0' || at_ != end_) fail_here();
}

JsonNumber JsonStream::number() {
  look();
  token_ = at_;
  do {
    while (is_digit(*at_) || *at_ == '.' || *at_ == 'e' || *at_ == 'E' || *at_ == '-' || *at_ == '+') ++at_;
  } while (at_ == end_ && refill());
  const std::string_view text(token_, static_cast<std::size_t>(at_ - token_));
  token_ = nullptr;
  const std::optional<JsonNumber> number = parse_json_number(text);
  if (!number) fail(fmt::format("no number of JSON that a double can hold: {}", text.substr(0, 40)));
  return *number;
}

}  // namespace stagecraft
