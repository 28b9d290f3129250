#pragma once
// A scenario: model + cluster + run settings, resolved from a file, what it extends, and `--set` overrides.

#include <string>
#include <string_view>
#include <vector>

#include "spec/cluster_spec.hpp"
#include "spec/model_spec.hpp"
#include "spec/run_spec.hpp"

namespace stagecraft {

/// A value that the user did not write; every one is printed in the report.
struct ChosenDefault {
  std::string pointer;  // "/overlap/pipeline"
  std::string value;    // as it would be written
  std::string reason;
};

/// A published figure that belongs to the scenario; printed beside the prediction.
struct PublishedFigure {
  std::string key;  // a key of the report: "tflops_per_gpu", "step_time_s"
  double value = 0;
  std::string flop_convention;  // for tflops_per_gpu and mfu: a name of cost/flops.hpp
  std::string source;
};

struct Scenario {
  std::string name;
  std::string description;
  std::string path;                // as the user named it
  std::vector<std::string> files;  // that were read for it, beside the calibration's, in order and each once
  ModelSpec model;
  ClusterSpec cluster;
  RunSpec run;
  std::string calibration;  // name or path; the cluster's if the user gave none
  std::vector<PublishedFigure> published;
  std::vector<ChosenDefault> defaults;
};

/// Where names are looked up: `DIR/models/NAME.json`, `DIR/gpus/NAME.json`, `DIR/clusters/NAME.json`, ...
struct Library {
  std::vector<std::string> directories;  // searched in order
};

/// The directories of an installed or a source tree: $STAGECRAFT_DATA, beside the executable, the source tree it was
/// built from.
Library default_library(const std::string& executable_path);

/// Reads and resolves a scenario. `overrides` are "PATH=VALUE" in the form of --set: "parallel.tensor=8",
/// "cluster.nodes=4"; VALUE is JSON, or a bare word taken as a string.
/// Throws InputError (exit code 3) for anything malformed, unknown, of a wrong type or without its unit.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Library& library);

/// The same for a text that lies in no file; `name` stands for it in messages, and relative paths start at its
/// directory.
Scenario parse_scenario(std::string_view text, const std::string& name, const std::vector<std::string>& overrides,
                        const Library& library);

ModelSpec load_model(const std::string& name_or_path, const Library& library);
ClusterSpec load_cluster(const std::string& name_or_path, const Library& library);

/// Names that exist in the library, sorted.
std::vector<std::string> model_names(const Library& library);
std::vector<std::string> cluster_names(const Library& library);

/// The JSON Schema (draft 7) texts of what people write: "scenario", "model", "cluster", "gpu".
/// `schema_text` throws InputError with the nearest name for any other.
std::vector<std::string> schema_names();
std::string schema_text(const std::string& name);

}  // namespace stagecraft
