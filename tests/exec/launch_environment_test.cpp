// How ranks that torchrun, srun or mpirun has started learn who they are: real processes with the launchers' variables.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "base/file_io.hpp"
#include "exec/launch/environment.hpp"
#include "exec/transport/bootstrap.hpp"
#include "exec/transport/transport.hpp"
#include "run_command.hpp"

using namespace stagecraft;

namespace {

namespace fs = std::filesystem;

/// A port of this machine that nobody listens on.
int free_port() {
  const int one = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(::bind(one, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  REQUIRE(::getsockname(one, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(one);
  return ntohs(address.sin_port);
}

std::string torchrun_sets(int rank, int size) {
  return "RANK=" + std::to_string(rank) + " WORLD_SIZE=" + std::to_string(size) +
         " LOCAL_RANK=" + std::to_string(rank) + " LOCAL_WORLD_SIZE=" + std::to_string(size) + " ";
}

std::string srun_sets(int rank, int size) {
  return "SLURM_PROCID=" + std::to_string(rank) + " SLURM_NTASKS=" + std::to_string(size) +
         " SLURM_LOCALID=" + std::to_string(rank) + " SLURM_JOB_NODELIST=here ";
}

/// The words of a bundle's rank script.
struct Bundle {
  fs::path folder = fs::temp_directory_path() / ("stagecraft-launched-" + std::to_string(::getpid()));
  Bundle() {
    const Ran ran =
        run_command(STAGECRAFT_BINARY_DIR "/bin/stagecraft bundle " STAGECRAFT_SOURCE_DIR
                                          "/scenarios/tiny-gpt-2cores.json --set batch.global=4 --steps 1 --output " +
                    folder.string());
    INFO(ran.output);
    REQUIRE(ran.code == 0);
  }
  ~Bundle() { fs::remove_all(folder); }
  Ran rank(const std::string& variables, const std::string& words = "") const {
    return run_command(variables + " STAGECRAFT_EXEC=" STAGECRAFT_BINARY_DIR "/bin/stagecraft-exec " +
                       (folder / "run_rank").string() + " " + words);
  }
};

}  // namespace

TEST_CASE("One of two processes that a launcher has started meets the other", "[.launched]") {
  const LaunchEnvironment environment = launch_environment();
  REQUIRE(environment.size == 2);
  REQUIRE(environment.launcher != Launcher::none);
  const std::unique_ptr<Bootstrap> bootstrap =
      make_tcp_bootstrap(environment.address, environment.port, environment.rank, environment.size, 60);
  const auto name = [](std::int32_t rank) { return "rank " + std::to_string(rank); };
  bootstrap->set(name(environment.rank), "local rank " + std::to_string(environment.local_rank));
  const std::int32_t other = 1 - environment.rank;
  CHECK(bootstrap->get(name(other)) == "local rank " + std::to_string(other));
  CHECK_FALSE(bootstrap->look("stop"));
  // Rank 0 serves the values, so it leaves last.
  if (environment.rank == 1) bootstrap->set("read", "all");
  if (environment.rank == 0) CHECK(bootstrap->get("read") == "all");
}

TEST_CASE("Processes that torchrun or srun has started meet through the variables that these set") {
  for (const auto& variables : {torchrun_sets, srun_sets}) {
    const std::string meeting = "MASTER_ADDR=127.0.0.1 MASTER_PORT=" + std::to_string(free_port()) + " ";
    const std::string program = meeting + STAGECRAFT_BINARY_DIR "/bin/test_exec '[.launched]'";
    const Ran ran = run_command("{ " + variables(0, 2) + program + " & " + variables(1, 2) + program +
                                "; second=$?; wait $! && exit $second; }");
    INFO(ran.output);
    CHECK(ran.code == 0);
    CHECK(ran.output.find("No test cases matched") == std::string::npos);
  }
}

TEST_CASE("A rank of torchrun or srun is refused before start where it cannot run, with the reason") {
  const Bundle bundle;
  for (const auto& variables : {torchrun_sets, srun_sets}) {
    const Ran cpu = bundle.rank(variables(0, 2));
    INFO(cpu.output);
    CHECK(cpu.code == 3);
    CHECK_THAT(cpu.output, Catch::Contains("ranks on CPU under torchrun or Slurm") && Catch::Contains("mpirun"));
    const Ran too_many = bundle.rank(variables(0, 3));
    CHECK(too_many.code == 3);
    CHECK_THAT(too_many.output, Catch::Contains("3 processes") && Catch::Contains("rank of the scenario, 2"));
    // Threads need no launcher, whoever has started the process.
    CHECK(bundle.rank(variables(0, 2), "--in-process").code == 0);
  }
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"RANK=one WORLD_SIZE=2", "RANK"},
      {"RANK=2 WORLD_SIZE=2", "a whole number from 0 to 1"},
      {"RANK=0 WORLD_SIZE=", "WORLD_SIZE"},
      {"RANK=0 WORLD_SIZE=2 MASTER_PORT=70000", "MASTER_PORT"},
      {"SLURM_PROCID=-1 SLURM_NTASKS=2", "SLURM_PROCID"},
      {"SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_LOCALID=x", "SLURM_LOCALID"},
      {"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=9", "OMPI_COMM_WORLD_RANK"},
  };
  for (const auto& [variables, named] : wrong) {
    const Ran ran = bundle.rank(variables);
    INFO(variables << '\n' << ran.output);
    CHECK(ran.code == 3);
    CHECK_THAT(ran.output, Catch::Contains(named));
  }
}
