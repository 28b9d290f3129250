#pragma once
// Figure <-> pixel on one axis of a scatter.

#include <QString>
#include <vector>

namespace stagecraft::gui {

/// [low, high] is drawn from pixel `begin` to pixel `end`; end < begin draws upwards. Precondition: high > low.
struct PlotScale {
  double low = 0, high = 1;
  double begin = 0, end = 1;

  double pixel(double value) const { return begin + (value - low) / (high - low) * (end - begin); }
};

/// The range of the values with 6 % of room on either side; of one value, or none, some room around it.
PlotScale scale_around(double least, double most);

struct PlotTick {
  double value = 0;
  QString label;
};
/// Round values (1, 2 or 5 times a power of ten) at least `least_pixels` apart, labelled in units of `unit`.
std::vector<PlotTick> plot_ticks(const PlotScale& scale, double unit, double least_pixels);

/// The unit in which a figure is told on an axis: 1e3 and "k tokens/s" if the largest is 264,000.
struct PlotUnit {
  double size = 1;
  QString name;
};
PlotUnit plot_unit(double largest, const QString& unit);

}  // namespace stagecraft::gui
