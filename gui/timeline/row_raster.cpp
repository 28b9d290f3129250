#include "gui/timeline/row_raster.hpp"

#include <algorithm>

#include "trace/level_of_detail_columns.hpp"

namespace stagecraft::gui {
namespace {

constexpr int separator_from = 4;  // columns that a slice needs to be set off from the one before
constexpr float separator_strength = 0.55F, faintest = 0.72F;

constexpr std::array<SliceClass, slice_class_count> bottom_up = {
    SliceClass::tensor,          SliceClass::data,
    SliceClass::pipeline,        SliceClass::forward,
    SliceClass::recompute,       SliceClass::backward,
    SliceClass::input_grad,      SliceClass::weight_grad,
    SliceClass::optimizer,       SliceClass::awaits_data,
    SliceClass::awaits_pipeline, SliceClass::bubble_warmup,
    SliceClass::bubble_steady,   SliceClass::bubble_cooldown,
    SliceClass::other,
};

class Raster {
 public:
  Raster(const RowTarget& target, const RowColors& colors) : target_(target), colors_(colors) {
    clip_top_ = std::max(target.clip_top, target.top);
    clip_bottom_ = std::min(target.clip_bottom, target.top + target.height);
  }

  bool visible() const { return clip_bottom_ > clip_top_; }

  void clear(int columns) {
    for (int y = clip_top_; y < clip_bottom_; ++y) std::fill_n(at(0, y), columns, colors_.gap);
  }

  /// Columns [first, last) of one slice; the part of it that is tensor communication lies at the bottom.
  void solid(int first, int last, SliceClass kind, float tensor, float dim, bool set_off) {
    const int split =
        target_.top + target_.height - static_cast<int>(tensor * static_cast<float>(target_.height) + 0.5F);
    const auto k = static_cast<std::size_t>(kind);
    const QRgb fill = dim > 0 ? blended(colors_.fill[k], colors_.gap, dim) : colors_.fill[k];
    const QRgb tensor_fill = colors_.fill[static_cast<std::size_t>(SliceClass::tensor)];
    const bool hatched = colors_.hatch[k] != colors_.fill[k];
    for (int y = clip_top_; y < clip_bottom_; ++y) {
      QRgb* const line = at(first, y);
      if (hatched) {
        for (int x = first; x < last; ++x) line[x - first] = pattern(k, x, y);
      } else {
        std::fill_n(line, last - first,
                    y >= split ? (dim > 0 ? blended(tensor_fill, colors_.gap, dim) : tensor_fill) : fill);
      }
      if (set_off && !hatched) *line = blended(*line, colors_.gap, separator_strength);
    }
  }

  /// One column divided in the proportions of `time`, of which `whole` fills the height. A pixel that several classes
  /// share has their mean colour, so the colours of the column add up to its times.
  void stacked(int column, const TimeByClass& time, float pixels_per_ns) {
    int y = target_.top + target_.height - 1;      // the pixel being filled, from the bottom
    float room = 1, red = 0, green = 0, blue = 0;  // of that pixel
    const auto put = [&](QRgb color) {
      if (y >= clip_top_ && y < clip_bottom_) *at(column, y) = color;
      --y;
    };
    const auto mix = [&](QRgb color, float part) {
      red += part * static_cast<float>(qRed(color));
      green += part * static_cast<float>(qGreen(color));
      blue += part * static_cast<float>(qBlue(color));
      room -= part;
    };
    const auto finish = [&] {
      put(qRgb(static_cast<int>(red + 0.5F), static_cast<int>(green + 0.5F), static_cast<int>(blue + 0.5F)));
      room = 1;
      red = green = blue = 0;
    };
    for (const SliceClass kind : bottom_up) {
      const auto k = static_cast<std::size_t>(kind);
      if (time[k] <= 0) continue;
      float height = static_cast<float>(time[k]) * pixels_per_ns;
      if (height < room) {
        mix(colors_.fill[k], height);
        continue;
      }
      if (room < 1) {
        height -= room;
        mix(colors_.fill[k], room);
        finish();
      }
      const int whole_pixels = static_cast<int>(height + 1e-4F);
      const bool hatched = colors_.hatch[k] != colors_.fill[k];
      for (int i = 0; i < whole_pixels; ++i) put(hatched ? pattern(k, column, y) : colors_.fill[k]);
      height -= static_cast<float>(whole_pixels);
      if (height > 1e-4F) mix(colors_.fill[k], height);
    }
    if (room < 1) {
      mix(colors_.gap, room);
      finish();
    }
    while (y >= clip_top_) put(colors_.gap);
  }

 private:
  QRgb* at(int column, int y) const {
    return target_.bits + static_cast<std::ptrdiff_t>(y) * target_.stride + target_.left + column;
  }
  QRgb pattern(std::size_t k, int column, int y) const {
    const int phase = (target_.left + column + y + colors_.hatch_phase) % colors_.hatch_period;
    return phase < colors_.hatch_line ? colors_.hatch[k] : colors_.fill[k];
  }

  const RowTarget& target_;
  const RowColors& colors_;
  int clip_top_ = 0, clip_bottom_ = 0;
};

float pixels_per_ns(std::span<const std::int64_t> bounds, int column, int height, float rows) {
  const auto k = static_cast<std::size_t>(column);
  return static_cast<float>(height) / (rows * static_cast<float>(bounds[k + 1] - bounds[k]));
}

}  // namespace

QRgb blended(QRgb a, QRgb b, float part_of_b) {
  const auto mix = [part_of_b](int x, int y) {
    return static_cast<int>(static_cast<float>(x) + part_of_b * static_cast<float>(y - x) + 0.5F);
  };
  return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

std::array<SliceClass, slice_class_count> stacking_order() {
  return bottom_up;
}

void raster_row(const RowTarget& target, const SliceRow& row, std::span<const std::int64_t> bounds,
                const RowColors& colors, const SlackDimming& dimming) {
  Raster raster(target, colors);
  if (!raster.visible()) return;
  raster.clear(static_cast<int>(bounds.size()) - 1);
  const auto dim_of = [&](std::uint32_t span) {
    if (dimming.slack_s == nullptr || span == no_span) return 0.0F;
    const float slack = (*dimming.slack_s)[span];
    return slack <= 0 ? 0.0F : faintest * std::min(1.0F, 0.35F + 0.65F * slack / dimming.full_s);
  };
  sample_columns(
      row, bounds,
      [&](int first, int last, std::size_t i) {
        const SliceRow::Slice slice = row[i];
        const float tensor = slice.tensor_ns > 0 ? static_cast<float>(slice.tensor_ns) /
                                                       static_cast<float>(slice.end_ns - slice.begin_ns)
                                                 : 0.0F;
        const bool begins_here = first > 0 && slice.begin_ns > bounds[static_cast<std::size_t>(first) - 1];
        raster.solid(first, last, slice.kind, tensor, dim_of(slice.span),
                     begins_here && last - first >= separator_from);
      },
      [&](int column, const TimeByClass& time) {
        raster.stacked(column, time, pixels_per_ns(bounds, column, target.height, 1));
      });
}

void raster_mean(const RowTarget& target, const std::vector<const SliceRow*>& rows,
                 std::span<const std::int64_t> bounds, const RowColors& colors) {
  Raster raster(target, colors);
  if (!raster.visible() || rows.empty()) return;
  const std::size_t columns = bounds.size() - 1;
  std::vector<TimeByClass> sum(columns, TimeByClass{});
  for (const SliceRow* row : rows) {
    sample_columns(
        *row, bounds,
        [&](int first, int last, std::size_t i) {
          for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
            row->add_between(i, bounds[k], bounds[k + 1], sum[k]);
          }
        },
        [&](int column, const TimeByClass& time) {
          TimeByClass& of = sum[static_cast<std::size_t>(column)];
          for (std::size_t i = 0; i < slice_class_count; ++i) of[i] += time[i];
        });
  }
  raster.clear(static_cast<int>(columns));
  for (int k = 0; k < static_cast<int>(columns); ++k) {
    if (bounds[static_cast<std::size_t>(k) + 1] == bounds[static_cast<std::size_t>(k)]) continue;
    raster.stacked(k, sum[static_cast<std::size_t>(k)],
                   pixels_per_ns(bounds, k, target.height, static_cast<float>(rows.size())));
  }
}

}  // namespace stagecraft::gui
