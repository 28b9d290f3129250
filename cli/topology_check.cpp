#include <fmt/core.h>

#include <algorithm>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "topology/check_topology.hpp"
#include "topology_verbs.hpp"

namespace stagecraft::cli {

int run_topology_check(const Words& words, const Console& console) {
  std::string file, output;
  const auto app = make_app("topology check",
                            "Says what is wrong or odd with the wiring of a cluster, all at once: GPUs that reach "
                            "nothing, rates above the hardware's, NICs on the wrong socket.",
                            {{"topology check my-cluster.json", ""}, {"topology check selene", ""}});
  app->add_option("FILE", file, "A cluster file, or a name of `topology list`")->required();
  add_output(*app, output);
  if (const auto help = parse(*app, words)) return console.print(*help), ok;
  keep_apart({file}, {{"--output", output}});

  const ClusterSpec cluster = load_cluster(file, default_library(console.executable));
  const Findings findings = check_topology(cluster);
  std::string text;
  for (const Finding& finding : findings) text += to_text(finding) + "\n";
  const auto errors = std::count_if(findings.begin(), findings.end(),
                                    [](const Finding& finding) { return finding.severity == Severity::error; });
  text += fmt::format("{}: {} errors, {} warnings\n", cluster.name, errors,
                      static_cast<std::ptrdiff_t>(findings.size()) - errors);
  write_output(console, output, text);
  return errors > 0 ? invalid_input : ok;
}

}  // namespace stagecraft::cli
