#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "exec/transport/bootstrap.hpp"
#include "exec/transport/transport.hpp"

namespace stagecraft {

namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

class TcpBootstrap final : public Bootstrap {
 public:
  explicit TcpBootstrap(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::string& value) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    store_->set(key, bytes_of(value));
  }

  std::string get(const std::string& key) override {
    try {
      store_->wait({key});
      const std::lock_guard<std::mutex> lock(mutex_);
      const std::vector<std::uint8_t> value = store_->get(key);
      return {value.begin(), value.end()};
    } catch (const c10::Error& error) {
      throw TransportError(TransportFailure::timed_out, std::string("rendezvous: ") + error.what_without_backtrace());
    }
  }

  std::optional<std::string> look(const std::string& key) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!store_->check({key})) return std::nullopt;
    const std::vector<std::uint8_t> value = store_->get(key);
    return std::string(value.begin(), value.end());
  }

 private:
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_tcp_bootstrap(const std::string& address, std::int32_t port, std::int32_t rank,
                                              std::int32_t size, double timeout_s) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(port);
  options.isServer = rank == 0;
  options.numWorkers = static_cast<std::size_t>(size);
  options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1e3));
  try {
    return std::make_unique<TcpBootstrap>(c10::make_intrusive<c10d::TCPStore>(address, options));
  } catch (const c10::Error& error) {
    throw TransportError(TransportFailure::failed, std::string("rendezvous: ") + error.what_without_backtrace());
  }
}

}  // namespace stagecraft
