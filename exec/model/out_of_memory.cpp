#include "exec/model/out_of_memory.hpp"

#include <c10/util/Exception.h>

#include <new>

namespace stagecraft {

namespace {

constexpr std::string_view host_words = "you tried to allocate ";  // c10's allocator on the host
constexpr std::string_view device_words = "Tried to allocate ";    // the caching allocator on a GPU

/// "12582912 bytes" or "2.00 GiB" behind one of the allocators' phrases; "" if there is none.
std::string amount_in(std::string_view message) {
  for (const std::string_view words : {host_words, device_words}) {
    const std::size_t at = message.find(words);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = message.substr(at + words.size());
    const std::size_t end = rest.find_first_of(".\n", rest.find(' ') + 1);
    return std::string(rest.substr(0, end));
  }
  return "";
}

}  // namespace

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return true;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  return dynamic_cast<const c10::Error*>(&error) != nullptr &&
         std::string_view(error.what()).find(host_words) != std::string_view::npos;
}

std::string wanted_memory(const std::exception& error) {
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return error.what();
  const std::string amount = amount_in(error.what());
  return amount.empty() ? "no size is known" : amount;
}

std::string reason_of(const std::exception& error) {
  const auto* const torch = dynamic_cast<const c10::Error*>(&error);
  return torch != nullptr ? torch->what_without_backtrace() : error.what();
}

void throw_out_of_memory(const std::exception& error, std::string_view tensor, std::string_view of) {
  const std::string amount = amount_in(error.what());
  std::string text = amount.empty() ? "memory" : amount;
  text += " for ";
  text += tensor;
  text += ' ';
  text += of;
  throw OutOfMemory(text);
}

}  // namespace stagecraft
