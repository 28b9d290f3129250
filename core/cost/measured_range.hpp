#pragma once
// What a law says of the inputs that it was measured over.

#include "cost/collective_time.hpp"

namespace stagecraft {

/// Whether the law of the kernel states a range and the kernel lies outside of it. Its time is then an extrapolation,
/// which counts as borrowed.
bool outside_range(const Kernel& kernel, const Calibration& calibration);

/// The calibration's law of a collective inside a node; nullptr if there is none.
const CollectiveProfile* law_inside(CollectiveKind kind, const Calibration& calibration);

}  // namespace stagecraft
