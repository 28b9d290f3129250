#pragma once
// Columns of a row of pixels, each divided in the proportions of times.

#include <cstdint>
#include <span>

#include "gui/timeline/row_raster.hpp"

namespace stagecraft::gui {

/// Classes in the order in which they are stacked: communication at the bottom, idle time on top.
inline constexpr std::array<SliceClass, slice_class_count> bottom_up = {
    SliceClass::tensor,        SliceClass::context,         SliceClass::expert,          SliceClass::data,
    SliceClass::copies,        SliceClass::pipeline,        SliceClass::forward,         SliceClass::recompute,
    SliceClass::backward,      SliceClass::input_grad,      SliceClass::weight_grad,     SliceClass::optimizer,
    SliceClass::awaits_data,   SliceClass::awaits_copies,   SliceClass::awaits_pipeline, SliceClass::bubble_warmup,
    SliceClass::bubble_steady, SliceClass::bubble_cooldown, SliceClass::other,
};

/// Collects neighbouring columns and paints them together, eight at once, without a branch on what is in them. A pixel
/// that several classes share has their mean colour, so the colours of a column add up to its times, to 1/256 of a
/// pixel where two classes meet. A hatched class is hatched in the pixels that are wholly its own.
class ColumnStack {
 public:
  /// Times are given by `slots`: the class that each of them counts. Referenced are target and colors.
  ColumnStack(const RowTarget& target, const RowColors& colors, std::span<const SliceClass> slots);

  /// Precondition: right of all columns before. The whole height stands for `full_ns`; what the times leave of it stays
  /// a gap, on top. Of `time` the first 8 numbers are read, or all where there are more than 8 slots.
  void add(int column, const SliceRow::SlotTime& time, double full_ns);
  /// A column of one slot, the lower `tensor` part of it communication.
  void add(int column, std::size_t slot, std::size_t tensor_slot, float tensor);
  /// Paints what has been added; to be called after the last column.
  void flush();

 private:
  static constexpr std::size_t lanes = 8, batch = 16, most_slots = slice_class_count + 1;
  static constexpr int whole = 128;  // units of a pixel's height
  using Lanes = std::int16_t __attribute__((vector_size(16)));
  struct Layer {
    std::array<Lanes, 3> fill{};   // red, green, blue
    std::array<Lanes, 3> hatch{};  // what a line of the hatching adds to that in a whole pixel
    bool hatched = false;
    std::size_t slot = 0;
  };
  struct Stack;

  std::size_t place(int column);
  void stack(std::size_t first, int base, Stack& stack) const;
  void paint(std::size_t first);

  const RowTarget& target_;
  const RowColors& colors_;
  std::array<Layer, slice_class_count + 1> layers_;  // from the bottom; the last one is the gap
  std::size_t layer_count_ = 0, slot_count_ = 0;
  int clip_top_ = 0, clip_bottom_ = 0;
  std::vector<std::int16_t> lines_;                            // [phase]: -1 on a line of the hatching, else 0
  int first_ = 0;                                              // column
  std::size_t count_ = 0;                                      // columns collected
  std::array<std::array<float, most_slots>, batch> height_{};  // [column][slot], units
};

}  // namespace stagecraft::gui
