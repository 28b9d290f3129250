// Runs with and without a GPU.

#include <catch2/catch.hpp>

#include "exec/launch/preflight.hpp"
#include "exec/transport/nccl_api.hpp"

using namespace stagecraft;

TEST_CASE("The CUDA build loads, and without a GPU says so", "[load]") {
  const bool have_gpu = !cuda_devices().empty();
  if (!have_gpu) {
    CHECK_THROWS_AS(make_nccl_library(at::Device(at::kCUDA, 0)), std::exception);
    return;
  }
  const std::unique_ptr<NcclApi> api = make_nccl_library(at::Device(at::kCUDA, 0));
  const NcclId id = api->unique_id();
  CHECK(id != NcclId{});
}
