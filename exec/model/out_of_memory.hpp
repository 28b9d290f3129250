#pragma once
// Memory that ran out, with the name of what it was wanted for.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stagecraft {

/// what(): "12582912 B for activations of block3 (forward)", as far as the allocator tells the size.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// True if PyTorch's allocators or the C++ library could not give memory.
bool is_out_of_memory(const std::exception& error);

/// What was wanted where memory ran out: OutOfMemory's text, else the bytes in the allocator's message.
std::string wanted_memory(const std::exception& error);

/// An error's own words, without the stack that PyTorch's errors bring along.
std::string reason_of(const std::exception& error);

/// Throws OutOfMemory that names `tensor` and the bytes in the allocator's message.
[[noreturn]] void throw_out_of_memory(const std::exception& error, std::string_view tensor, std::string_view of);

/// Runs `work`; where memory runs out, "`tensor` `of`" is named as what it was wanted for. The innermost name counts.
template <class Work>
decltype(auto) naming(std::string_view tensor, std::string_view of, Work&& work) {
  try {
    return work();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) throw_out_of_memory(error, tensor, of);
    throw;
  }
}

}  // namespace stagecraft
