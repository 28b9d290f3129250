// What one GPU can say about NCCL: a communicator of one rank, and a send to oneself inside a group.

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <catch2/catch.hpp>

#include "exec/run/recorder.hpp"
#include "exec/transport/nccl_api.hpp"

using namespace stagecraft;

namespace {

const at::Device device(at::kCUDA, 0);

at::Tensor filled(double value) {
  return at::full({1 << 20}, value, at::TensorOptions().dtype(at::kFloat).device(device));
}

}  // namespace

TEST_CASE("NCCL: collectives of one rank leave values as they are", "[gpu]") {
  const std::unique_ptr<NcclApi> api = make_nccl_library(device);
  const NcclComm comm = api->init_rank(1, api->unique_id(), 0, {});
  const std::unique_ptr<DeviceStream> stream = api->make_stream();
  const at::Tensor x = filled(3), out = filled(0);
  api->wait(stream.get(), *api->record(nullptr));
  api->all_reduce(x, Reduction::sum, comm, *stream);
  api->all_gather(out, x, comm, *stream);
  const std::unique_ptr<DeviceEvent> done = api->record(stream.get());
  api->wait(nullptr, *done);
  synchronize(device);
  CHECK(done->query());
  CHECK(api->async_error(comm).empty());
  CHECK(at::equal(x, filled(3)));
  CHECK(at::equal(out, filled(3)));
  api->destroy(comm);
}

TEST_CASE("NCCL: a rank may send to itself inside a group", "[gpu]") {
  const std::unique_ptr<NcclApi> api = make_nccl_library(device);
  const NcclComm comm = api->init_rank(1, api->unique_id(), 0, {2});
  const std::unique_ptr<DeviceStream> stream = api->make_stream();
  const at::Tensor from = filled(5), to = filled(0);
  api->wait(stream.get(), *api->record(nullptr));
  api->group_start();
  api->send(from, 0, comm, *stream);
  api->receive(to, 0, comm, *stream);
  api->group_end();
  const std::unique_ptr<DeviceEvent> done = api->record(stream.get());
  api->wait(nullptr, *done);
  synchronize(device);
  CHECK(at::equal(to, from));
  CHECK(done->completed_s() <= now_s() + 1e-3);
  api->destroy(comm);
}
