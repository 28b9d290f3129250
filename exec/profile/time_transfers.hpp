#pragma once
// Seconds of messages and collectives between ranks.

#include <functional>

#include "exec/profile/time_layers.hpp"

namespace stagecraft {

/// "send" between ranks 0 and 1 (half a round trip) and the collectives of the tensor group, at the size that the
/// scenario's messages have and at a sixteenth of it. Made and used by all ranks alike.
class TransferTimer {
 public:
  explicit TransferTimer(const Timing& timing);
  void repeat(bool counts);
  /// `exchanges`: seconds that the blocks' own exchanges took (LayerTimer), which count for the larger size of the
  /// collectives: between GEMMs an exchange waits for the slowest rank too. Averages over the ranks, so all call it.
  void add_to(Profile& profile, const std::vector<double>& exchanges) const;

 private:
  struct Size {
    double bytes = 0;
    std::function<void()> work;
    std::vector<double> seconds;
  };
  struct Timed {
    const char* name;
    double factor;  // what the algorithm multiplies the bytes with
    int ranks;
    bool inside_blocks;
    Size large, small;
  };
  void add_messages();
  void add_collectives();

  const Timing& timing_;
  std::vector<Timed> all_;
};

}  // namespace stagecraft
