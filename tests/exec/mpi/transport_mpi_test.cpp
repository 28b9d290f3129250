#include <ATen/ops/full.h>

#include <catch2/catch.hpp>

#include "mpi_rank.hpp"
#include "transport_contract.hpp"

using namespace stagecraft;

TEST_CASE("A message of another size than its receive is refused, and nothing is written") {
  const Group all = this_rank->make_group({0, 1});
  if (all.index < 0) return;
  if (this_rank->rank() == 0) this_rank->isend(at::full({9}, 1.0F), {1, 3, 77})->wait();
  if (this_rank->rank() == 1) {
    const at::Tensor place = at::full({9}, -1.0F);
    const WorkHandle receive = this_rank->irecv(place.narrow(0, 0, 4), {0, 3, 77});
    CHECK_THROWS_WITH(receive->wait(), Catch::Contains("36 bytes sent, 16 expected"));
    CHECK(place.min().item<float>() == -1);
    CHECK(place.max().item<float>() == -1);
  }
}

TEST_CASE("The MPI back end keeps the contract of all transports") {
  CHECK_NOTHROW(contract::everything(*this_rank));
}
