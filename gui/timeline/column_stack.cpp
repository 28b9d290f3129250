#include "gui/timeline/column_stack.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace stagecraft::gui {
namespace {

constexpr int pixels_at_once = 128;  // of a column: heights within them fit into 16 bits

using FourLongs = std::int64_t __attribute__((vector_size(32)));
using FourInts = std::int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
using FourShorts = std::int16_t __attribute__((vector_size(8)));
using FourHalves = std::uint16_t __attribute__((vector_size(8)));
using FourPixels = std::uint32_t __attribute__((vector_size(16)));

std::array<int, 3> channels(QRgb color) {
  return {qRed(color), qGreen(color), qBlue(color)};
}

using Lanes = std::int16_t __attribute__((vector_size(16)));

bool any(Lanes mask) {
  std::array<std::uint64_t, 2> bits;
  std::memcpy(bits.data(), &mask, sizeof(bits));
  return (bits[0] | bits[1]) != 0;
}

template <class Better>
std::int16_t best(Lanes value, Better&& better) {
  value = better(value, __builtin_shufflevector(value, value, 4, 5, 6, 7, 0, 1, 2, 3));
  value = better(value, __builtin_shufflevector(value, value, 2, 3, 0, 1, 6, 7, 4, 5));
  value = better(value, __builtin_shufflevector(value, value, 1, 0, 3, 2, 5, 4, 7, 6));
  return value[0];
}

std::int16_t lowest(Lanes value) {
  return best(value, [](Lanes a, Lanes b) { return a < b ? a : b; });
}

std::int16_t highest(Lanes value) {
  return best(value, [](Lanes a, Lanes b) { return a > b ? a : b; });
}

FourPixels pixels_of(FourShorts high, FourShorts low) {
  return (__builtin_convertvector(reinterpret_cast<FourHalves>(high), FourPixels) << 16) |
         __builtin_convertvector(reinterpret_cast<FourHalves>(low), FourPixels);
}

}  // namespace

/// What lies in eight columns, from the bottom; above it the gap.
struct ColumnStack::Stack {
  struct Part {
    Lanes top;                     // units above the lower edge of a pixel
    std::int16_t lowest, highest;  // of top
    std::size_t layer;
  };
  std::array<Part, slice_class_count + 1> parts;
};

ColumnStack::ColumnStack(const RowTarget& target, const RowColors& colors, std::span<const SliceClass> slots)
    : target_(target),
      colors_(colors),
      slot_count_(slots.size() <= SliceRow::few_slots ? SliceRow::few_slots : most_slots) {
  const auto layer = [&](std::size_t slot, QRgb fill, QRgb hatch) {
    Layer& made = layers_[layer_count_++];
    made.slot = slot;
    made.hatched = fill != hatch;
    const std::array<int, 3> own = channels(fill), line = channels(hatch);
    for (std::size_t c = 0; c < 3; ++c) {
      made.fill[c] = Lanes{} + static_cast<std::int16_t>(own[c]);
      made.hatch[c] = Lanes{} + static_cast<std::int16_t>(whole * (line[c] - own[c]));
    }
  };
  for (const SliceClass kind : bottom_up) {
    const auto found = std::find(slots.begin(), slots.end(), kind);
    const auto k = static_cast<std::size_t>(kind);
    if (found != slots.end()) layer(static_cast<std::size_t>(found - slots.begin()), colors.fill[k], colors.hatch[k]);
  }
  layer(0, colors.gap, colors.gap);
  clip_top_ = std::max(target.clip_top, target.top);
  clip_bottom_ = std::min(target.clip_bottom, target.top + target.height);
  for (int i = 0; i < colors.hatch_period + static_cast<int>(lanes); ++i) {
    lines_.push_back(i % colors.hatch_period < colors.hatch_line ? -1 : 0);
  }
}

std::size_t ColumnStack::place(int column) {
  if (count_ == batch || column != first_ + static_cast<int>(count_)) flush();
  if (count_ == 0) first_ = column;
  return count_++;
}

void ColumnStack::add(int column, const SliceRow::SlotTime& time, double full_ns) {
  std::array<float, most_slots>& heights = height_[place(column)];
  const auto units_per_ns = static_cast<float>(target_.height * whole / full_ns);
  if (full_ns > std::numeric_limits<std::int32_t>::max()) {
    for (std::size_t s = 0; s < slot_count_; ++s) heights[s] = static_cast<float>(time[s]) * units_per_ns;
    return;
  }
  for (std::size_t s = 0; s < slot_count_; s += 4) {
    FourLongs longs;
    std::memcpy(&longs, &time[s], sizeof(longs));
    const FourFloats units =
        __builtin_convertvector(__builtin_convertvector(longs, FourInts), FourFloats) * units_per_ns;
    std::memcpy(&heights[s], &units, sizeof(units));
  }
}

void ColumnStack::add(int column, std::size_t slot, std::size_t tensor_slot, float tensor) {
  std::array<float, most_slots>& heights = height_[place(column)];
  std::fill_n(heights.begin(), slot_count_, 0.0F);
  const auto full = static_cast<float>(target_.height * whole);
  heights[slot] = full * (1 - tensor);
  if (tensor > 0) heights[tensor_slot] += full * tensor;
}

void ColumnStack::flush() {
  for (std::size_t first = 0; first < count_; first += lanes) paint(first);
  count_ = 0;
}

/// Of the eight columns from `first` on, counted from `base` units above the bottom of the row.
void ColumnStack::stack(std::size_t first, int base, Stack& stack) const {
  std::size_t count = 0;
  const FourFloats least{}, most = FourFloats{} + float{(pixels_at_once + 1) * whole};
  FourFloats left = FourFloats{} + (0.5F - static_cast<float>(base)), right = left;
  Lanes below{};
  const auto short_of = [&](FourFloats units) {
    units = units > least ? units : least;
    units = units < most ? units : most;
    return __builtin_convertvector(__builtin_convertvector(units, FourInts), FourShorts);
  };
  for (std::size_t l = 0; l + 1 < layer_count_; ++l) {
    const std::size_t slot = layers_[l].slot;
    const auto height = [&](std::size_t i) { return height_[first + i][slot]; };
    left += FourFloats{height(0), height(1), height(2), height(3)};
    right += FourFloats{height(4), height(5), height(6), height(7)};
    const Lanes top = __builtin_shufflevector(short_of(left), short_of(right), 0, 1, 2, 3, 4, 5, 6, 7);
    if (!any(top != below)) continue;
    below = top;
    stack.parts[count++] = {top, lowest(top), highest(top), l};
  }
  constexpr std::int16_t above_all = std::numeric_limits<std::int16_t>::max();
  stack.parts[count] = {Lanes{} + above_all, above_all, above_all, layer_count_ - 1};
}

/// 8 columns from `first` on.
void ColumnStack::paint(std::size_t first) {
  const int bottom = target_.top + target_.height - 1, left = target_.left + first_ + static_cast<int>(first);
  const std::size_t bytes = std::min(lanes, count_ - first) * sizeof(QRgb);
  const Lanes one = Lanes{} + std::int16_t{whole}, zero{};
  Stack stack;
  std::size_t begin = 0, end = 0;          // parts that have something of the pixel in one of the columns: [begin, end]
  int from = bottom + 2 * pixels_at_once;  // heights in the stack count from this pixel
  for (int y = std::min(bottom, clip_bottom_ - 1); y >= clip_top_; --y) {
    if (from - y >= pixels_at_once) {
      from = y;
      begin = end = 0;
      this->stack(first, (bottom - from) * whole, stack);
    }
    const auto edge = static_cast<std::int16_t>((from - y) * whole);
    while (stack.parts[begin].highest <= edge) ++begin;
    while (stack.parts[end].lowest < edge + whole) ++end;
    const int phase = (left + y + colors_.hatch_phase) % colors_.hatch_period;
    Lanes lines;
    std::memcpy(&lines, &lines_[static_cast<std::size_t>(phase)], sizeof(lines));
    Lanes red = Lanes{} + std::int16_t{whole / 2}, green = red, blue = red, below{};
    for (std::size_t p = begin; p <= end; ++p) {
      const Layer& layer = layers_[stack.parts[p].layer];
      Lanes covered = stack.parts[p].top - edge;
      covered = covered > zero ? covered : zero;
      covered = covered < one ? covered : one;
      const Lanes share = covered - below;
      below = covered;
      red += share * layer.fill[0];
      green += share * layer.fill[1];
      blue += share * layer.fill[2];
      if (layer.hatched) {
        const Lanes hatched = (share == one) & lines;
        red += hatched & layer.hatch[0];
        green += hatched & layer.hatch[1];
        blue += hatched & layer.hatch[2];
      }
    }
    const Lanes alpha_red = (red >> 7) | static_cast<std::int16_t>(-256),
                green_blue = ((green >> 7) << 8) | (blue >> 7);
    QRgb* const line = target_.bits + static_cast<std::ptrdiff_t>(y) * target_.stride + left;
    const std::array<FourPixels, 2> pixels = {pixels_of(__builtin_shufflevector(alpha_red, alpha_red, 0, 1, 2, 3),
                                                        __builtin_shufflevector(green_blue, green_blue, 0, 1, 2, 3)),
                                              pixels_of(__builtin_shufflevector(alpha_red, alpha_red, 4, 5, 6, 7),
                                                        __builtin_shufflevector(green_blue, green_blue, 4, 5, 6, 7))};
    if (bytes == sizeof(pixels)) {
      std::memcpy(line, pixels.data(), sizeof(pixels));
    } else {
      std::memcpy(line, pixels.data(), bytes);
    }
  }
}

}  // namespace stagecraft::gui
