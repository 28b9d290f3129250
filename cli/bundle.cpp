// One folder to carry to a cluster: the frozen schedule, the scenario, and scripts that start the ranks.

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/file_io.hpp"
#include "base/input_error.hpp"
#include "command_line.hpp"
#include "executor.hpp"
#include "exit_code.hpp"
#include "plan/layout.hpp"
#include "plan/plan.hpp"
#include "schedule/json_text.hpp"
#include "verb.hpp"

namespace stagecraft::cli {
namespace {

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

std::string rank_script(const std::vector<std::string>& overrides, const std::string& hash, const char* device,
                        int steps, int warmup) {
  std::string set;
  for (const std::string& one : overrides) set += " --set " + quoted(one);
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# One rank, started by torchrun, srun or mpirun. $STAGECRAFT_EXEC: the program, if it is not on the PATH.\n"
      "here=$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")\" && pwd)\n"
      "exec \"${{STAGECRAFT_EXEC:-stagecraft-exec}}\" run --scenario \"$here/scenario.json\"{} \\\n"
      "  --schedule \"$here/schedule.json\" --schedule-hash {} --expect-version {} \\\n"
      "  --device {} --steps {} --warmup {} --trace \"$here/measured.sgt\" \"$@\"\n",
      set, hash, STAGECRAFT_VERSION, device, steps, warmup);
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
      name, nodes, per_node, per_node);
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

void write_script(const std::filesystem::path& path, const std::string& text) {
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
  app->add_option("--steps", steps, "Measured steps (3)")->check(CLI::Range(1, 255));
  app->add_option("--warmup", warmup, "Steps before them (1)")->check(CLI::Range(0, 1000000));
  if (const auto help = parse(*app, words)) return console.print(*help), ok;

  const Prepared prepared = prepare_schedule(file, overrides, console);
  for (const Finding& note : prepared.notes) console.message("note", to_text(note));
  const std::string schedule = to_json(prepared.schedule);
  const std::string hash = content_hash(schedule);
  const std::int64_t ranks = world_size(make_plan(prepared.scenario).degrees);
  const std::int64_t per_node = std::min(gpus_per_node(prepared.scenario.cluster.node), ranks);
  const std::int64_t nodes = (ranks + per_node - 1) / per_node;
  std::error_code error;
  std::filesystem::create_directories(output, error);
  if (error) throw InputError(InputProblem{output, 0, 0, "", error.message(), "a folder that can be written", ""});
  const std::filesystem::path folder = output;
  write_file_whole((folder / "scenario.json").string(), read_file(file));
  write_file_whole((folder / "schedule.json").string(), schedule);
  const bool cpu = prepared.scenario.cluster.gpu.architecture == "cpu";
  write_script(folder / "run_rank", rank_script(overrides, hash, cpu ? "cpu" : "cuda", steps, warmup));
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
