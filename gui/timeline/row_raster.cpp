#include "gui/timeline/row_raster.hpp"

#include <algorithm>

#include "gui/timeline/column_stack.hpp"
#include "trace/level_of_detail_columns.hpp"

namespace stagecraft::gui {
namespace {

constexpr int separator_from = 4;  // columns that a slice needs to be set off from the one before
constexpr float separator_strength = 0.55F, faintest = 0.72F;

class Raster {
 public:
  Raster(const RowTarget& target, const RowColors& colors) : target_(target), colors_(colors) {
    clip_top_ = std::max(target.clip_top, target.top);
    clip_bottom_ = std::min(target.clip_bottom, target.top + target.height);
  }

  bool visible() const { return clip_bottom_ > clip_top_; }

  /// What follows is painted from column `first` to `last`; columns left out since what came before are a gap.
  void reach(int first, int last) {
    if (first > reached_) {
      for (int y = clip_top_; y < clip_bottom_; ++y) std::fill_n(at(reached_, y), first - reached_, colors_.gap);
    }
    reached_ = last;
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
        int phase = (target_.left + first + y + colors_.hatch_phase) % colors_.hatch_period;
        for (int x = 0; x < last - first; ++x) {
          line[x] = phase < colors_.hatch_line ? colors_.hatch[k] : colors_.fill[k];
          if (++phase == colors_.hatch_period) phase = 0;
        }
      } else {
        std::fill_n(line, last - first,
                    y >= split ? (dim > 0 ? blended(tensor_fill, colors_.gap, dim) : tensor_fill) : fill);
      }
      if (set_off && !hatched) *line = blended(*line, colors_.gap, separator_strength);
    }
  }

 private:
  QRgb* at(int column, int y) const {
    return target_.bits + static_cast<std::ptrdiff_t>(y) * target_.stride + target_.left + column;
  }

  const RowTarget& target_;
  const RowColors& colors_;
  int clip_top_ = 0, clip_bottom_ = 0, reached_ = 0;
};

double width_of(std::span<const std::int64_t> bounds, int column) {
  const auto k = static_cast<std::size_t>(column);
  return static_cast<double>(bounds[k + 1] - bounds[k]);
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
  Raster raster(target, colors);
  if (!raster.visible()) return;
  const int columns = static_cast<int>(bounds.size()) - 1;
  ColumnStack stack(target, colors, row.slots());
  const auto dim_of = [&](std::uint32_t span) {
    if (dimming.slack_s == nullptr || span == no_span) return 0.0F;
    const float slack = (*dimming.slack_s)[span];
    return slack <= 0 ? 0.0F : faintest * std::min(1.0F, 0.35F + 0.65F * slack / dimming.full_s);
  };
  sample_columns(
      row, bounds,
      [&](int first, int last, std::size_t i) {
        raster.reach(first, last);
        const SliceRow::Slice slice = row[i];
        const float tensor = slice.tensor_ns > 0 ? static_cast<float>(slice.tensor_ns) /
                                                       static_cast<float>(slice.end_ns - slice.begin_ns)
                                                 : 0.0F;
        const bool begins_here = first > 0 && slice.begin_ns > bounds[static_cast<std::size_t>(first) - 1];
        const float dim = dim_of(slice.span);
        if (last - first < separator_from && dim <= 0) {
          for (int k = first; k < last; ++k) stack.add(k, row.slot(i), row.tensor_slot(), tensor);
        } else {
          raster.solid(first, last, slice.kind, tensor, dim, begins_here && last - first >= separator_from);
        }
      },
      [&](int column, const SliceRow::SlotTime& time) {
        raster.reach(column, column + 1);
        stack.add(column, time, width_of(bounds, column));
      });
  raster.reach(columns, columns);
  stack.flush();
}

void raster_mean(const RowTarget& target, const std::vector<const SliceRow*>& rows,
                 std::span<const std::int64_t> bounds, const RowColors& colors) {
  Raster raster(target, colors);
  if (!raster.visible() || rows.empty()) return;
  std::array<SliceClass, slice_class_count> all_classes;
  for (std::size_t i = 0; i < slice_class_count; ++i) all_classes[i] = static_cast<SliceClass>(i);
  const std::size_t columns = bounds.size() - 1;
  std::vector<TimeByClass> sum(columns, TimeByClass{});
  for (const SliceRow* row : rows) {
    sample_columns(
        *row, bounds,
        [&](int first, int last, std::size_t i) {
          for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(last); ++k) {
            SliceRow::SlotTime time{};
            row->add_part(i, bounds[k], bounds[k + 1], time);
            row->add(time, sum[k]);
          }
        },
        [&](int column, const SliceRow::SlotTime& time) { row->add(time, sum[static_cast<std::size_t>(column)]); });
  }
  ColumnStack stack(target, colors, all_classes);
  SliceRow::SlotTime time{};
  for (int k = 0; k < static_cast<int>(columns); ++k) {
    const auto column = static_cast<std::size_t>(k);
    if (bounds[column + 1] == bounds[column]) continue;
    raster.reach(k, k + 1);
    std::copy(sum[column].begin(), sum[column].end(), time.begin());
    stack.add(k, time, width_of(bounds, k) * static_cast<double>(rows.size()));
  }
  raster.reach(static_cast<int>(columns), static_cast<int>(columns));
  stack.flush();
}

}  // namespace stagecraft::gui
