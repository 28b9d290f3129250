// Names of operations in text: PyTorch's grammar (torch/distributed/pipelining/schedules.py, _Action), with words of
// our own for what it does not know. Unlike PyTorch, which matches a prefix, a name is read whole or refused.

#include <algorithm>
#include <cctype>
#include <charconv>

#include "schedule/op.hpp"

namespace stagecraft {

namespace {

constexpr std::size_t longest_number = 9;  // fits std::int32_t

/// Takes the digits at the front of `text`; none if there are none or too many.
std::optional<std::int32_t> take_number(std::string_view& text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; });
  const auto digits = static_cast<std::size_t>(end - text.begin());
  if (digits == 0 || digits > longest_number) return std::nullopt;
  std::int32_t value = 0;
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

void append_number(std::string& out, std::int32_t value) {
  char digits[16];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

std::string name_text(OpKind kind, Stage stage, MicroBatch micro_batch) {
  std::string out;
  if (has_stage(kind)) append_number(out, stage.value);
  out += word_of(kind);
  if (has_micro_batch(kind)) append_number(out, micro_batch.value);
  return out;
}

std::optional<OpKind> kind_of_word(std::string_view word) {
  for (std::size_t k = 0; k < op_kind_count; ++k) {
    const auto kind = static_cast<OpKind>(k);
    if (word_of(kind) == word) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string to_text(const Op& op) {
  return name_text(op.kind, op.stage, op.micro_batch);
}

std::optional<OpName> parse_op_name(std::string_view text) {
  OpName name;
  const auto stage = take_number(text);
  const auto word_end = std::find_if(text.begin(), text.end(), [](char c) { return (c < 'A' || c > 'Z') && c != '_'; });
  const auto kind = kind_of_word(text.substr(0, static_cast<std::size_t>(word_end - text.begin())));
  if (!kind || stage.has_value() != has_stage(*kind)) return std::nullopt;
  text.remove_prefix(word_of(*kind).size());
  const auto micro_batch = take_number(text);
  if (micro_batch.has_value() != has_micro_batch(*kind) || !text.empty()) return std::nullopt;
  name.kind = *kind;
  if (stage) name.stage = Stage(*stage);
  if (micro_batch) name.micro_batch = MicroBatch(*micro_batch);
  return name;
}

std::string to_text(const OpId& id) {
  std::string out = "step";
  append_number(out, id.step);
  out += '/';
  out += name_text(id.kind, id.stage, id.micro_batch);
  if (id.segment >= 0) {
    out += '#';
    append_number(out, id.segment);
  }
  return out;
}

std::optional<OpId> parse_op_id(std::string_view text) {
  if (!take(text, "step")) return std::nullopt;
  const auto step = take_number(text);
  if (!step || !take(text, "/")) return std::nullopt;
  const auto hash = text.find('#');
  const auto name = parse_op_name(text.substr(0, hash));
  if (!name) return std::nullopt;
  OpId id{*step, name->kind, name->stage, name->micro_batch, -1};
  if (hash == std::string_view::npos) return id;
  text.remove_prefix(hash + 1);
  const auto segment = take_number(text);
  if (!segment || !text.empty()) return std::nullopt;
  id.segment = *segment;
  return id;
}

}  // namespace stagecraft
