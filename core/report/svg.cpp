#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/xml_text.hpp"
#include "report/timeline_rows.hpp"

namespace stagecraft {
namespace {

constexpr double left = 110, right = 20, top = 34, compute_height = 26, other_height = 9, row_gap = 3, rank_gap = 5;
constexpr double narrowest = 1.5;  // pixels that a span needs to be drawn on its own

/// 1, 2 or 5 times a power of ten, for about ten ticks.
double tick_length(double length) {
  const double rough = length / 10;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

class Picture {
 public:
  Picture(const Trace& trace, const SvgOptions& options)
      : trace_(trace), options_(options), rows_(timeline_rows(trace, options.communication)) {
    length_ = std::max(trace.end_s - trace.begin_s, std::numeric_limits<double>::min());
    scale_ = (options.width - left - right) / length_;
  }

  std::string draw() {
    double y = top;
    std::int32_t rank = rows_.empty() ? 0 : rows_.front().rank;
    for (const TimelineRow& row : rows_) {
      if (row.rank != rank) y += rank_gap;
      rank = row.rank;
      y = draw_row(row, y);
    }
    const double height = y + 34;
    axis(y);
    legend(y + 20);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1:.0f}\" viewBox=\"0 0 {0} {1:.0f}\" "
               "font-family=\"sans-serif\" font-size=\"11\">\n"
               "<defs><pattern id=\"bubble\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
               "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#f4f4f4\"/>"
               "<rect width=\"1.5\" height=\"6\" fill=\"#c4c4c4\"/></pattern></defs>\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
               "<text x=\"{2:.0f}\" y=\"20\" font-size=\"13\">{3}</text>\n",
               options_.width, height, left, xml_text(title())) +
           fmt::to_string(body_) + "</svg>\n";
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), form, std::forward<Values>(values)...);
  }

  std::string title() const {
    std::string text = trace_.scenario;
    if (!trace_.kind.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", ", trace_.kind);
    return text;
  }

  double x_of(double time_s) const { return left + (time_s - trace_.begin_s) * scale_; }

  double draw_row(const TimelineRow& row, double y) {
    const bool computes = row.lane == Lane::compute;
    const double height = computes ? compute_height : other_height;
    if (computes) {
      add("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">rank {}</text>\n", left - 8, y + height / 2 + 4,
          row.rank);
      add("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"url(#bubble)\"/>\n", left, y,
          length_ * scale_, height);
    } else if (row.sub_lane == 0) {
      add("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\" font-size=\"8\" fill=\"#777777\">{}</text>\n", left - 8,
          y + height - 1, to_text(row.lane));
    }
    columns_.assign(static_cast<std::size_t>(options_.width) + 1, {});
    for (const std::uint32_t index : row.spans) draw_span(trace_.spans[index], index, y, height);
    draw_columns(y, height);
    return y + height + row_gap;
  }

  void draw_span(const Span& span, std::uint32_t index, double y, double height) {
    const double x = x_of(span.begin_s), width = (span.end_s - span.begin_s) * scale_;
    const PaintKind kind = paint_of(span.kind);
    if (width < narrowest) {
      const auto column = static_cast<std::size_t>(std::clamp(x + width / 2, 0.0, static_cast<double>(options_.width)));
      columns_[column][static_cast<std::size_t>(kind)] += width;
      return;
    }
    const std::string name = xml_text(short_name(trace_, span));
    add("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#ffffff\" "
        "stroke-width=\"{}\"><title>{} {:.6g} to {:.6g} {}</title></rect>\n",
        x, y, width, height, paint(kind).fill, width > 6 ? 0.5 : 0, name, span.begin_s, span.end_s, options_.unit);
    const std::string label = span.micro_batch >= 0 ? fmt::format("{}", span.micro_batch) : "";
    const double font =
        std::min(11.0, (width - 1.5) / (0.6 * static_cast<double>(std::max<std::size_t>(label.size(), 1))));
    if (label.empty() || height < compute_height || font < 6) return;
    add("<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"{:.1f}\" fill=\"{}\">{}</text>\n",
        x + width / 2, y + height / 2 + 0.36 * font, font,
        chunk_of(trace_.spans[index]) % 2 == 0 ? "#ffffff" : "#000000", label);
  }

  /// Chunks of one rank are told apart by white and black numbers.
  std::int32_t chunk_of(const Span& span) const {
    const auto ranks = static_cast<std::int32_t>(std::max<std::size_t>(trace_.ranks.size(), 1));
    return span.stage < 0 ? 0 : span.stage / ranks;
  }

  void draw_columns(double y, double height) {
    std::size_t column = 0;
    while (column < columns_.size()) {
      const int kind = most_of(column);
      std::size_t end = column + 1;
      while (end < columns_.size() && most_of(end) == kind) ++end;
      if (kind >= 0) {
        add("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n", column, y, end - column,
            height, paint(static_cast<PaintKind>(kind)).fill);
      }
      column = end;
    }
  }

  int most_of(std::size_t column) const {
    const auto& widths = columns_[column];
    const auto most = std::max_element(widths.begin(), widths.end());
    return *most > 0 ? static_cast<int>(most - widths.begin()) : -1;
  }

  void axis(double y) {
    const double tick = tick_length(length_);
    for (int i = 0; i * tick <= length_ * (1 + 1e-9); ++i) {
      const double x = left + i * tick * scale_;
      add("<line x1=\"{0:.2f}\" y1=\"{1:.0f}\" x2=\"{0:.2f}\" y2=\"{2:.1f}\" stroke=\"#999999\" "
          "stroke-width=\"0.5\"/>\n",
          x, top - 4, y);
      add("<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"9\" fill=\"#555555\">{:.4g} {}</text>\n",
          x, y + 10, i * tick, options_.unit);
    }
  }

  void legend(double y) {
    std::array<bool, paint_count> used{};
    for (const TimelineRow& row : rows_) {
      for (const std::uint32_t index : row.spans)
        used[static_cast<std::size_t>(paint_of(trace_.spans[index].kind))] = true;
    }
    double x = left;
    const auto entry = [&](const char* fill, const char* name) {
      add("<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" fill=\"{}\"/>\n", x, y, fill);
      add("<text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n", x + 15, y + 9.5, name);
      x += 125;
    };
    for (std::size_t i = 0; i < paint_count; ++i) {
      if (used[i]) entry(paint(static_cast<PaintKind>(i)).fill, paint(static_cast<PaintKind>(i)).name);
    }
    entry("url(#bubble)", "bubble");
  }

  const Trace& trace_;
  const SvgOptions& options_;
  std::vector<TimelineRow> rows_;
  double length_ = 0, scale_ = 0;
  std::vector<std::array<double, paint_count>> columns_;  // pixels by kind, of spans too narrow to draw
  fmt::memory_buffer body_;
};

}  // namespace

std::string timeline_svg(const Trace& trace, const SvgOptions& options) {
  return Picture(trace, options).draw();
}

}  // namespace stagecraft
