#pragma once
// A place where the ranks of a job leave small values for each other before they can exchange tensors, and the word to
// stop.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace stagecraft {

class Bootstrap {
 public:
  Bootstrap() = default;
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Waits for the value. Throws TransportError(timed_out).
  virtual std::string get(const std::string& key) = 0;
  /// Does not wait.
  virtual std::optional<std::string> look(const std::string& key) = 0;
};

/// c10d's TCPStore; rank 0 serves it. Throws TransportError(failed).
std::unique_ptr<Bootstrap> make_tcp_bootstrap(const std::string& address, std::int32_t port, std::int32_t rank,
                                              std::int32_t size, double timeout_s);

}  // namespace stagecraft
