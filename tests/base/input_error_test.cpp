#include "base/input_error.hpp"

#include <catch2/catch.hpp>

using namespace stagecraft;

TEST_CASE("a message names file, line, column, pointer, what stands there and what would be accepted") {
  const InputError error({"run.json", 12, 7, "/parallel/tensor", "0", "an integer from 1 to 1024", "1"});
  CHECK(std::string(error.what()) ==
        "run.json:12:7: /parallel/tensor: got 0, expected an integer from 1 to 1024; nearest: 1");
}

TEST_CASE("parts that are not known are left out of the message") {
  CHECK(std::string(InputError(InputProblem{"--set", 0, 0, "/a", "x", "y", ""}).what()) ==
        "--set: /a: got x, expected y");
  CHECK(std::string(InputError(InputProblem{"", 0, 0, "", "", "a file", ""}).what()) == "expected a file");
}

TEST_CASE("several problems are one line each") {
  const InputError error(std::vector<InputProblem>{{"a", 1, 1, "", "x", "y", ""}, {"a", 2, 1, "", "x", "z", ""}});
  CHECK(std::string(error.what()) == "a:1:1: got x, expected y\na:2:1: got x, expected z");
  CHECK(error.problems().size() == 2);
}

TEST_CASE("the nearest word forgives a misspelling but not another word") {
  const std::vector<std::string> words = {"tensor", "pipeline", "data", "selene", "gpt-145b", "sequence_parallel"};
  CHECK(nearest_word("tensr", words) == "tensor");
  CHECK(nearest_word("tesnor", words) == "tensor");  // a swap of neighbours
  CHECK(nearest_word("Selene", words) == "selene");
  CHECK(nearest_word("sequence-parallel", words) == "sequence_parallel");
  CHECK(nearest_word("gpt_145B", words) == "gpt-145b");
  CHECK(nearest_word("sequence", words) == "sequence_parallel");
  CHECK(nearest_word("datasets", words) == "data");
  CHECK(nearest_word("banana", words).empty());
  CHECK(nearest_word("", words).empty());
  CHECK(nearest_word("x", {}).empty());
  CHECK(nearest_word(std::string(1000000, 'x'), words).empty());
}
