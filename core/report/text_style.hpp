#pragma once
// ANSI emphasis, or none at all.

#include <string>

namespace stagecraft {

struct TextStyle {
  bool colour = false;

  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string faint(const std::string& text) const { return wrap("2", text); }
  std::string red(const std::string& text) const { return wrap("31", text); }
  std::string green(const std::string& text) const { return wrap("32", text); }
  std::string yellow(const std::string& text) const { return wrap("33", text); }
  std::string of_code(const char* code, const std::string& text) const { return wrap(code, text); }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return colour ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
};

}  // namespace stagecraft
