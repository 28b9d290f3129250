// One folder to carry to a cluster: the frozen schedule, the scenario, and scripts that start the ranks.

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"
#include "executor.hpp"
#include "exit_code.hpp"
#include "plan/layout.hpp"
#include "plan/plan.hpp"
#include "schedule/json_text.hpp"
#include "spec/scenario.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

namespace fs = std::filesystem;

/// FNV-1a, as stagecraft-exec checks it.
std::string content_hash(const std::string& bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  return fmt::format("{:016x}", hash);
}

/// A word as the shell takes it literally.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char letter : word) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

std::string rank_script(const std::string& scenario, const std::vector<std::string>& overrides, const std::string& hash,
                        const char* device, int steps, int warmup) {
  std::string set;
  for (const std::string& one : overrides) set += " --set " + quoted(one);
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# One rank, started by torchrun, srun or mpirun. $STAGECRAFT_EXEC: the program, if it is not on the PATH.\n"
      "here=$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\" && pwd)\n"
      "exec \"${{STAGECRAFT_EXEC:-stagecraft-exec}}\" run --scenario \"$here\"/{}{} \\\n"
      "  --schedule \"$here/schedule.json\" --schedule-hash {} --expect-version {} \\\n"
      "  --device {} --steps {} --warmup {} --trace \"$here/measured.sgt\" \"$@\"\n",
      quoted(scenario), set, hash, STAGECRAFT_VERSION, device, steps, warmup);
}

std::string torchrun_script(std::int64_t nodes, std::int64_t per_node) {
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# On every node: ./launch_torchrun HEAD_NODE NODE_NUMBER\n"
      "set -euo pipefail\n"
      "here=$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\" && pwd)\n"
      "exec torchrun --no-python --nnodes {} --nproc-per-node {} --node-rank \"${{2:-0}}\" \\\n"
      "  --master-addr \"${{1:-127.0.0.1}}\" --master-port \"${{MASTER_PORT:-29511}}\" \"$here/run_rank\"\n",
      nodes, per_node);
}

/// A name that stands on a line of its own whatever the scenario is called.
std::string job_name(std::string name) {
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.';
    if (!plain) letter = '_';
  }
  return name.empty() ? "stagecraft" : name;
}

std::string slurm_script(const std::string& name, std::int64_t nodes, std::int64_t per_node) {
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "#SBATCH --job-name={}\n"
      "#SBATCH --nodes={}\n"
      "#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --gpus-per-node={}\n"
      "set -euo pipefail\n"
      "here=$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\" && pwd)\n"
      "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
      "export MASTER_PORT=${{MASTER_PORT:-29511}}\n"
      "exec srun \"$here/run_rank\"\n",
      job_name(name), nodes, per_node, per_node);
}

std::string mpirun_script(std::int64_t ranks) {
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# ./launch_mpirun [OPTION OF mpirun]...: ranks on CPU, for example --hostfile hosts\n"
      "set -euo pipefail\n"
      "here=$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\" && pwd)\n"
      "exec mpirun -np {} \"$@\" \"$here/run_rank\"\n",
      ranks);
}

/// Whether `path` lies in `folder` or below.
bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path relative = fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
}

bool is_own(const std::string& file, const Library& library) {
  return std::none_of(library.directories.begin(), library.directories.end(),
                      [&](const std::string& directory) { return lies_in(file, directory); });
}

/// The lowest folder that holds the scenario's file and all others of the user's own that it reads.
fs::path common_folder(const std::string& file, const std::vector<std::string>& own) {
  fs::path common = fs::weakly_canonical(file).parent_path();
  for (const std::string& one : own) {
    while (!lies_in(one, common) && common.has_relative_path()) common = common.parent_path();
  }
  return common;
}

/// Copies the scenario with what it extends and names, each in its place relative to the others. Returns where the
/// scenario's own file lies in `folder`. Throws InputError if the copy would still read something that stays behind.
std::string copy_scenario(const std::string& file, const std::vector<std::string>& overrides, const Scenario& scenario,
                          const fs::path& folder, const Library& library) {
  std::vector<std::string> own{file};
  for (const std::string& one : scenario.files) {
    if (is_own(one, library)) own.push_back(one);
  }
  const fs::path common = common_folder(file, own);
  const fs::path copies = folder / "scenario";
  const auto place = [&](const std::string& one) {
    return copies / fs::weakly_canonical(one).lexically_relative(common);
  };
  for (const std::string& one : own) {
    fs::create_directories(place(one).parent_path());
    write_file_whole(place(one).string(), read_file(one));
  }
  const Scenario copy = load_scenario(place(file).string(), overrides, library);
  for (const std::string& one : copy.files) {
    if (!is_own(one, library) || lies_in(one, copies)) continue;
    throw InputError(InputProblem{file, 0, 0, "", one + ", which the bundle would leave behind",
                                  "files named by paths relative to the scenario's file, not in --set", ""});
  }
  return place(file).lexically_relative(folder).string();
}

void write_script(const fs::path& path, const std::string& text) {
  write_file_whole(path.string(), text);
  ::chmod(path.c_str(), 0755);
}

}  // namespace

int run_bundle(const Words& words, const Console& console) {
  std::string file, output;
  std::vector<std::string> overrides;
  int steps = 3, warmup = 1;
  const auto app =
      make_app("bundle", "Writes one folder to carry to a cluster: frozen schedule, scenario, launch scripts.",
               {{"bundle my.json --output run/",
                 "then there: run/launch_torchrun, or sbatch run/launch_slurm; run/launch_mpirun for CPUs"},
                {"compare predicted.sgt run/measured.sgt", "what comes back"}});
  app->add_option("FILE", file, "A scenario")->required();
  add_overrides(*app, overrides);
  app->add_option("--output", output, "The folder to write")->required();
  app->add_option("--steps", steps, "Measured steps (3)")->check(number_between(1, 255));
  app->add_option("--warmup", warmup, "Steps before them (1)")->check(number_between(0, 1000000));
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const Prepared prepared = prepare_schedule(file, overrides, console);
  for (const Finding& note : prepared.notes) console.message("note", to_text(note));
  const std::string schedule = to_json(prepared.schedule);
  const std::string hash = content_hash(schedule);
  const std::int64_t ranks = world_size(make_plan(prepared.scenario).degrees);
  const std::int64_t per_node = std::min(gpus_per_node(prepared.scenario.cluster.node), ranks);
  const std::int64_t nodes = (ranks + per_node - 1) / per_node;
  const fs::path folder = output;
  std::error_code error;
  fs::create_directories(folder / "scenario", error);
  if (error) throw InputError(InputProblem{output, 0, 0, "", error.message(), "a folder that can be written", ""});
  for (const std::string& one : prepared.files) {
    if (lies_in(one, folder))
      throw InputError(InputProblem{output, 0, 0, "", one + ", which is read, lies in it", "another folder", ""});
  }
  const std::string scenario =
      copy_scenario(file, overrides, prepared.scenario, folder, default_library(console.executable));
  write_file_whole((folder / "schedule.json").string(), schedule);
  const bool cpu = prepared.scenario.cluster.gpu.architecture == "cpu";
  write_script(folder / "run_rank",
               rank_script(scenario, prepared.overrides, hash, cpu ? "cpu" : "cuda", steps, warmup));
  if (cpu) {
    write_script(folder / "launch_mpirun", mpirun_script(ranks));
  } else {
    write_script(folder / "launch_torchrun", torchrun_script(nodes, per_node));
    write_script(folder / "launch_slurm", slurm_script(prepared.scenario.name, nodes, per_node));
  }
  console.print(fmt::format("{}: {} ranks on {} nodes, schedule {} (hash {})\n", output, ranks, nodes,
                            prepared.schedule.name, hash));
  return ok;
}

}  // namespace stagecraft::cli
