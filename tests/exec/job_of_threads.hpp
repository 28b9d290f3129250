#pragma once
// Runs a function once per rank, each in its own thread over one in-process job; the first exception is thrown again.

#include <functional>

#include "exec/transport/in_process.hpp"

namespace stagecraft {

void run_ranks(std::int32_t ranks, const TransportOptions& options, const std::function<void(Transport&)>& body);

}  // namespace stagecraft
