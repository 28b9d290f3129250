#pragma once
// The verbs of the program: what main's table lists and each verb's file defines.

#include <string>
#include <vector>

#include "console.hpp"

namespace stagecraft::cli {

using Words = std::vector<std::string>;  // what follows the verb on the command line

struct Verb {
  const char* name;
  const char* summary;
  int (*run)(const Words& words, const Console& console);  // returns an exit code
};

int run_simulate(const Words& words, const Console& console);
int run_check(const Words& words, const Console& console);
int run_memory(const Words& words, const Console& console);
int run_explain(const Words& words, const Console& console);
int run_execute(const Words& words, const Console& console);
int run_profile(const Words& words, const Console& console);
int run_bundle(const Words& words, const Console& console);
int run_render(const Words& words, const Console& console);
int run_compare(const Words& words, const Console& console);
int run_import(const Words& words, const Console& console);
int run_export(const Words& words, const Console& console);
int run_observe(const Words& words, const Console& console);
int run_validate(const Words& words, const Console& console);
int run_calibrate(const Words& words, const Console& console);
int run_schedule(const Words& words, const Console& console);
int run_topology(const Words& words, const Console& console);
int run_nccl_tests(const Words& words, const Console& console);
int run_models(const Words& words, const Console& console);
int run_schema(const Words& words, const Console& console);

}  // namespace stagecraft::cli
