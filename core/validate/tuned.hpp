#pragma once
// Published runs were tuned before they were measured: what a record leaves open of its micro-batch and virtual stages
// is what runs fastest among the layouts that fit.

#include "validate/mapping.hpp"
#include "validate/rehearsed.hpp"

namespace stagecraft {

/// Whether the run fits the memory of its GPUs; close to the limit is not over it.
bool may_fit(const Rehearsed& run);

/// The scenario of a mapping, with as few recomputed blocks as make it fit where the record leaves that open, too.
/// Throws InputError.
Scenario scenario_of(const Record& record, Mapping& mapping, const Library& library);

/// Of micro-batches of 1, 2, 4 and 8 and all numbers of virtual stages that the blocks divide by, the fastest among
/// those that fit with room to spare; if there are none, among those close to the limit, then among all. Nothing chosen
/// if nothing is open, or no layout can run.
TunedLayout fastest_layout(const Record& record, const Mapping& mapping, const Library& library);

}  // namespace stagecraft
