#include "gui/sweep/plot_scale.hpp"

#include <algorithm>
#include <cmath>

namespace stagecraft::gui {

PlotScale scale_around(double least, double most) {
  if (!(least <= most)) return {};
  const double room = most > least ? 0.06 * (most - least) : std::max(0.06 * std::abs(most), 1e-9);
  return {least - room, most + room, 0, 1};
}

std::vector<PlotTick> plot_ticks(const PlotScale& scale, double unit, double least_pixels) {
  const double pixels = std::max(1.0, std::abs(scale.end - scale.begin));
  const double low = scale.low / unit, high = scale.high / unit;
  const double rough = (high - low) * std::min(1.0, least_pixels / pixels);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough <= power ? 1 : rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10;
  const double step = factor * power;
  const int digits = std::clamp(-static_cast<int>(std::floor(std::log10(step) + 1e-9)), 0, 12);
  std::vector<PlotTick> ticks;
  for (double i = std::ceil(low / step); i * step <= high; ++i) {
    ticks.push_back({i * step * unit, QString::number(i * step, 'f', digits)});
    if (ticks.size() > 100) break;
  }
  return ticks;
}

PlotUnit plot_unit(double largest, const QString& unit) {
  if (unit == "B") return {1073741824.0, "GiB"};
  if (largest >= 2e6) return {1e6, "M " + unit};
  if (largest >= 2e3) return {1e3, "k " + unit};
  return {1, unit};
}

}  // namespace stagecraft::gui
