// The NCCL back end against a mock: what is issued in which order, how long tensors live, how a job ends.

#include <ATen/ops/full.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "exec/transport/nccl.hpp"
#include "exec/transport/stop_word.hpp"
#include "nccl_mock.hpp"

using namespace stagecraft;

namespace {

using Log = std::vector<std::string>;

/// Rank 0 of 3: one channel each way to rank 1, none to rank 2, and the group of all.
struct RankZero {
  NcclMock api;
  MemoryBootstrap bootstrap;
  std::unique_ptr<Transport> transport;
  Group all;

  explicit RankZero(double timeout_s = 60) {
    for (const char* key : {"channel/1/0/1", "group/1"}) bootstrap.values[key] = std::string(128, 'x');
    transport = make_nccl_transport(api, bootstrap, 0, 3, {timeout_s, true});
    all = transport->make_group({0, 1, 2});
    transport->connect({{0, 1, 0}, {1, 0, 1}, {1, 2, 2}, {2, 1, 3}});
  }
};

at::Tensor numbers() {
  return at::full({8}, 1.0);
}

}  // namespace

TEST_CASE("NCCL: groups and own channels are connected up front, in the order they are named") {
  RankZero zero;
  CHECK(zero.api.log == Log{"init c0 rank 0 of 3", "init c1 rank 0 of 2 few ctas", "init c2 rank 1 of 2 few ctas"});
  CHECK(zero.bootstrap.values.count("group/0") == 1);
  CHECK(zero.bootstrap.values.count("channel/0/1/0") == 1);
}

TEST_CASE("NCCL: operations of a channel go to its own stream, in call order, behind the current stream") {
  RankZero zero;
  zero.api.log.clear();
  std::vector<WorkHandle> work;
  work.push_back(zero.transport->isend(numbers(), {1, 0, 5}));
  work.push_back(zero.transport->irecv(numbers(), {1, 1, 6}));
  work.push_back(zero.transport->isend(numbers(), {1, 0, 7}));
  work.push_back(zero.transport->all_reduce(numbers(), Reduction::sum, zero.all));
  CHECK(zero.api.log == Log{"s1 waits", "send c1 s1", "s2 waits", "receive c2 s2", "s1 waits", "send c1 s1", "s0 waits",
                            "all-reduce c0 s0"});
}

TEST_CASE("NCCL: an all-to-all is one group of sends and receives") {
  RankZero zero;
  zero.api.log.clear();
  zero.transport->all_to_all(at::full({6}, 0.0), at::full({6}, 1.0), zero.all);
  CHECK(zero.api.log == Log{"s0 waits", "group start", "send c0 s0", "receive c0 s0", "send c0 s0", "receive c0 s0",
                            "send c0 s0", "receive c0 s0", "group end"});
}

TEST_CASE("NCCL: waiting orders the current stream and does not block the host") {
  RankZero zero;
  zero.api.clock.complete = false;
  WorkHandle work = zero.transport->isend(numbers(), {1, 0, 0});
  zero.api.log.clear();
  work->wait();
  CHECK(zero.api.log == Log{"current waits"});
  CHECK_FALSE(work->query());
  zero.api.clock.release();
  CHECK(work->query());
}

TEST_CASE("NCCL: a tensor lives until the device is done with it") {
  RankZero zero;
  zero.api.clock.complete = false;
  const at::Tensor tensor = numbers();
  const auto before = tensor.use_count();
  WorkHandle work = zero.transport->isend(tensor, {1, 0, 0});
  CHECK(tensor.use_count() > before);
  work->wait();
  CHECK_FALSE(work->query());
  CHECK(tensor.use_count() > before);
  zero.api.clock.release();
  CHECK(work->query());
  CHECK(tensor.use_count() == before);
}

TEST_CASE("NCCL: a hang is seen at the timeout; abort ends every communicator and tells the others why") {
  RankZero zero(0.05);
  zero.api.clock.complete = false;
  WorkHandle work = zero.transport->irecv(numbers(), {1, 1, 0});
  CHECK_FALSE(work->query());
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  try {
    work->query();
    FAIL("the hang was not seen");
  } catch (const TransportError& error) {
    CHECK(error.failure() == TransportFailure::timed_out);
  }
  zero.transport->abort("rank 0 waited for 0RECV_B0", StopCause::timed_out);
  CHECK(zero.api.aborted == Log{"c1", "c2", "c0"});
  CHECK(zero.bootstrap.values.at("stop") == stop_word("rank 0 waited for 0RECV_B0", StopCause::timed_out));
  CHECK_THROWS_AS(zero.transport->isend(numbers(), {1, 0, 0}), TransportError);
}

TEST_CASE("NCCL: a rank that looks finds the reason for which another one stopped") {
  RankZero zero;
  const StopCause cause = GENERATE(StopCause::failed, StopCause::timed_out);
  zero.bootstrap.values["stop"] = stop_word("rank 2 failed", cause);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));  // it looks ten times a second
  try {
    zero.transport->poll();
    FAIL("the reason was not seen");
  } catch (const TransportError& error) {
    CHECK(error.what() == std::string("rank 2 failed"));
    CHECK(error.failure() == TransportFailure::aborted);
    CHECK(error.cause() == cause);
  }
  CHECK(zero.api.aborted.size() == 3);
}

TEST_CASE("NCCL: an error behind the host's back ends the job") {
  RankZero zero;
  zero.api.clock.complete = false;
  WorkHandle work = zero.transport->isend(numbers(), {1, 0, 0});
  zero.api.error = "remote process exited";
  CHECK_THROWS_WITH(work->query(), Catch::Contains("remote process exited"));
  CHECK(zero.api.aborted.size() == 3);
}

TEST_CASE("NCCL: a message on a channel that was not connected is refused") {
  RankZero zero;
  CHECK_THROWS_WITH(zero.transport->isend(numbers(), {2, 0, 0}), Catch::Contains("was not connected"));
}
