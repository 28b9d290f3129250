#include "report/number_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace stagecraft {

std::string grouped(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (std::abs(value) < 100) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return fmt::format("{}{}", value < 0 ? "-" : "", digits);
}

std::string gibibytes(double bytes) {
  return fmt::format("{:.1f} GiB", bytes / 1073741824.0);
}
std::string percent(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}
std::string signed_percent(double fraction) {
  const double tenths = std::round(1000 * fraction) + 0.0;  // + 0.0 turns -0 into 0
  return fmt::format("{:+.1f} %", tenths / 10);
}

std::string count_of_parameters(double parameters) {
  if (parameters >= 1e12) return fmt::format("{:.2f}T", parameters / 1e12);
  if (parameters >= 1e9) return fmt::format("{:.1f}B", parameters / 1e9);
  if (parameters >= 1e6) return fmt::format("{:.1f}M", parameters / 1e6);
  return fmt::format("{:.0f}", parameters);
}

std::string duration(double seconds) {
  const double size = std::abs(seconds);
  if (size >= 1) return fmt::format("{:.{}f} s", seconds, size >= 100 ? 1 : size >= 10 ? 2 : 3);
  if (size >= 1e-3) return fmt::format("{:.{}f} ms", seconds * 1e3, size >= 0.1 ? 1 : 2);
  return fmt::format("{:.{}f} us", seconds * 1e6, size >= 1e-4 || size == 0 ? 0 : 2);
}

std::string bar(double fraction, int width) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double share = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto cells = static_cast<int>(std::lround(share * width * 8));
  std::string text;
  for (int i = 0; i < cells / 8; ++i) text += "█";
  return text + eighths[cells % 8];
}

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return used < columns ? text + std::string(columns - used, ' ') : text;
}

std::string right_aligned(const std::string& text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return used < columns ? fmt::format("{}{}", std::string(columns - used, ' '), text) : text;
}

std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  std::string out, line;
  bool first = true;
  const auto flush = [&] {
    if (!first) out.append("\n").append(indent, ' ');
    out += line;
    line.clear();
    first = false;
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, blank - at);
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > columns) flush();
    if (!line.empty()) line += ' ';
    line += word;
    at = blank + 1;
  }
  flush();
  return out;
}

}  // namespace stagecraft
