#include "report/figures.hpp"

#include <algorithm>
#include <array>

namespace stagecraft {
namespace {

constexpr std::array fields = {
    FigureField{"step_time_s", "step time", FigureUnit::seconds, &Report::step_time_s},
    FigureField{"tokens_per_s", "tokens/s", FigureUnit::per_second, &Report::tokens_per_s},
    FigureField{"tokens_per_s_per_gpu", "tokens/s per GPU", FigureUnit::per_second, &Report::tokens_per_s_per_gpu},
    FigureField{"tflops_per_gpu", "model TFLOP/s per GPU", FigureUnit::tflops, &Report::tflops_per_gpu},
    FigureField{"mfu", "MFU", FigureUnit::fraction, &Report::mfu},
    FigureField{"hfu", "HFU", FigureUnit::fraction, &Report::hfu},
    FigureField{"bubble_fraction", "bubble", FigureUnit::fraction, &Report::bubble_fraction},
    FigureField{"peak_memory_bytes", "peak memory", FigureUnit::bytes, &Report::peak_memory_bytes},
};

}  // namespace

std::span<const FigureField> figure_fields() {
  return fields;
}

double exposed_communication(const Report& report) {
  double seconds = 0;
  for (const TimeClass one : exposed_classes) seconds += report.breakdown[static_cast<std::size_t>(one)];
  return seconds / std::max(total(report.breakdown), 1e-300);
}

const FigureField* find_figure(std::string_view key) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FigureField& f) { return key == f.key; });
  return found == fields.end() ? nullptr : &*found;
}

double computing_share(const Breakdown& mean, const StepCosts& costs) {
  double computes = -costs.host_s - costs.data_loading_s - costs.garbage_collection_s;
  for (const TimeClass useful : {TimeClass::forward, TimeClass::backward, TimeClass::recompute, TimeClass::optimizer}) {
    computes += mean[static_cast<std::size_t>(useful)];
  }
  const double all = total(mean);
  return all > 0 ? std::max(0.0, computes / all) : 0;
}

}  // namespace stagecraft
