#pragma once
// One meeting of ranks inside a process: a message (two members) or a collective (all members of a group).

#include <c10/util/intrusive_ptr.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "exec/transport/checks.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

struct Exchange : c10::intrusive_ptr_target {
  bool is_message = false;
  CollectiveCall call = CollectiveCall::barrier;
  Reduction reduction = Reduction::sum;
  std::int32_t root = 0;
  std::vector<at::Tensor> inputs, outputs;       // per member; a message has inputs[0] and outputs[1]
  std::vector<std::optional<c10::Event>> ready;  // per member: its tensors may be touched
  std::int32_t arrived = 0;
  std::int32_t pieces = 0, claimed = 0, done = 0;
  bool complete = false;                   // on CPU the data is there, on GPU the copies are queued
  std::string problem;                     // the members do not fit together
  std::optional<c10::Event> began, ended;  // on GPU, on the stream that carries the copies
  double started_s = 0, finished_s = 0;

  std::int32_t members() const { return static_cast<std::int32_t>(inputs.size()); }
  bool on_cpu() const;
};
using ExchangePtr = c10::intrusive_ptr<Exchange>;

struct InProcessGroup {
  std::vector<std::int32_t> ranks;
  std::vector<std::uint64_t> calls;           // per member, made so far
  std::map<std::uint64_t, ExchangePtr> open;  // by call number, until the last member has arrived
};

struct InProcessState {
  explicit InProcessState(std::int32_t count, const TransportOptions& given) : ranks(count), options(given) {}
  const std::int32_t ranks;
  const TransportOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::string stop_word;
  bool aborted = false;
  // (from, to, channel, tag) -> exchanges that miss one end, oldest first
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>, std::deque<ExchangePtr>> mail;
  std::deque<InProcessGroup> groups;
  // On a GPU: an event whose host time is known, from which other events are dated.
  std::optional<c10::Event> anchor;
  double anchor_s = 0;
};

/// A reason why the members' tensors do not fit together, or "".
std::string mismatch(const Exchange& exchange);

/// How many independent pieces the copies fall into (0 for a barrier).
std::int32_t piece_count(const Exchange& exchange);

/// Copies or reduces one piece; pieces touch disjoint memory.
void run_piece(const Exchange& exchange, std::int32_t piece);

}  // namespace stagecraft
