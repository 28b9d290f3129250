#include "gui/timeline/row_raster.hpp"

#include <algorithm>

#include "trace/level_of_detail_columns.hpp"

namespace stagecraft::gui {
namespace {

constexpr int separator_from = 4;  // columns that a slice needs to be set off from the one before
constexpr float separator_strength = 0.55F, faintest = 0.72F;

constexpr std::array<SliceClass, slice_class_count> bottom_up = {
    SliceClass::tensor,        SliceClass::context,         SliceClass::expert,          SliceClass::data,
    SliceClass::copies,        SliceClass::pipeline,        SliceClass::forward,         SliceClass::recompute,
    SliceClass::backward,      SliceClass::input_grad,      SliceClass::weight_grad,     SliceClass::optimizer,
    SliceClass::awaits_data,   SliceClass::awaits_copies,   SliceClass::awaits_pipeline, SliceClass::bubble_warmup,
    SliceClass::bubble_steady, SliceClass::bubble_cooldown, SliceClass::other,
};

class Raster {
 public:
  /// `classes` are those of which times are stacked, in the order in which times are given.
  Raster(const RowTarget& target, const RowColors& colors, std::span<const SliceClass> classes)
      : target_(target), colors_(colors) {
    for (const SliceClass kind : bottom_up) {
      const auto found = std::find(classes.begin(), classes.end(), kind);
      if (found == classes.end()) continue;
      const auto k = static_cast<std::size_t>(kind);
      const QRgb fill = colors.fill[k];
      layers_[layer_count_++] = {static_cast<std::size_t>(found - classes.begin()),
                                 k,
                                 fill,
                                 colors.hatch[k] != fill,
                                 static_cast<float>(qRed(fill)),
                                 static_cast<float>(qGreen(fill)),
                                 static_cast<float>(qBlue(fill))};
    }
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

  /// One column divided in the proportions of `time`, in nanoseconds. A pixel that several classes share has their mean
  /// colour, so the colours of the column add up to its times.
  void stacked(int column, const std::int64_t* time, float pixels_per_ns) {
    const int bottom = target_.top + target_.height - 1;
    int y = bottom;  // the pixel being filled, from the bottom
    QRgb* pixel = at(column, y);
    float room = 1, red = 0, green = 0, blue = 0;  // of that pixel
    const auto put = [&](QRgb color) {
      if (y >= clip_top_ && y < clip_bottom_) *pixel = color;
      pixel -= target_.stride;
      --y;
    };
    const auto finish = [&] {
      put(0xff000000U | (static_cast<QRgb>(red + 0.5F) << 16) | (static_cast<QRgb>(green + 0.5F) << 8) |
          static_cast<QRgb>(blue + 0.5F));
      room = 1;
      red = green = blue = 0;
    };
    for (std::size_t l = 0; l < layer_count_; ++l) {
      const Layer& layer = layers_[l];
      if (time[layer.slot] <= 0) continue;
      float height = static_cast<float>(time[layer.slot]) * pixels_per_ns;
      if (room < 1 || height < 1) {
        const float part = std::min(height, room);
        red += part * layer.red;
        green += part * layer.green;
        blue += part * layer.blue;
        room -= part;
        height -= part;
        if (room > least) continue;
        finish();
      }
      while (height >= 1 - least) {
        put(layer.hatched ? pattern(layer.kind, column, y) : layer.fill);
        height -= 1;
      }
      if (height > least) {
        red = height * layer.red;
        green = height * layer.green;
        blue = height * layer.blue;
        room = 1 - height;
      }
    }
    if (room < 1) {
      red += room * static_cast<float>(qRed(colors_.gap));
      green += room * static_cast<float>(qGreen(colors_.gap));
      blue += room * static_cast<float>(qBlue(colors_.gap));
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

  static constexpr float least = 1e-3F;  // of a pixel
  struct Layer {
    std::size_t slot = 0, kind = 0;
    QRgb fill = 0;
    bool hatched = false;
    float red = 0, green = 0, blue = 0;
  };

  const RowTarget& target_;
  const RowColors& colors_;
  std::array<Layer, slice_class_count> layers_;
  std::size_t layer_count_ = 0;
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

void raster_row(const RowTarget& target, const SliceRow& row, std::span<const std::int64_t> bounds,
                const RowColors& colors, const SlackDimming& dimming) {
  Raster raster(target, colors, row.slots());
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
      [&](int column, const SliceRow::SlotTime& time) {
        raster.stacked(column, time.data(), pixels_per_ns(bounds, column, target.height, 1));
      });
}

void raster_mean(const RowTarget& target, const std::vector<const SliceRow*>& rows,
                 std::span<const std::int64_t> bounds, const RowColors& colors) {
  Raster raster(target, colors, bottom_up);
  if (!raster.visible() || rows.empty()) return;
  const std::size_t columns = bounds.size() - 1;
  std::vector<TimeByClass> sum(columns, TimeByClass{});
  for (const SliceRow* row : rows) {
    sample_columns(
        *row, bounds,
        [&](int first, int last, std::size_t i) {
          const SliceRow::Slice slice = (*row)[i];
          if (slice.tensor_ns == 0) {
            const auto kind = static_cast<std::size_t>(slice.kind);
            for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
              sum[k][kind] += bounds[k + 1] - bounds[k];
            }
            return;
          }
          SliceRow::SlotTime until, next;
          std::size_t block = row->before(bounds[static_cast<std::size_t>(first)], i / SliceRow::block_size, until);
          for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
            block = row->before(bounds[k + 1], block, next);
            for (std::size_t s = 0; s < row->slots().size(); ++s) {
              sum[k][static_cast<std::size_t>(row->slots()[s])] += next[s] - until[s];
            }
            until = next;
          }
        },
        [&](int column, const SliceRow::SlotTime& time) { row->add(time, sum[static_cast<std::size_t>(column)]); });
  }
  raster.clear(static_cast<int>(columns));
  std::array<std::int64_t, slice_class_count> stack{};
  for (int k = 0; k < static_cast<int>(columns); ++k) {
    const auto column = static_cast<std::size_t>(k);
    if (bounds[column + 1] == bounds[column]) continue;
    for (std::size_t l = 0; l < bottom_up.size(); ++l) stack[l] = sum[column][static_cast<std::size_t>(bottom_up[l])];
    raster.stacked(k, stack.data(), pixels_per_ns(bounds, k, target.height, static_cast<float>(rows.size())));
  }
}

}  // namespace stagecraft::gui
