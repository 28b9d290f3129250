#include "report/keys.hpp"

namespace stagecraft {

std::vector<ReportKey> keys_of_provenance() {
  std::vector<ReportKey> keys = {
      {"published[].key", "string", "The figure of this report that was published for the scenario.", "", {}},
      {"published[].published", "number", "The published value, in the unit of the key.", "", {}},
  };
  add_figure_keys(keys, {"published[].predicted",
                         "number",
                         "The same figure, predicted; TFLOP/s and MFU in the convention of the published one.",
                         "the figure x FLOPs by published[].flop_convention / inputs.model_flops",
                         {"published[].key", "published[].flop_convention", "inputs.model_flops"}});
  const std::vector<ReportKey> rest = {
      {"published[].error",
       "number",
       "Relative error of the prediction, signed.",
       "published[].predicted / published[].published - 1",
       {"published[].predicted", "published[].published"}},
      {"published[].flop_convention",
       "string",
       "How the source counts FLOPs; \"\" where that does not matter.",
       "",
       {}},
      {"published[].source", "string", "Where it was published.", "", {}},
      {"defaults[].pointer", "string", "JSON pointer of a field of the scenario that the user left out.", "", {}},
      {"defaults[].value", "string", "The value that was chosen.", "", {}},
      {"defaults[].reason", "string", "Why.", "", {}},
      {"calibration.name", "string", "The calibration that was used: HARDWARE+SOFTWARE.", "", {}},
      {"calibration.hardware", "string", "Its hardware profile.", "", {}},
      {"calibration.software", "string", "Its software profile.", "", {}},
      {"calibration.constants[].name", "string", "Name of a constant of the cost model.", "", {}},
      {"calibration.constants[].value", "number", "Its value, in its unit.", "", {}},
      {"calibration.constants[].unit", "string", "Its unit.", "", {}},
      {"calibration.constants[].relative_error",
       "number",
       "Half width of its interval, as a fraction of the value.",
       "",
       {}},
      {"calibration.constants[].evidence",
       "string",
       "measured, fitted or borrowed (from other hardware or software).",
       "",
       {}},
      {"calibration.constants[].source", "string", "Where it comes from.", "", {}},
      {"calibration.notes[]", "string", "Remarks of the calibration's authors.", "", {}},
      {"outside_measured_range[]",
       "string",
       "What the run asks of the calibration outside the range that it was measured in.",
       "",
       {}},
      {"findings[].severity", "string", "warning or note.", "", {}},
      {"findings[].code", "string", "Stable word for the kind of finding.", "", {}},
      {"findings[].pointer", "string", "JSON pointer of the field to change.", "", {}},
      {"findings[].message", "string", "What was found.", "", {}},
      {"findings[].nearest", "string", "The nearest value that would work; \"\" if there is none.", "", {}},
  };
  keys.insert(keys.end(), rest.begin(), rest.end());
  return keys;
}

}  // namespace stagecraft
