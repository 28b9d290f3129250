#include <catch2/catch.hpp>

#include "mpi_rank.hpp"
#include "transport_contract.hpp"

using namespace stagecraft;

TEST_CASE("The MPI back end keeps the contract of all transports") {
  CHECK_NOTHROW(contract::everything(*this_rank));
}
