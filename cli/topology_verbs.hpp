#pragma once
// What `topology` does besides listing and showing; each in its own file.

#include "spec/scenario.hpp"
#include "verb.hpp"

namespace stagecraft::cli {

/// `words`: what follows "topology check" and "topology import".
int run_topology_check(const Words& words, const Console& console);
int run_topology_import(const Words& words, const Console& console);

}  // namespace stagecraft::cli
