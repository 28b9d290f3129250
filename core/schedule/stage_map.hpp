#pragma once
// Where the stages of a pipeline sit: the four ways in use.

#include "schedule/schedule.hpp"

namespace stagecraft {

/// Stage s on rank s mod p; v chunks per rank (arXiv 2104.04473, section 2.2).
StageMap loop_map(std::int32_t ranks, std::int32_t chunks);

/// Two chunks per rank, down and up again: stage s on rank s if s < p, else 2p-1-s (arXiv 2405.15362). The same as one
/// wave.
StageMap v_map(std::int32_t ranks);

/// 2w chunks per rank: w times down and up (arXiv 2308.15762).
StageMap zigzag_map(std::int32_t ranks, std::int32_t waves);

/// One stage per rank in falling order: the second replica of a bidirectional schedule (arXiv 2107.06925).
StageMap upward_map(std::int32_t ranks);

}  // namespace stagecraft
