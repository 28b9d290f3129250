#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <limits>

#include "exec/transport/mpi_state.hpp"

namespace stagecraft {

namespace {

template <class Element>
void add(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* a = static_cast<const Element*>(in);
  auto* b = static_cast<Element*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = static_cast<Element>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
}

template <class Element>
void take_larger(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* a = static_cast<const Element*>(in);
  auto* b = static_cast<Element*>(inout);
  for (int i = 0; i < *length; ++i) b[i] = std::max(a[i], b[i]);
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw TransportError(TransportFailure::failed, std::string(call) + ": " + std::string(text.data()));
}

void make_half_operations(MpiState& state) {
  check_mpi(MPI_Type_contiguous(2, MPI_BYTE, &state.two_bytes), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&state.two_bytes), "MPI_Type_commit");
  check_mpi(MPI_Op_create(add<c10::Half>, 1, &state.half_sum), "MPI_Op_create");
  check_mpi(MPI_Op_create(take_larger<c10::Half>, 1, &state.half_max), "MPI_Op_create");
  check_mpi(MPI_Op_create(add<c10::BFloat16>, 1, &state.bfloat_sum), "MPI_Op_create");
  check_mpi(MPI_Op_create(take_larger<c10::BFloat16>, 1, &state.bfloat_max), "MPI_Op_create");
}

void free_half_operations(MpiState& state) {
  for (MPI_Op* op : {&state.half_sum, &state.half_max, &state.bfloat_sum, &state.bfloat_max}) MPI_Op_free(op);
  MPI_Type_free(&state.two_bytes);
}

MPI_Datatype mpi_type(const MpiState& state, at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return MPI_FLOAT;
    case at::kDouble:
      return MPI_DOUBLE;
    case at::kLong:
      return MPI_INT64_T;
    case at::kInt:
      return MPI_INT32_T;
    case at::kByte:
      return MPI_UINT8_T;
    case at::kHalf:
    case at::kBFloat16:
      return state.two_bytes;
    default:
      break;
  }
  throw TransportError(TransportFailure::refused, std::string("mpi: tensors of ") + c10::toString(type));
}

MPI_Op mpi_op(const MpiState& state, at::ScalarType type, Reduction reduction) {
  const bool sum = reduction == Reduction::sum;
  if (type == at::kHalf) return sum ? state.half_sum : state.half_max;
  if (type == at::kBFloat16) return sum ? state.bfloat_sum : state.bfloat_max;
  return sum ? MPI_SUM : MPI_MAX;
}

int mpi_count(std::int64_t elements) {
  if (elements <= std::numeric_limits<int>::max()) return static_cast<int>(elements);
  throw TransportError(TransportFailure::refused,
                       "mpi: " + std::to_string(elements) + " elements in one call, at most 2147483647");
}

}  // namespace stagecraft
