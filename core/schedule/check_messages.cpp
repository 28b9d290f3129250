#include <fmt/format.h>

#include "schedule/channel_table.hpp"
#include "schedule/check_parts.hpp"
#include "schedule/send_receive.hpp"

namespace stagecraft {

namespace {

/// One message: where its two ends stand (position on their ranks, -1 if absent) and what they say of it.
struct Message {
  std::int32_t send = -1, receive = -1;
  ChannelId send_channel, receive_channel;
  double send_bytes = 0, receive_bytes = 0;
};

class MessageTable {
 public:
  explicit MessageTable(const Schedule& schedule)
      : micro_batches_(static_cast<std::size_t>(schedule.shape.micro_batches)),
        messages_(2 * static_cast<std::size_t>(stage_count(schedule)) * micro_batches_) {}

  Message& at(std::size_t boundary, MicroBatch micro_batch, bool gradient) {
    return messages_[(boundary * micro_batches_ + micro_batch.index()) * 2 + (gradient ? 1 : 0)];
  }
  Message& of(const Op& op) { return at(boundary_of(op), op.micro_batch, carries_gradient(op.kind)); }

 private:
  std::size_t micro_batches_;
  std::vector<Message> messages_;
};

void collect(const Schedule& schedule, MessageTable& table, FindingList& out) {
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op& op = program[i];
      if (!is_send(op.kind) && !is_receive(op.kind)) continue;
      Message& message = table.of(op);
      auto& position = is_send(op.kind) ? message.send : message.receive;
      if (position >= 0) {
        out.add("duplicate-operation", static_cast<std::int64_t>(r), static_cast<std::int64_t>(i),
                fmt::format("{} stands on rank {} a second time", to_text(op), r));
        continue;
      }
      position = static_cast<std::int32_t>(i);
      (is_send(op.kind) ? message.send_channel : message.receive_channel) = op.channel;
      (is_send(op.kind) ? message.send_bytes : message.receive_bytes) = op.bytes.value;
    }
  }
}

void check_consumer(const Schedule& schedule, const Op& op, std::int64_t rank, std::int64_t position,
                    MessageTable& table, FindingList& out) {
  const Neighbour source = source_of(schedule, op);
  if (!source.exists || source.rank.value == rank) return;
  const bool gradient = op.kind != OpKind::forward;
  const Message& message = table.at(gradient ? op.stage.index() : source.stage.index(), op.micro_batch, gradient);
  if (message.receive < 0) {
    out.add("receive-missing", rank, position,
            fmt::format("{} on rank {} has no receive of its {}", to_text(op), rank, gradient ? "gradient" : "input"));
  } else if (message.receive > position) {
    out.add("receive-after-use", rank, message.receive,
            fmt::format("{} on rank {} stands before the receive of its {}", to_text(op), rank,
                        gradient ? "gradient" : "input"));
  }
}

void check_producer(const Schedule& schedule, const Op& op, std::int64_t rank, std::int64_t position,
                    MessageTable& table, FindingList& out) {
  const Neighbour target = target_of(schedule, op);
  if (!target.exists || target.rank.value == rank) return;
  const bool gradient = op.kind != OpKind::forward;
  const Message& message = table.at(gradient ? target.stage.index() : op.stage.index(), op.micro_batch, gradient);
  if (message.send < 0) {
    out.add("send-missing", rank, position,
            fmt::format("the result of {} on rank {} is not sent to rank {}", to_text(op), rank, target.rank.value));
    return;
  }
  if (message.send < position) {
    out.add("send-before-producer", rank, message.send,
            fmt::format("rank {} sends the result of {} before it exists", rank, to_text(op)));
  }
  if (message.receive < 0) return;  // told at the consumer
  if (message.send_bytes != message.receive_bytes) {
    out.add("message-bytes-differ", rank, message.send,
            fmt::format("rank {} sends {:.0f} bytes of {}, rank {} expects {:.0f}", rank, message.send_bytes,
                        to_text(op), target.rank.value, message.receive_bytes));
  }
  if (message.send_channel != message.receive_channel) {
    out.add("channel-mismatch", rank, message.send,
            fmt::format("the result of {} is sent on channel {} and received on channel {}", to_text(op),
                        message.send_channel.value, message.receive_channel.value));
  } else if (message.send_channel.valid()) {
    const Channel& channel = schedule.channels[message.send_channel.index()];
    if (channel.from.value != rank || channel.to != target.rank || channel.gradient != gradient) {
      out.add("channel-mismatch", rank, message.send,
              fmt::format("the result of {} goes from rank {} to rank {} on a channel from {} to {} for {}s",
                          to_text(op), rank, target.rank.value, channel.from.value, channel.to.value,
                          channel.gradient ? "gradient" : "activation"));
    }
  }
}

}  // namespace

void check_messages(const Schedule& schedule, FindingList& out) {
  MessageTable table(schedule);
  collect(schedule, table, out);
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    const auto& program = schedule.programs[r];
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (!has_micro_batch(program[i].kind) || is_copy(program[i].kind) || is_send(program[i].kind) ||
          is_receive(program[i].kind))
        continue;
      check_consumer(schedule, program[i], static_cast<std::int64_t>(r), static_cast<std::int64_t>(i), table, out);
      check_producer(schedule, program[i], static_cast<std::int64_t>(r), static_cast<std::int64_t>(i), table, out);
    }
  }
}

}  // namespace stagecraft
