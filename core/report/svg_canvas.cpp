#include "report/svg_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/xml_text.hpp"

namespace stagecraft {
namespace {

std::string title(const std::string& tooltip) {
  return tooltip.empty() ? "" : fmt::format("<title>{}</title>", xml_text(tooltip));
}

}  // namespace

void SvgCanvas::box(Point corner, double width, double height, const BoxStyle& style, const std::string& name,
                    const std::string& tooltip) {
  add(
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\" fill=\"{}\" "
                  "stroke=\"{}\">{}</rect>\n",
                  corner.x, corner.y, width, height, style.radius, style.fill, style.stroke, title(tooltip)));
  if (name.empty()) return;
  // About 0.58 em per letter; a name that does not fit is set smaller.
  const double fitting = (width - 4) / (0.58 * static_cast<double>(name.size()));
  const double font = std::min(style.font, fitting);
  if (font < 5) return;
  text({corner.x + width / 2, corner.y + height / 2 + 0.36 * font}, name,
       {font, style.text_fill, "middle", false, false});
}

void SvgCanvas::line(Point from, Point to, const std::string& colour, double width, const std::string& tooltip) {
  add(
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                  "stroke-width=\"{:.2f}\" stroke-linecap=\"round\">{}</line>\n",
                  from.x, from.y, to.x, to.y, colour, width, title(tooltip)));
}

void SvgCanvas::arc(Point from, Point to, double depth, const std::string& colour, double width,
                    const std::string& tooltip) {
  const double low = 4.0 / 3 * depth;  // a cubic curve reaches three quarters of its handles
  add(
      fmt::format("<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" stroke=\"{}\" "
                  "stroke-width=\"{:.2f}\">{}</path>\n",
                  from.x, from.y, from.x, from.y + low, to.x, to.y + low, to.x, to.y, colour, width, title(tooltip)));
}

void SvgCanvas::text(Point at, const std::string& words, const TextStyleSvg& style) {
  labels_ += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" fill=\"{}\" text-anchor=\"{}\"{}{}>{}</text>\n", at.x, at.y,
      style.font, style.fill, style.anchor, style.bold ? " font-weight=\"bold\"" : "",
      style.halo ? " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"" : "",
      xml_text(words));
}

std::string SvgCanvas::document(double width, double height) const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
             "{1:.0f}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             width, height) +
         body_ + labels_ + "</svg>\n";
}

}  // namespace stagecraft
