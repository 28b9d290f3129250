#pragma once
// MPI's side of the transport. Included by mpi*.cpp only.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "exec/transport/transport.hpp"

namespace stagecraft {

inline constexpr std::size_t abort_text_size = 512;

class MpiReceive;

struct MpiState {
  TransportOptions options;
  MPI_Comm messages = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;  // carries nothing but reasons to stop
  std::vector<MPI_Comm> groups;      // by group id; MPI_COMM_NULL where this rank is no member
  MPI_Op half_sum = MPI_OP_NULL, half_max = MPI_OP_NULL;
  MPI_Op bfloat_sum = MPI_OP_NULL, bfloat_max = MPI_OP_NULL;
  MPI_Datatype two_bytes = MPI_DATATYPE_NULL;
  std::vector<MpiReceive*> waiting;   // receives whose message has not come, in the order they were posted
  std::vector<at::Tensor> abandoned;  // tensors that MPI may still write to after a stop
  MPI_Request stop_request = MPI_REQUEST_NULL;
  std::array<char, abort_text_size> stop_text{};
  bool stopped = false;
  int rank = 0, size = 1;
};

/// Throws TransportError(failed) with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Element type for sending or reducing; two-byte floats use MpiState::two_bytes. Throws TransportError(refused).
MPI_Datatype mpi_type(const MpiState& state, at::ScalarType type);
MPI_Op mpi_op(const MpiState& state, at::ScalarType type, Reduction reduction);

/// Number of elements as MPI's int; throws TransportError(refused) above 2^31-1.
int mpi_count(std::int64_t elements);

void make_half_operations(MpiState& state);
void free_half_operations(MpiState& state);

/// Takes every message that has come for a waiting receive. Throws TransportError(refused) for one of another size.
void take_messages(MpiState& state);

/// Throws TransportError(aborted) if another rank sent a reason to stop or this process was told to.
void throw_if_stopped(MpiState& state);

}  // namespace stagecraft
