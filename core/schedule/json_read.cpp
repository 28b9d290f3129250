#include <fmt/format.h>

#include <array>

#include "base/json_fields.hpp"
#include "schedule/json_text.hpp"
#include "schedule/json_words.hpp"
#include "schedule/refusals.hpp"

namespace stagecraft {

namespace {

constexpr std::array syncs = {OptimizerSync::barrier, OptimizerSync::post_validation, OptimizerSync::none};
constexpr std::array policies = {WeightPolicy::one, WeightPolicy::stashed, WeightPolicy::double_buffered};
constexpr std::array lanes = {Lane::compute, Lane::tensor, Lane::pipeline, Lane::data, Lane::copy};

class Reader {
 public:
  Schedule read(const JsonNode& root) {
    only_keys(root, {"format", "version", "name", "ranks", "micro_batches", "chunks", "lowered", "asynchronous",
                     "optimizer_sync", "weights", "placement", "channels", "programs"});
    read_one_of(root.at("format"), {schedule_format});
    read_integer(root.at("version"), schedule_json_version, schedule_json_version);
    schedule_.name = read_nonempty_string(root.at("name"));
    schedule_.lowered = flag(root, "lowered");
    schedule_.asynchronous = flag(root, "asynchronous");
    if (const auto sync = root.find("optimizer_sync")) schedule_.optimizer_sync = read_word(*sync, syncs, word_of_sync);
    if (const auto weights = root.find("weights")) schedule_.weights = read_word(*weights, policies, word_of_weights);
    const JsonNode programs = root.at("programs");
    read_shape(root, programs);
    read_placement(root.at("placement"));
    if (const auto channels = root.find("channels")) read_channels(*channels);
    std::size_t rank = 0;
    for (const JsonNode& program : programs.elements()) read_program(program, rank++);
    return std::move(schedule_);
  }

 private:
  static bool flag(const JsonNode& object, const char* key) {
    const auto node = object.find(key);
    return node && read_boolean(*node);
  }

  /// The value of an enumeration whose `word` stands in the file.
  template <class Enum, std::size_t n>
  static Enum read_word(const JsonNode& node, const std::array<Enum, n>& all, const char* (*word)(Enum)) {
    std::vector<std::string> words;
    for (const Enum value : all) words.emplace_back(word(value));
    const std::string found = read_one_of(node, words);
    for (const Enum value : all) {
      if (found == word(value)) return value;
    }
    return all.front();
  }

  void read_shape(const JsonNode& root, const JsonNode& programs) {
    const auto ranks = static_cast<std::int64_t>(programs.elements().size());
    if (read_integer(root.at("ranks"), 1, most_ranks) != ranks) {
      root.at("ranks").fail(fmt::format("the number of programs, {}", ranks), std::to_string(ranks));
    }
    std::size_t operations = 0;
    for (const JsonNode& program : programs.elements()) operations += program.size();
    const auto most =
        static_cast<std::int64_t>(4 * operations + 4096);  // as in the CSV form: a table much larger is a misprint
    const std::int64_t chunks = read_integer(root.at("chunks"), 1, most / ranks);
    const std::int64_t micro_batches = read_integer(root.at("micro_batches"), 1, most / ranks / chunks);
    schedule_.shape = {static_cast<std::int32_t>(ranks), static_cast<std::int32_t>(micro_batches),
                       static_cast<std::int32_t>(chunks)};
    schedule_.programs.resize(static_cast<std::size_t>(ranks));
  }

  std::int64_t stages() const { return std::int64_t{schedule_.shape.ranks} * schedule_.shape.chunks; }

  void read_placement(const JsonNode& node) {
    const auto replicas = node.elements();
    if (replicas.empty() || replicas.size() > 2) node.fail("one stage map, or two for a bidirectional schedule");
    for (const JsonNode& replica : replicas) {
      StageMap map;
      for (const std::int64_t rank : read_integers(replica, 0, schedule_.shape.ranks - 1)) {
        map.push_back(PipelineRank(static_cast<std::int32_t>(rank)));
      }
      if (static_cast<std::int64_t>(map.size()) != stages()) {
        replica.fail(fmt::format("a rank for each of the {} stages", stages()), "",
                     fmt::format("{} ranks", map.size()));
      }
      schedule_.placement.push_back(std::move(map));
    }
  }

  void read_channels(const JsonNode& node) {
    for (const JsonNode& entry : node.elements()) {
      only_keys(entry, {"from", "to", "carries", "tag"});
      Channel channel;
      channel.from = PipelineRank(small(entry.at("from"), schedule_.shape.ranks - 1));
      channel.to = PipelineRank(small(entry.at("to"), schedule_.shape.ranks - 1));
      channel.gradient = read_one_of(entry.at("carries"), {"activation", "gradient"}) == "gradient";
      if (const auto tag = entry.find("tag")) channel.tag = small(*tag, 999'999'999);
      schedule_.channels.push_back(channel);
    }
  }

  static std::int32_t small(const JsonNode& node, std::int64_t max) {
    return static_cast<std::int32_t>(read_integer(node, 0, max));
  }

  void read_program(const JsonNode& node, std::size_t rank) {
    auto& program = schedule_.programs[rank];
    program.reserve(node.size());
    for (const JsonNode& element : node.elements()) program.push_back(read_op(element, rank));
  }

  Op read_op(const JsonNode& node, std::size_t rank) const {
    const bool is_object = node.is(JsonKind::object);
    const JsonNode name_node = is_object ? node.at("op") : node;
    const std::string text = read_string(name_node);
    const auto name = parse_op_name(text);
    if (!name) name_node.fail("an operation such as \"0F0\", \"0SEND_F0\", \"1REDUCE_GRAD\", \"OPTIMIZER_STEP\"");
    if (name->stage.value >= stages()) name_node.fail(fmt::format("a stage below {}", stages()));
    if (name->micro_batch.value >= schedule_.shape.micro_batches) {
      name_node.fail(fmt::format("a micro-batch below {}", schedule_.shape.micro_batches));
    }
    Op op;
    op.kind = name->kind;
    op.stage = name->stage;
    op.micro_batch = name->micro_batch;
    op.lane = usual_lane(op.kind);
    if (is_object) read_fields(node, op);
    if (!is_object || !node.find("replica")) op.replica = usual_replica(schedule_, op.stage, rank);
    return op;
  }

  void read_fields(const JsonNode& node, Op& op) const {
    only_keys(node, {"op", "stage", "lane", "replica", "overlaps_next", "channel", "bytes"});
    if (const auto stage = node.find("stage")) {
      if (has_stage(op.kind)) stage->fail("no stage beside an operation that names it");
      op.stage = Stage(small(*stage, stages() - 1));
    }
    if (const auto lane = node.find("lane"))
      op.lane = read_word(*lane, lanes, static_cast<const char* (*)(Lane)>(to_text));
    if (const auto replica = node.find("replica")) {
      op.replica =
          static_cast<std::uint8_t>(small(*replica, static_cast<std::int64_t>(schedule_.placement.size()) - 1));
    }
    op.overlaps_next = flag(node, "overlaps_next");
    if (const auto channel = node.find("channel")) {
      if (schedule_.channels.empty()) channel->fail("no channel, since the schedule lists none");
      op.channel = ChannelId(small(*channel, static_cast<std::int64_t>(schedule_.channels.size()) - 1));
    }
    if (const auto bytes = node.find("bytes")) op.bytes = {read_number(*bytes, 0, 1e18)};
  }

  Schedule schedule_;
};

}  // namespace

Schedule parse_json_schedule(std::string_view text, const std::string& file) {
  return Reader().read(JsonDocument::from_text(text, file).root());
}

Schedule load_json_schedule(const std::string& path) {
  return Reader().read(JsonDocument::from_file(path).root());
}

}  // namespace stagecraft
