#pragma once
// From a record to a scenario by one stated rule for all records (docs/validation.md). What the record does not say is
// inferred, and every inferred input is listed; what the program cannot express makes the record unmapped, with the
// reason.

#include <optional>
#include <string>
#include <vector>

#include "spec/scenario.hpp"
#include "validate/record.hpp"

namespace stagecraft {

struct Inferred {
  std::string pointer;  // of the scenario: "/batch/micro"
  std::string value;
  std::string reason;
};

/// What a record may leave open about a layout that was tuned before it was measured.
struct TunedLayout {
  std::optional<std::int64_t> micro, virtual_stages;
};

struct Mapping {
  std::string scenario;      // JSON text, whole; empty if the record cannot be mapped
  std::string reason;        // why it cannot be mapped; empty: it is
  std::string no_step_time;  // why the step time is not predicted, "" if it is
  std::string no_memory;     // the same for memory and OOM
  std::vector<Inferred> inferred;
  std::string software;            // period, for the sets in which layouts are ranked
  bool recompute_is_open = false;  // not known: as few whole blocks of each stage as make the run fit
  bool micro_is_open = false, virtual_stages_are_open = false;  // not stated: the fastest that fits, validate/tuned.hpp
  double more_workspace = 0;  // bytes that the run's environment adds to the usual cuBLAS workspaces
};

/// Recomputes the first `blocks` blocks of each stage in full, none for 0, and notes it.
void set_recomputed_blocks(Mapping& mapping, std::int64_t blocks);

/// Never throws for what a record says. `tuned` fills in what the record leaves open; else that is 1.
Mapping map_record(const Record& record, const TunedLayout& tuned = {});

}  // namespace stagecraft
