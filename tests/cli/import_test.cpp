// Importing from the command line: what the program adds to the importers.

#include <catch2/catch.hpp>

#include "run_program.hpp"

using namespace stagecraft;

TEST_CASE("a configuration that makes no scenario is refused under its name, without lines of the scenario") {
  const Scratch folder;
  const std::string file = folder.write(
      "config.json", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "vocab_size": 99999999999, "intermediate_size": 11008, "max_position_embeddings": 4096})");
  const Outcome refused = run_program({"import", file, "-o", folder.file("mine.json")});
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.messages, Catch::Contains("config.json, as a scenario: /model/vocabulary: got 99999999999"));
  CHECK(folder.entries() == std::vector<std::string>{"config.json"});
}
