#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "schedule/json_text.hpp"
#include "schedule/json_words.hpp"

namespace stagecraft {

namespace {

class Writer {
 public:
  explicit Writer(const Schedule& schedule) : schedule_(schedule) {}

  std::string write() {
    const PipelineShape& shape = schedule_.shape;
    append("{{\n  \"format\": \"{}\",\n  \"version\": {},\n", schedule_format, schedule_json_version);
    append("  \"name\": {},\n",
           nlohmann::json(schedule_.name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    append("  \"ranks\": {},\n  \"micro_batches\": {},\n  \"chunks\": {},\n", shape.ranks, shape.micro_batches,
           shape.chunks);
    append("  \"lowered\": {},\n  \"asynchronous\": {},\n", schedule_.lowered, schedule_.asynchronous);
    append("  \"optimizer_sync\": \"{}\",\n  \"weights\": \"{}\",\n", word_of_sync(schedule_.optimizer_sync),
           word_of_weights(schedule_.weights));
    write_placement();
    write_channels();
    write_programs();
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Args>(args)...);
  }

  void write_placement() {
    out_ += "  \"placement\": [";
    for (std::size_t replica = 0; replica < schedule_.placement.size(); ++replica) {
      out_ += replica > 0 ? ", [" : "[";
      const StageMap& map = schedule_.placement[replica];
      for (std::size_t s = 0; s < map.size(); ++s) append("{}{}", s > 0 ? ", " : "", map[s].value);
      out_ += "]";
    }
    out_ += "],\n";
  }

  void write_channels() {
    if (schedule_.channels.empty()) return;
    out_ += "  \"channels\": [";
    for (std::size_t c = 0; c < schedule_.channels.size(); ++c) {
      const Channel& channel = schedule_.channels[c];
      append("{}{{\"from\": {}, \"to\": {}, \"carries\": \"{}\"", c > 0 ? ",\n    " : "\n    ", channel.from.value,
             channel.to.value, channel.gradient ? "gradient" : "activation");
      if (channel.tag >= 0) append(", \"tag\": {}", channel.tag);
      out_ += "}";
    }
    out_ += "\n  ],\n";
  }

  void write_programs() {
    out_ += "  \"programs\": [";
    for (std::size_t r = 0; r < schedule_.programs.size(); ++r) {
      out_ += r > 0 ? ",\n    [" : "\n    [";
      const auto& program = schedule_.programs[r];
      for (std::size_t k = 0; k < program.size(); ++k) {
        if (k > 0) out_ += ", ";
        write_op(program[k], r);
      }
      out_ += "]";
    }
    out_ += "\n  ]\n";
  }

  void write_op(const Op& op, std::size_t rank) {
    const std::string name = to_text(op);
    const bool nameless_stage = !has_stage(op.kind) && op.stage.valid();
    const bool plain = op.lane == usual_lane(op.kind) && op.replica == usual_replica(schedule_, op.stage, rank) &&
                       !op.overlaps_next && !op.channel.valid() && op.bytes.value == 0 && !nameless_stage;
    if (plain) {
      append("\"{}\"", name);
      return;
    }
    append("{{\"op\": \"{}\"", name);
    if (nameless_stage) append(", \"stage\": {}", op.stage.value);
    if (op.lane != usual_lane(op.kind)) append(", \"lane\": \"{}\"", to_text(op.lane));
    if (op.replica != usual_replica(schedule_, op.stage, rank)) append(", \"replica\": {}", op.replica);
    if (op.overlaps_next) out_ += ", \"overlaps_next\": true";
    if (op.channel.valid()) append(", \"channel\": {}", op.channel.value);
    if (op.bytes.value != 0) append(", \"bytes\": {}", op.bytes.value);
    out_ += "}";
  }

  const Schedule& schedule_;
  std::string out_;
};

}  // namespace

std::string to_json(const Schedule& schedule) {
  return Writer(schedule).write();
}

}  // namespace stagecraft
