#pragma once

#include "spec/object_reader.hpp"
#include "spec/training_spec.hpp"

namespace stagecraft {

/// The object "training" of a scenario.
TrainingSpec read_training(const JsonNode& node, Reading& reading);

}  // namespace stagecraft
