#pragma once
// NCCL without a GPU: calls are written down, events complete when the test says so.

#include <deque>
#include <map>

#include "exec/transport/bootstrap.hpp"
#include "exec/transport/nccl_api.hpp"

namespace stagecraft {

class MemoryBootstrap final : public Bootstrap {
 public:
  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;  // throws at once instead of waiting
  std::optional<std::string> look(const std::string& key) override;
  std::map<std::string, std::string> values;
};

struct MockClock {
  bool complete = true;  // events recorded from now on are complete at once; others when release() is called
  std::vector<bool*> open;
  void release();
};

class NcclMock final : public NcclApi {
 public:
  std::vector<std::string> log;      // "send c2 s3", in the order of the calls
  std::vector<std::string> aborted;  // communicators
  std::string error;                 // what async_error reports
  MockClock clock;

  NcclId unique_id() override;
  NcclComm init_rank(std::int32_t ranks, const NcclId& id, std::int32_t rank, const NcclCommOptions& options) override;
  void destroy(NcclComm comm) noexcept override;
  void abort(NcclComm comm) noexcept override;
  std::string async_error(NcclComm comm) override;
  void group_start() override { log.emplace_back("group start"); }
  void group_end() override { log.emplace_back("group end"); }
  void send(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) override;
  void receive(const at::Tensor& tensor, std::int32_t peer, NcclComm comm, DeviceStream& stream) override;
  void all_reduce(const at::Tensor& tensor, Reduction reduction, NcclComm comm, DeviceStream& stream) override;
  void all_gather(const at::Tensor& output, const at::Tensor& input, NcclComm comm, DeviceStream& stream) override;
  void reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction, NcclComm comm,
                      DeviceStream& stream) override;
  void broadcast(const at::Tensor& tensor, std::int32_t root, NcclComm comm, DeviceStream& stream) override;
  std::unique_ptr<DeviceStream> make_stream() override;
  std::unique_ptr<DeviceEvent> record(DeviceStream* stream) override;
  void wait(DeviceStream* stream, DeviceEvent& event) override;
  at::Tensor one_element() override { return at::zeros({1}); }

 private:
  void note(const char* call, NcclComm comm, DeviceStream& stream);
  int ids_ = 0, streams_ = 0;
  std::deque<std::string> comms_;  // a communicator's handle points at its name
};

}  // namespace stagecraft
