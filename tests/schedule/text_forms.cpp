// Names of operations, PyTorch's CSV and the JSON form: what is read, what is refused, and that writing and reading
// back changes nothing.

#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "family_request.hpp"
#include "schedule/csv_text.hpp"
#include "schedule/json_text.hpp"
#include "schedule/lower.hpp"
#include "schedule/op.hpp"

using namespace stagecraft;
using Catch::Matchers::Contains;

TEST_CASE("operations are named as PyTorch names them and read back") {
  for (std::size_t k = 0; k < op_kind_count; ++k) {
    Op op;
    op.kind = static_cast<OpKind>(k);
    op.stage = Stage(12);
    if (has_micro_batch(op.kind)) op.micro_batch = MicroBatch(345);
    const auto name = parse_op_name(to_text(op));
    REQUIRE(name);
    CHECK(name->kind == op.kind);
    CHECK(name->stage == (has_stage(op.kind) ? op.stage : Stage()));
    CHECK(name->micro_batch == op.micro_batch);
  }
  Op send;
  send.kind = OpKind::send_activation;
  send.stage = Stage(2);
  send.micro_batch = MicroBatch(5);
  CHECK(to_text(send) == "2SEND_F5");
}

TEST_CASE("a name is read whole or not at all") {
  for (const char* text : {"",
                           "F",
                           "0",
                           "0F",
                           "F0",
                           "0F0 ",
                           " 0F0",
                           "0f0",
                           "0F0x",
                           "0FF0",
                           "0SEND_F",
                           "0SEND0",
                           "0UNSHARD1",
                           "UNSHARD",
                           "0OPTIMIZER_STEP",
                           "OPTIMIZER_STEP0",
                           "-1F0",
                           "0F-1",
                           "1234567890F0",
                           "0F1234567890",
                           "0_0",
                           "0F0#1"}) {
    INFO(text);
    CHECK_FALSE(parse_op_name(text));
  }
}

TEST_CASE("the identity of a span names step, operation and segment") {
  const OpId whole{1, OpKind::forward, Stage(2), MicroBatch(5), -1};
  CHECK(to_text(whole) == "step1/2F5");
  const OpId part{0, OpKind::input_grad, Stage(0), MicroBatch(0), 14};
  CHECK(to_text(part) == "step0/0I0#14");
  const OpId step{3, OpKind::optimizer_step, Stage(), MicroBatch(), -1};
  CHECK(to_text(step) == "step3/OPTIMIZER_STEP");
  for (const OpId& id : {whole, part, step}) CHECK(parse_op_id(to_text(id)) == id);
  for (const char* text : {"", "2F5", "step/2F5", "step1", "step1/", "step1/2F5#", "step1/2F5#x", "step1/2F5#1#2",
                           "steP1/2F5", "step1/2F5 "}) {
    INFO(text);
    CHECK_FALSE(parse_op_id(text));
  }
}

namespace {

Schedule read(std::string_view text, std::optional<CsvForm> form = {}, bool legacy = false) {
  CsvOptions options;
  options.file = "my.csv";
  options.form = form;
  options.legacy_letters = legacy;
  return parse_csv_schedule(text, options);
}

/// The message that `text` is refused with; "" if it is read.
std::string refusal(std::string_view text, std::optional<CsvForm> form = {}, bool legacy = false) {
  try {
    read(text, form, legacy);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a table is read with either line end, ragged rows and blank cells") {
  for (const char* text : {"0F0,0F1,0B0,0B1\r\n,1F0,1B0,,1F1,1B1\r\n", "0F0,0F1,0B0,0B1\n , 1F0,1B0 ,\t,1F1,1B1",
                           "0F0,0F1,0B0,0B1,,,\n1F0,1B0,1F1,1B1\n"}) {
    const Schedule schedule = read(text);
    CHECK(schedule.shape.ranks == 2);
    CHECK(schedule.shape.micro_batches == 2);
    CHECK(schedule.shape.chunks == 1);
    CHECK(schedule.programs[1].size() == 4);
    CHECK(to_text(schedule.programs[1][2]) == "1F1");
    CHECK_FALSE(schedule.lowered);
  }
}

TEST_CASE("an overlapped pair is one cell and two operations") {
  const Schedule schedule = read("0F0,0F1,(0F2;0B0)OVERLAP_F_B,( 0F3 ; 0B1 )OVERLAP_F_B,0B2,0B3");
  REQUIRE(schedule.programs[0].size() == 8);
  CHECK(schedule.programs[0][2].overlaps_next);
  CHECK_FALSE(schedule.programs[0][3].overlaps_next);
  CHECK(to_csv(schedule) == "0F0,0F1,(0F2;0B0)OVERLAP_F_B,(0F3;0B1)OVERLAP_F_B,0B2,0B3\r\n");
}

TEST_CASE("communication makes it a lowered table, which has no blank cells") {
  const char* lowered = "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD\n1RECV_F0,1F0,1B0,1SEND_B0\n";
  CHECK(read(lowered).lowered);
  CHECK(read(lowered).programs[0][2].lane == Lane::pipeline);
  CHECK_THAT(refusal("0F0,0SEND_F0,,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n"),
             Contains("my.csv:1:14: rank 0: got a blank cell"));
  CHECK_THAT(refusal(lowered, CsvForm::compute_only),
             Contains("my.csv:1:1: rank 0: got '0UNSHARD', expected compute only"));
}

TEST_CASE("cells are matched whole: what PyTorch's prefix match lets through is refused with row, column and cell") {
  CHECK_THAT(refusal("0F0,0B0\n1F0,1B0x\n"), Contains("my.csv:2:5: rank 1: got '1B0x'"));
  for (const char* cell : {"F0",
                           "0F",
                           "0",
                           "0f0",
                           "0F0 0F1",
                           "0F-1",
                           "0F0;",
                           "0UNSHARD1",
                           "0SENDF0",
                           "0OVERLAP_F_B",
                           "OVERLAP_F_B",
                           "0F9999999999",
                           "0RECOMPUTE0",
                           "OPTIMIZER_STEP",
                           "(0F0)OVERLAP_F_B",
                           "(0F0;0B0)",
                           "(0B0;0F0)OVERLAP_F_B",
                           "(0F0;0B0;0F1)OVERLAP_F_B",
                           "(0F0;0B0)OVERLAP_F_BX",
                           "(",
                           ")",
                           "()",
                           "(;)OVERLAP_F_B",
                           "\"0F0\"",
                           "\xEF\xBB\xBF"
                           "0F0"}) {
    INFO(cell);
    CHECK_FALSE(refusal(std::string(cell) + ",0B0\n").empty());
  }
}

TEST_CASE("all bad cells are reported at once, up to a limit") {
  const std::string message = refusal("0F0,x,y\n1F0,z\n");
  CHECK_THAT(message, Contains("'x'") && Contains("'y'") && Contains("'z'"));
  std::string many;
  for (int k = 0; k < 1000; ++k) many += "x,";
  try {
    read(many);
    FAIL("read");
  } catch (const InputError& error) {
    CHECK(error.problems().size() == 20);
  }
}

TEST_CASE("BW is read only with the old letters, which also turn B into the input gradient") {
  CHECK_THAT(refusal("0F0,0BW0\n"), Contains("BW is read only with legacy letters"));
  const Schedule full = read("0F0,0BW0\n", {}, true);
  CHECK(full.programs[0][1].kind == OpKind::backward);
  const Schedule split = read("0F0,0B0,0W0\n", {}, true);
  CHECK(split.programs[0][1].kind == OpKind::input_grad);
  CHECK(split.programs[0][2].kind == OpKind::weight_grad);
  CHECK_FALSE(refusal("0F0,0BW\n", {}, true).empty());
}

TEST_CASE("where stages stand is read off the rows, or refused") {
  const Schedule v = read("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
  CHECK(v.shape.chunks == 2);
  CHECK(rank_of(v, Stage(3)) == PipelineRank(0));
  const Schedule both_ways = read("0F0,1F1,1B1,0B0\n0F1,1F0,1B0,0B1\n");
  REQUIRE(both_ways.placement.size() == 2);
  CHECK(both_ways.programs[0][0].replica == 0);
  CHECK(both_ways.programs[0][1].replica == 1);
  CHECK(rank_of(both_ways, Stage(0), 1) == PipelineRank(1));
  CHECK_THAT(refusal("0F0,0B0\n0F1,0B1\n"), Contains("spread evenly") || Contains("does not stand on one rank"));
  CHECK_THAT(refusal("0F0,1F0,1B0,0B0\n2F0,2B0\n"), Contains("do not spread evenly"));
  CHECK_THAT(refusal("0F0,1F0,2F0,2B0,1B0,0B0\n3F0,3B0\n"), Contains("every rank holds the same number"));
  CHECK_THAT(refusal("1F0,1B0\n2F0,2B0\n"), Contains("stage 0 is missing"));
}

TEST_CASE("empty and hostile tables are refused without taking memory") {
  CHECK_THAT(refusal(""), Contains("one row per rank"));
  CHECK_THAT(refusal("\n"), Contains("a row without operations"));
  CHECK_THAT(refusal("0F0,0B0\n,,\n"), Contains("my.csv:2"));
  CHECK_THAT(refusal("0F0,0B0\n\n"), Contains("my.csv:2"));
  CHECK_THAT(refusal("0F999999999,0B0\n"), Contains("passes, but there are only 2 operations"));
  CHECK_THAT(refusal("999999999F0,0F0\n"), Contains("passes, but there are only 2 operations"));
  CHECK_FALSE(refusal(std::string(1 << 20, ',')).empty());
  CHECK_FALSE(refusal(std::string(1 << 20, '\n')).empty());
  CHECK_FALSE(refusal(std::string("0F0\0,0B0", 8)).empty());
}

// The two tables that PyTorch keeps for its own tests, action for action.

namespace {

std::vector<std::vector<std::string>> names_of(const Schedule& schedule) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& program : schedule.programs) {
    auto& row = rows.emplace_back();
    for (const Op& op : program) row.push_back(to_text(op) + (op.overlaps_next ? "+" : ""));
  }
  return rows;
}

Schedule stored(const char* file, bool legacy_letters) {
  CsvOptions options;
  options.form = CsvForm::compute_only;
  options.legacy_letters = legacy_letters;
  return load_csv_schedule(std::string(STAGECRAFT_SOURCE_DIR "/tests/golden/schedules/") + file, options);
}

}  // namespace

TEST_CASE("DualPipeV on 4 ranks with 10 micro-batches is PyTorch's table") {
  const Schedule table = stored("dualpipev_4rank_10mb.csv", false);
  const Schedule built = test::generate("dualpipev", {4, 10, 2});
  CHECK(names_of(built) == names_of(table));
  CHECK(built.placement == table.placement);
  CHECK(table.shape.micro_batches == 10);
  CHECK(table.shape.chunks == 2);
}

TEST_CASE(
    "interleaved zero bubble on 2 ranks with 2 chunks and 8 micro-batches is PyTorch's table, in its old letters") {
  const Schedule table = stored("zb1p_2rank_2stagep_compute.legacy.csv", true);
  const Schedule built = test::generate("interleaved-zb", {2, 8, 2});
  CHECK(names_of(built) == names_of(table));
  CHECK(built.placement == table.placement);
}

namespace {

const std::string good = R"({
  "format": "stagecraft-schedule",
  "version": 1,
  "name": "two ranks",
  "ranks": 2,
  "micro_batches": 1,
  "chunks": 1,
  "placement": [[0, 1]],
  "programs": [
    ["0F0", {"op": "0SEND_F0", "bytes": 64}, "0RECV_B0", "0B0"],
    ["1RECV_F0", "1F0", "1B0", "1SEND_B0"]
  ]
})";

std::string with(const std::string& what, const std::string& replacement) {
  std::string text = good;
  const auto found = text.find(what);
  REQUIRE(found != std::string::npos);
  return text.replace(found, what.size(), replacement);
}

std::string json_refusal(const std::string& text) {
  try {
    parse_json_schedule(text, "s.json");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("what the JSON form leaves out takes its usual value") {
  const Schedule schedule = parse_json_schedule(good, "s.json");
  CHECK(schedule.optimizer_sync == OptimizerSync::barrier);
  CHECK(schedule.weights == WeightPolicy::one);
  CHECK_FALSE(schedule.lowered);
  CHECK(schedule.programs[0][1].lane == Lane::pipeline);
  CHECK(schedule.programs[0][1].bytes.value == 64);
}

TEST_CASE("errors in the JSON form name line, pointer and what was expected") {
  CHECK_THAT(json_refusal(with("\"0F0\"", "\"0X0\"")),
             Contains("s.json:10:6: /programs/0/0: got \"0X0\", expected an operation"));
  CHECK_THAT(json_refusal(with("\"0F0\"", "\"0F1\"")), Contains("a micro-batch below 1"));
  CHECK_THAT(json_refusal(with("\"0F0\"", "\"2F0\"")), Contains("a stage below 2"));
  CHECK_THAT(json_refusal(with("\"ranks\": 2", "\"ranks\": 3")),
             Contains("/ranks") && Contains("the number of programs, 2"));
  CHECK_THAT(json_refusal(with("[[0, 1]]", "[[0]]")), Contains("a rank for each of the 2 stages"));
  CHECK_THAT(json_refusal(with("[[0, 1]]", "[[0, 2]]")), Contains("/placement/0/1"));
  CHECK_THAT(json_refusal(with("[[0, 1]]", "[]")), Contains("one stage map, or two"));
  CHECK_THAT(json_refusal(with("\"bytes\": 64", "\"channel\": 0")),
             Contains("no channel, since the schedule lists none"));
  CHECK_THAT(json_refusal(with("\"bytes\": 64", "\"bytes\": -1")), Contains("/programs/0/1/bytes"));
  CHECK_THAT(json_refusal(with("\"bytes\": 64", "\"lane\": \"comput\"")), Contains("nearest: \"compute\""));
  CHECK_THAT(json_refusal(with("\"bytes\": 64", "\"stage\": 0")),
             Contains("no stage beside an operation that names it"));
  CHECK_THAT(json_refusal(with("\"bytes\": 64", "\"byte\": 64")), Contains("byte"));
  CHECK_THAT(json_refusal(with("\"version\": 1", "\"version\": 2")), Contains("/version"));
  CHECK_THAT(json_refusal(with("stagecraft-schedule", "something")), Contains("/format"));
  CHECK_THAT(json_refusal(with("\"micro_batches\": 1", "\"micro_batches\": 2000000000")), Contains("/micro_batches"));
  CHECK_THAT(json_refusal(with("\"chunks\": 1", "\"chunks\": 2000000000")), Contains("/chunks"));
  CHECK_THAT(json_refusal(with("\"0F0\"", "7")), Contains("/programs/0/0"));
  CHECK_FALSE(json_refusal("").empty());
  CHECK_FALSE(json_refusal("[]").empty());
  CHECK_FALSE(json_refusal(good.substr(0, good.size() / 2)).empty());
}

// Writing a schedule and reading it back changes nothing.

namespace {

bool same(const Op& a, const Op& b) {
  return a.kind == b.kind && a.lane == b.lane && a.replica == b.replica && a.overlaps_next == b.overlaps_next &&
         a.stage == b.stage && a.micro_batch == b.micro_batch && a.channel == b.channel && a.bytes == b.bytes;
}

bool same_programs(const Schedule& a, const Schedule& b) {
  if (a.programs.size() != b.programs.size()) return false;
  for (std::size_t r = 0; r < a.programs.size(); ++r) {
    if (!std::equal(a.programs[r].begin(), a.programs[r].end(), b.programs[r].begin(), b.programs[r].end(), same))
      return false;
  }
  return true;
}

bool same_shape(const PipelineShape& a, const PipelineShape& b) {
  return a.ranks == b.ranks && a.micro_batches == b.micro_batches && a.chunks == b.chunks;
}

}  // namespace

TEST_CASE("every schedule of the family survives PyTorch's CSV and the JSON form") {
  for (const FamilyEntry& entry : schedule_family()) {
    for (const ScheduleRequest& request : test::requests_of(entry)) {
      if (!test::accepts(entry, request)) continue;
      INFO(entry.name << " p=" << request.shape.ranks << " m=" << request.shape.micro_batches
                      << " v=" << request.shape.chunks);
      const Schedule schedule = entry.generate(request);
      // With one micro-batch one replica of a bidirectional schedule is idle, and a CSV does not name idle stages.
      if (schedule.placement.size() == 1 || request.shape.micro_batches > 1) {
        const Schedule csv = parse_csv_schedule(to_csv(schedule), {});
        CHECK(same_programs(schedule, csv));
        CHECK(schedule.placement == csv.placement);
        CHECK(same_shape(schedule.shape, csv.shape));
      }
      const std::string text = to_json(schedule);
      const Schedule json = parse_json_schedule(text, "schedule.json");
      CHECK(same_programs(schedule, json));
      CHECK(schedule.placement == json.placement);
      CHECK(same_shape(schedule.shape, json.shape));
      CHECK(json.name == schedule.name);
      CHECK(json.asynchronous == schedule.asynchronous);
      CHECK(json.weights == schedule.weights);
      CHECK(json.optimizer_sync == schedule.optimizer_sync);
      CHECK(to_json(json) == text);
    }
  }
}

TEST_CASE("the JSON form keeps what CSV has no word for") {
  Schedule schedule = test::generate("dualpipe", {2, 4, 1});
  schedule.name = "with \"quotes\" and \\";
  schedule.lowered = true;
  schedule.channels = {{PipelineRank(0), PipelineRank(1), false, -1}, {PipelineRank(1), PipelineRank(0), true, 7}};
  Op send;
  send.kind = OpKind::send_activation;
  send.lane = Lane::compute;
  send.replica = 1;
  send.stage = Stage(0);
  send.micro_batch = MicroBatch(2);
  send.channel = ChannelId(1);
  send.bytes = {1234567890.5};
  Op step;
  step.kind = OpKind::optimizer_step;
  step.stage = Stage(1);
  Op recompute;
  recompute.kind = OpKind::recompute;
  recompute.stage = Stage(0);
  recompute.micro_batch = MicroBatch(0);
  Op tied;
  tied.kind = OpKind::reduce_tied;
  tied.lane = Lane::data;
  tied.stage = Stage(0);
  for (const Op& op : {send, step, recompute, tied}) schedule.programs[0].push_back(op);
  const std::string text = to_json(schedule);
  const Schedule again = parse_json_schedule(text, "schedule.json");
  CHECK(same_programs(schedule, again));
  CHECK(again.name == schedule.name);
  CHECK(again.lowered);
  REQUIRE(again.channels.size() == 2);
  CHECK(again.channels[1].from == PipelineRank(1));
  CHECK(again.channels[1].gradient);
  CHECK(again.channels[1].tag == 7);
  CHECK(to_json(again) == text);
  const Findings refused = refuse_csv(schedule);
  CHECK(refused.size() == 3);
  CHECK(refuse_csv(test::generate("dualpipe", {2, 4, 1})).empty());
}

TEST_CASE("lowered schedules survive the JSON form whole, and PyTorch's CSV in the operations it has words for") {
  LoweringPolicy full;
  full.recompute = full.shard_parameters = full.reduce_grad = full.overlap_reduce = full.reduce_tied =
      full.gather_params = true;
  LoweringPolicy plain;
  plain.reduce_grad = plain.shard_parameters = true;
  plain.optimizer = false;
  for (const FamilyEntry& entry : schedule_family()) {
    ScheduleRequest request;
    request.shape = {4, 8, usual_chunks(entry)};
    REQUIRE(test::accepts(entry, request));
    const Schedule compute = entry.generate(request);
    for (const ReceivePlacement placement : {ReceivePlacement::at_sender, ReceivePlacement::before_consumer}) {
      INFO(entry.name);
      full.receive_placement = plain.receive_placement = placement;
      const Schedule schedule = lower(compute, full);
      const Schedule json = parse_json_schedule(to_json(schedule), "schedule.json");
      CHECK(same_programs(schedule, json));
      CHECK(json.lowered);
      REQUIRE(json.channels.size() == schedule.channels.size());
      for (std::size_t c = 0; c < json.channels.size(); ++c) {
        CHECK(json.channels[c].from == schedule.channels[c].from);
        CHECK(json.channels[c].to == schedule.channels[c].to);
        CHECK(json.channels[c].gradient == schedule.channels[c].gradient);
        CHECK(json.channels[c].tag == schedule.channels[c].tag);
      }
      const Schedule sent = lower(compute, plain);
      if (!refuse_csv(sent).empty()) continue;  // PipeDream steps its optimizer within the program
      const Schedule csv = parse_csv_schedule(to_csv(sent), {});
      CHECK(names_of(csv) == names_of(sent));
      CHECK(csv.lowered);
    }
  }
}
