#include "gui/timeline/describe.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "gui/models/trace_counters.hpp"
#include "gui/timeline/memory_raster.hpp"
#include "gui/timeline/view_geometry.hpp"

namespace stagecraft::gui {
namespace {

std::string shares_of(const TimeByClass& time, std::int64_t whole) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < slice_class_count; ++i) {
    if (time[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });
  std::string text;
  for (const std::size_t i : order) {
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", to_text(static_cast<SliceClass>(i)),
                        100.0 * static_cast<double>(time[i]) / static_cast<double>(whole));
  }
  return text;
}

std::string memory_text(const MemoryCurve& curve, double time_s) {
  const std::size_t i = point_at(curve.time_s, time_s);
  if (i == curve.time_s.size()) return "";
  std::string text = fmt::format("memory of rank {}: {}", curve.rank, bytes_text(curve.total[i]));
  for (std::size_t c = 0; c < curve.classes.size(); ++c) {
    if (curve.bytes[c][i] <= 0) continue;
    std::string name = curve.classes[c];
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format(", {} {}", name, bytes_text(curve.bytes[c][i]));
  }
  return text;
}

}  // namespace

QString describe(const LoadedTrace& loaded, std::uint32_t index) {
  const Span& span = loaded.trace.spans[index];
  std::string text = fmt::format("{}: rank {}", short_name(loaded.trace, span), span.rank);
  if (span.stage >= 0) text += fmt::format(", stage {}", span.stage);
  if (span.micro_batch >= 0) text += fmt::format(", micro-batch {}", span.micro_batch);
  if (loaded.trace.steps > 1) text += fmt::format(", step {}", span.step);
  const double length = span.end_s - span.begin_s;
  text += fmt::format(", {} from {}", duration_text(length), time_text(span.begin_s, std::max(length / 1000, 1e-9)));
  if (span.tensor_s > 0 && span.segment < 0) {
    text += fmt::format(", of which {} tensor-parallel communication", duration_text(std::min(span.tensor_s, length)));
  }
  const InnerCommunication inner = inner_of(loaded.trace, span);
  const auto part = [&](double seconds, const char* what) {
    if (seconds > 0) text += fmt::format(", {} {}", duration_text(seconds), what);
  };
  part(inner.context_s, "context-parallel communication");
  part(inner.expert_s, "expert-parallel communication");
  part(inner.data_s, "data-parallel communication");
  part(inner.copies_s, "copies between GPU and host");
  if (span.segment < 0) {
    const double slack = static_cast<double>(loaded.slack_s[index]);
    if (loaded.is_critical[index]) {
      text += "; on the critical path";
    } else if (!loaded.trace.dependencies.empty()) {
      text += fmt::format("; slack {}", duration_text(slack));
    }
  }
  return QString::fromStdString(text);
}

QString describe(const LoadedTrace& loaded, const SliceRow::Slice& slice) {
  if (slice.span != no_span) return describe(loaded, slice.span);
  const double length = static_cast<double>(slice.end_ns - slice.begin_ns) * 1e-9;
  const double begin = static_cast<double>(slice.begin_ns) * 1e-9;
  return QString::fromStdString(fmt::format("{}: {} from {}", to_text(slice.kind), duration_text(length),
                                            time_text(begin, std::max(length / 1000, 1e-9))));
}

QString describe_point(const TimelineView& view, QPointF point) {
  const std::size_t index = row_at(view.rows, static_cast<int>(point.y()) + view.scroll_y);
  if (index == view.rows.size()) return {};
  const Row& row = view.rows[index];
  const Source& source = view.sources[row.source];
  const double time_s = view.axis.time_at(point.x()) - source.shift_s;
  if (row.kind == RowKind::memory) {
    for (const MemoryCurve& curve : source.loaded->memory) {
      if (curve.rank == row.rank) return QString::fromStdString(memory_text(curve, time_s));
    }
    return {};
  }
  if (row.lanes.size() == 1) {
    const auto slice = slice_at(view, point);
    return slice ? describe(*source.loaded, source.loaded->lanes[slice->lane].slices[slice->slice]) : QString();
  }
  TimeByClass sum{};
  const std::int64_t begin = nanoseconds(time_s),
                     width = std::max<std::int64_t>(1, nanoseconds(view.axis.seconds_per_pixel()));
  for (const std::uint32_t lane : row.lanes) {
    const TimeByClass time = source.loaded->lanes[lane].slices.between(begin, begin + width);
    for (std::size_t i = 0; i < slice_class_count; ++i) sum[i] += time[i];
  }
  const std::string shares = shares_of(sum, width * static_cast<std::int64_t>(row.lanes.size()));
  return QString::fromStdString(fmt::format("{}, mean of {} ranks: {}", row.label, row.lanes.size(), shares));
}

}  // namespace stagecraft::gui
