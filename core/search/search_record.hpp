#pragma once
// What a search has found out of its candidates so far, and the lines of its journal that keep it.

#include <cstdint>
#include <map>
#include <string>

#include "search/evaluate.hpp"

namespace stagecraft {

/// By a candidate's number, its position in the list of candidates.
struct SearchRecord {
  std::map<std::int64_t, Judgement> judged;  // `training` is not kept, it is the context's
  std::map<std::int64_t, double> closed_form_s, simulated_s;
  bool empty() const { return judged.empty() && closed_form_s.empty() && simulated_s.empty(); }
};

/// A line for everything in it, parted by newlines, without one at the end. Doubles survive to the bit.
std::string record_lines(const SearchRecord& record);

/// Adds what one line says. Throws InputError (file `path`) if record_lines writes no such line.
void read_record_line(const std::string& line, const std::string& path, SearchRecord& record);

}  // namespace stagecraft
