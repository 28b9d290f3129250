#include <ATen/ops/full.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "job_of_threads.hpp"
#include "transport_contract.hpp"

using namespace stagecraft;

TEST_CASE("The in-process back end keeps the contract of all transports") {
  for (const std::int32_t ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    CHECK_NOTHROW(run_ranks(ranks, {20, true}, contract::everything));
  }
}

TEST_CASE("A wait for a message that nobody sends ends at the timeout") {
  const double begin_s = now_s();
  try {
    run_ranks(2, {0.2, true}, [](Transport& t) {
      if (t.rank() == 1) t.irecv(at::full({4}, 0.0), {0, 0, 0})->wait();
    });
    FAIL("the wait returned");
  } catch (const TransportError& error) {
    CHECK(error.failure() == TransportFailure::timed_out);
  }
  CHECK(now_s() - begin_s >= 0.2);
  CHECK(now_s() - begin_s < 2);
}

TEST_CASE("A rank that aborts wakes every other rank with its reason and its cause") {
  const StopCause cause = GENERATE(StopCause::failed, StopCause::timed_out);
  const double begin_s = now_s();
  std::string reason;
  try {
    run_ranks(3, {30, true}, [&](Transport& t) {
      const Group all = t.make_group({0, 1, 2});
      if (t.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        t.abort("rank 2 gave up", cause);
        return;
      }
      t.barrier(all)->wait();
    });
  } catch (const TransportError& error) {
    CHECK(error.failure() == TransportFailure::aborted);
    CHECK(error.cause() == cause);
    reason = error.what();
  }
  CHECK(reason == "rank 2 gave up");
  CHECK(now_s() - begin_s < 5);
}

TEST_CASE("Both ends of a message must agree on its size, and members of a collective on the call") {
  CHECK_THROWS_WITH(run_ranks(2, {5, true},
                              [](Transport& t) {
                                if (t.rank() == 0) t.isend(at::full({4}, 0.0), {1, 0, 0})->wait();
                                if (t.rank() == 1) t.irecv(at::full({5}, 0.0), {0, 0, 0})->wait();
                              }),
                    Catch::Contains("4 elements") && Catch::Contains("5"));
  CHECK_THROWS_WITH(run_ranks(2, {5, true},
                              [](Transport& t) {
                                const Group all = t.make_group({0, 1});
                                const at::Tensor x = at::full({4}, 0.0);
                                if (t.rank() == 0) t.all_reduce(x, Reduction::sum, all)->wait();
                                if (t.rank() == 1) t.broadcast(x, 0, all)->wait();
                              }),
                    Catch::Contains("in one group"));
}
