#include "exchange/training_log.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"

using namespace stagecraft;

TEST_CASE("a Megatron-LM log gives step times, rates and memory") {
  const Observed seen = observe_log(
      " [2024-05-01 10:00:00] iteration        1/     100 | consumed samples:  64 | elapsed time per iteration (ms): "
      "9876.5 | throughput per GPU (TFLOP/s/GPU): 100.1 | learning rate: 1.0E-05 | global batch size:    64 |\n"
      "[Rank 0] (after 1 iterations) memory (MB) | allocated: 20000.0 | max allocated: 40960.0 | reserved: 50000.0\n"
      " iteration        2/     100 | elapsed time per iteration (ms): 1234.5 | throughput per GPU (TFLOP/s/GPU): 400 "
      "|\n"
      " iteration        3/     100 | elapsed time per iteration (ms): 1236.5 | throughput per GPU (TFLOP/s/GPU): 399 "
      "|\n",
      "train.log");
  CHECK(seen.framework == "megatron");
  CHECK(seen.step_times_s == std::vector{9.8765, 1.2345, 1.2365});
  CHECK(settled(seen.step_times_s, 1) == Approx(1.2355));
  REQUIRE(seen.memory_bytes);
  CHECK(*seen.memory_bytes == 40960.0 * 1024 * 1024);
}

TEST_CASE("a torchtitan log gives tokens per second and reserved memory, colours and commas aside") {
  const Observed seen = observe_log(
      "[titan] 2025-01-01 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  6.5  \x1b[33mmemory: 63.28GiB(66.6%)  "
      "\x1b[34mtps: 7,123  \x1b[36mtflops: 412.5  \x1b[35mmfu: 41.7%\x1b[39m\n",
      "out.log");
  CHECK(seen.framework == "torchtitan");
  CHECK(seen.tokens_per_s == std::vector{7123.0});
  CHECK(seen.tflops == std::vector{412.5});
  CHECK(*seen.memory_bytes == Approx(63.28 * 1024 * 1024 * 1024));
}

TEST_CASE("a DeepSpeed log gives iteration times") {
  const Observed seen = observe_log("steps: 10 loss: 2.3 iter_time_s: 4.250 samples/sec: 60.2\n", "ds.log");
  CHECK(seen.framework == "deepspeed");
  CHECK(seen.step_times_s == std::vector{4.25});
}

TEST_CASE("a record keeps what it was given and gets what was measured") {
  Observed seen;
  seen.framework = "megatron";
  seen.step_times_s = {5, 2, 2};
  const std::string text = record_of(seen, "mine", 1, R"({"gpus": 8, "measured": {"note": "kept"}})");
  CHECK(text.find("\"gpus\": 8") != std::string::npos);
  CHECK(text.find("\"step_time_s\": 2.0") != std::string::npos);
  CHECK(text.find("\"note\": \"kept\"") != std::string::npos);
  CHECK(text.find("\"group\": \"observed\"") != std::string::npos);
  CHECK(text.find("Median of 2 intervals") != std::string::npos);
  CHECK(record_of(seen, "mine", 1, R"({"group": "ours"})").find("\"group\": \"ours\"") != std::string::npos);
}

TEST_CASE("a warm-up as long as the log leaves nothing to take a median of") {
  Observed seen;
  seen.framework = "megatron";
  seen.step_times_s = {5, 2};
  CHECK(interval_count(seen) == 2);
  CHECK(settled(seen.step_times_s, 1) == 2);
  CHECK(settled(seen.step_times_s, 2) == 0);
  CHECK(record_of(seen, "mine", 2, "").find("\"step_time_s\": null") != std::string::npos);
  CHECK(interval_count(Observed{}) == 0);
}

TEST_CASE("a text that is no log is refused") {
  CHECK_THROWS_AS(observe_log("hello\n", "hello.txt"), InputError);
  CHECK_THROWS_AS(observe_log("", "empty"), InputError);
  CHECK_NOTHROW(observe_log("tps: 1e999\ntps: 5\n", "x"));
}
