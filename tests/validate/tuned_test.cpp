// What a record leaves open of a layout that was tuned before it was measured.
#include <catch2/catch.hpp>

#include "validate/validate.hpp"

using namespace stagecraft;

namespace {

const Library library{
    {std::string(STAGECRAFT_SOURCE_DIR) + "/scenarios", std::string(STAGECRAFT_SOURCE_DIR) + "/topologies"}};

Record gpt_on_two_nodes(const char* group) {
  Record record;
  record.id = "sample";
  record.group = group;
  record.kind = "measured";
  record.gpu = "H100-SXM5-80GB";
  record.gpus = 16;
  record.model.name = "GPT";
  record.model.layers = 24;
  record.model.hidden = 2048;
  record.model.ffn = 8192;
  record.model.heads = 16;
  record.model.vocabulary = 51200;
  record.model.sequence = 2048;
  record.parallel.tensor = 2;
  record.parallel.pipeline = 2;
  record.global_batch = 64;
  record.precision = "bf16";
  record.recompute = "none";
  record.measured.step_time_s = 3;
  return record;
}

std::string chosen(const Outcome& outcome, const std::string& pointer) {
  for (const Inferred& input : outcome.mapping.inferred) {
    if (input.pointer == pointer) return input.value;
  }
  return "";
}

double predicted_s(const Record& record) {
  const Outcome outcome = predict(record, library);
  REQUIRE(outcome.step_time);
  return outcome.step_time->predicted;
}

}  // namespace

TEST_CASE("a micro-batch that is not stated is the fastest of those that fit") {
  const Record open = gpt_on_two_nodes("sc21");
  const Outcome outcome = predict(open, library);
  REQUIRE(outcome.step_time);
  double least = 1e9;
  std::string fastest;
  for (const std::int64_t micro : {1, 2, 4, 8}) {
    Record stated = open;
    stated.micro_batch = micro;
    const double seconds = predicted_s(stated);
    if (seconds < least) fastest = std::to_string(micro);
    least = std::min(least, seconds);
  }
  CHECK(outcome.step_time->predicted == least);
  CHECK(chosen(outcome, "/batch/micro") == fastest);
}

TEST_CASE("virtual stages that are not stated are tuned where messages overlap, else there are none") {
  Record record = gpt_on_two_nodes("megatron-h100");
  record.micro_batch = 4;  // two micro-batches of each of four replicas on two stages: a third of a step is bubble
  const Outcome interleaved = predict(record, library);
  CHECK(std::stoi(chosen(interleaved, "/parallel/virtual_stages")) > 1);
  record.parallel.virtual_stages = 1;
  CHECK(interleaved.step_time->predicted < predicted_s(record));

  Record plain = gpt_on_two_nodes("sc21");
  plain.micro_batch = 4;
  CHECK(chosen(predict(plain, library), "/parallel/virtual_stages") == "1");

  Record stated = gpt_on_two_nodes("megatron-h100");
  stated.micro_batch = 4;
  stated.parallel.schedule = "1F1B";
  CHECK(chosen(predict(stated, library), "/parallel/virtual_stages") == "1");
}

TEST_CASE("memory keeps the fastest micro-batch from being chosen where it would not fit") {
  Record record = gpt_on_two_nodes("sc21");
  record.model.layers = 48;
  record.model.hidden = 8192;
  record.model.ffn = 32768;
  record.model.heads = 64;
  record.parallel.tensor = 8;
  record.model.sequence = 8192;
  record.recompute = "full";
  const Outcome outcome = predict(record, library);
  REQUIRE(outcome.oom);
  // 38.7e9 parameters of 18 bytes over 16 GPUs are 43 GB. Two micro-batches of 8 sequences in flight on the first stage
  // keep 24 inputs of 2 x 8 x 8192 x 8192 x 2 bytes, another 52 GB; of single sequences an eighth.
  record.micro_batch = 8;
  const Outcome full = predict(record, library);
  REQUIRE(full.oom);
  CHECK(full.oom->predicted);
  CHECK_FALSE(outcome.oom->predicted);
}

TEST_CASE("nanotron's stages close once they hold more than their share of the weights") {
  // A block weighs 4 x 2048^2 + 3 x 8192 x 2048 = 67.1e6, the head of 131072 words four times that: of 20 blocks' worth
  // the first stage has its share of 10 and one more, which tips it over.
  Record record = gpt_on_two_nodes("nanotron");
  record.model.layers = 16;
  record.model.vocabulary = 131072;
  record.micro_batch = 1;
  const Outcome outcome = predict(record, library);
  const Scenario scenario = parse_scenario(outcome.mapping.scenario, "sample", {}, library);
  CHECK(scenario.run.partition.blocks_per_stage == std::vector<std::int64_t>{11, 5});
}
