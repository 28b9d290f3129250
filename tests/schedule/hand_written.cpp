#include "hand_written.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace stagecraft::test {

namespace {

Op op_of(const std::string& word) {
  const auto name = parse_op_name(word);
  if (!name) throw std::invalid_argument("no operation: " + word);
  Op op;
  op.kind = name->kind;
  op.lane = usual_lane(name->kind);
  op.stage = name->stage;
  op.micro_batch = name->micro_batch;
  return op;
}

std::vector<Op> read(const std::string& text) {
  std::vector<Op> program;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto plus = word.find('+');
    program.push_back(op_of(word.substr(0, plus)));
    if (plus == std::string::npos) continue;
    program.back().overlaps_next = true;
    program.push_back(op_of(word.substr(plus + 1)));
  }
  return program;
}

}  // namespace

Schedule written(const std::vector<std::string>& programs, std::int32_t micro_batches) {
  Schedule schedule;
  schedule.name = "hand-written";
  schedule.placement.emplace_back();
  for (const auto& text : programs) schedule.programs.push_back(read(text));
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (const Op& op : schedule.programs[rank]) {
      schedule.lowered = schedule.lowered || is_send(op.kind) || is_receive(op.kind);
      if (!op.stage.valid()) continue;
      auto& map = schedule.placement.front();
      if (op.stage.index() >= map.size()) map.resize(op.stage.index() + 1);
      if (!map[op.stage.index()].valid()) map[op.stage.index()] = PipelineRank(rank);
    }
  }
  const auto ranks = static_cast<std::int32_t>(programs.size());
  schedule.shape = {ranks, micro_batches, std::max(1, stage_count(schedule) / ranks)};
  return schedule;
}

std::string text_of(const std::vector<Op>& program) {
  std::string out;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (i > 0) out += program[i - 1].overlaps_next ? '+' : ' ';
    out += to_text(program[i]);
  }
  return out;
}

Schedule generated(const std::string& name, std::int32_t ranks, std::int32_t micro_batches, std::int32_t chunks) {
  const FamilyEntry* entry = find_schedule(name);
  if (entry == nullptr) throw std::invalid_argument("no schedule: " + name);
  ScheduleRequest request;
  request.shape = {ranks, micro_batches, chunks};
  if (entry->chunks == ChunkRule::two_per_wave) request.waves = chunks / 2;
  for (const Finding& finding : entry->refuse(request)) throw std::invalid_argument(to_text(finding));
  return entry->generate(request);
}

std::string FamilyCase::text() const {
  const auto& [p, m, v] = request.shape;
  std::string out = entry->name;
  out += " p=" + std::to_string(p) + " m=" + std::to_string(m) + " v=" + std::to_string(v);
  if (request.group_size) out += " g=" + std::to_string(*request.group_size);
  return out;
}

std::vector<FamilyCase> family_cases(const std::vector<PipelineShape>& shapes) {
  std::vector<FamilyCase> cases;
  for (const FamilyEntry& entry : schedule_family()) {
    for (const PipelineShape& shape : shapes) {
      FamilyCase one{&entry, {}};
      one.request.shape = shape;
      if (entry.chunks == ChunkRule::two_per_wave) {
        if (shape.chunks % 2 != 0) continue;
        one.request.waves = shape.chunks / 2;
      }
      if (entry.refuse(one.request).empty()) cases.push_back(one);
      if (entry.option != ScheduleOption::group_size || shape.micro_batches == shape.ranks) continue;
      one.request.group_size = shape.micro_batches;
      if (entry.refuse(one.request).empty()) cases.push_back(one);
    }
  }
  return cases;
}

std::int64_t count(const Schedule& schedule, OpKind kind) {
  std::int64_t found = 0;
  for (const auto& program : schedule.programs) {
    found += std::count_if(program.begin(), program.end(), [kind](const Op& op) { return op.kind == kind; });
  }
  return found;
}

}  // namespace stagecraft::test
