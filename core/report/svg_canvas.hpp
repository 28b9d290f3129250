#pragma once
// Boxes, lines and words of an SVG picture. Internal to the room.

#include <string>

namespace stagecraft {

struct Point {
  double x = 0, y = 0;
};

struct BoxStyle {
  std::string fill = "#ffffff";
  std::string stroke = "none";
  double radius = 4;
  std::string text_fill = "#ffffff";
  double font = 11;
};

struct TextStyleSvg {
  double font = 11;
  std::string fill = "#333333";
  const char* anchor = "start";  // "middle", "end"
  bool bold = false;
  bool halo = false;  // white behind it, for words on lines
};

class SvgCanvas {
 public:
  /// A box with its name in the middle (none if empty), and a tooltip.
  void box(Point corner, double width, double height, const BoxStyle& style, const std::string& name,
           const std::string& tooltip = "");
  void line(Point from, Point to, const std::string& colour, double width, const std::string& tooltip = "");
  /// An arc that hangs `depth` below its ends (above if negative).
  void arc(Point from, Point to, double depth, const std::string& colour, double width,
           const std::string& tooltip = "");
  void text(Point at, const std::string& words, const TextStyleSvg& style);
  /// The whole document.
  std::string document(double width, double height) const;

 private:
  void add(const std::string& element) { body_ += element; }
  std::string body_;
  std::string labels_;  // over everything else
};

}  // namespace stagecraft
