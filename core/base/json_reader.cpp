#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json_tree.hpp"

namespace stagecraft {
namespace {

std::string escaped(std::string_view token) {  // RFC 6901, section 3
  std::string text;
  for (const char letter : token) {
    if (letter == '~') {
      text += "~0";
    } else if (letter == '/') {
      text += "~1";
    } else {
      text += letter;
    }
  }
  return text;
}

void quote(std::string_view letters, std::string& out) {
  out += '"';
  for (const char letter : letters) {
    if (letter == '"' || letter == '\\') {
      out += '\\';
      out += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
}

void dump_value(const JsonTree& tree, std::int32_t index, std::size_t limit, std::string& out) {
  if (limit > 0 && out.size() > limit) return;
  const JsonValue& value = tree.at(index);
  switch (value.kind) {
    case JsonKind::null:
      out += "null";
      return;
    case JsonKind::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case JsonKind::integer:
      out += std::to_string(value.integer);
      return;
    case JsonKind::number: {
      const std::string text = fmt::format("{}", value.number);
      out += text;
      if (text.find_first_of(".e") == std::string::npos) out += ".0";
      return;
    }
    case JsonKind::string:
      quote(tree.view(value.text), out);
      return;
    case JsonKind::array:
    case JsonKind::object:
      break;
  }
  const bool object = value.kind == JsonKind::object;
  out += object ? '{' : '[';
  for (std::int32_t i = index + 1; i < value.end; i = tree.at(i).end) {
    if (i > index + 1) out += ',';
    if (object) {
      quote(tree.view(tree.at(i).key), out);
      out += ':';
    }
    dump_value(tree, i, limit, out);
    if (limit > 0 && out.size() > limit) return;
  }
  out += object ? '}' : ']';
}

std::string shortened(std::string text, std::size_t limit) {
  if (limit == 0 || text.size() <= limit) return text;
  std::size_t cut = limit;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0u) == 0x80u) --cut;  // not inside a UTF-8 sequence
  return text.substr(0, cut) + "...";
}

std::vector<JsonNode> children(const JsonNode& node) {
  std::vector<JsonNode> found;
  const JsonTree& tree = node.tree();
  for (std::int32_t i = node.index() + 1; i < tree.at(node.index()).end; i = tree.at(i).end)
    found.emplace_back(tree, i);
  return found;
}

}  // namespace

std::string to_text(JsonKind kind) {
  switch (kind) {
    case JsonKind::null:
      return "null";
    case JsonKind::boolean:
      return "true or false";
    case JsonKind::integer:
      return "an integer";
    case JsonKind::number:
      return "a number";
    case JsonKind::string:
      return "a string";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "a value";
}

JsonKind JsonNode::kind() const {
  return tree_->at(index_).kind;
}
std::string JsonNode::key() const {
  return std::string(tree_->view(tree_->at(index_).key));
}
int JsonNode::line() const {
  return tree_->at(index_).line;
}
int JsonNode::column() const {
  return tree_->at(index_).column;
}

std::string JsonNode::file() const {
  return tree_->origins[static_cast<std::size_t>(tree_->at(index_).origin)].file;
}

std::string JsonNode::pointer() const {
  std::string path;
  for (std::int32_t i = index_; tree_->at(i).parent >= 0; i = tree_->at(i).parent) {
    const std::int32_t parent = tree_->at(i).parent;
    std::string token;
    if (tree_->at(parent).kind == JsonKind::object) {
      token = escaped(tree_->view(tree_->at(i).key));
    } else {
      std::int32_t position = 0;
      for (std::int32_t j = parent + 1; j < i; j = tree_->at(j).end) ++position;
      token = std::to_string(position);
    }
    path.insert(0, fmt::format("/{}", token));
  }
  return tree_->origins[static_cast<std::size_t>(tree_->at(index_).origin)].prefix + path;
}

std::optional<JsonNode> JsonNode::find(std::string_view wanted) const {
  if (kind() != JsonKind::object) fail(to_text(JsonKind::object));
  for (std::int32_t i = index_ + 1; i < tree_->at(index_).end; i = tree_->at(i).end)
    if (tree_->view(tree_->at(i).key) == wanted) return JsonNode(*tree_, i);
  return std::nullopt;
}

JsonNode JsonNode::at(std::string_view wanted) const {
  if (const auto found = find(wanted)) return *found;
  InputProblem missing = problem(fmt::format("the key \"{}\"", wanted), "", "no such key");
  missing.pointer += fmt::format("/{}", escaped(wanted));
  throw InputError(missing);
}

std::vector<JsonNode> JsonNode::members() const {
  if (kind() != JsonKind::object) fail(to_text(JsonKind::object));
  return children(*this);
}

std::vector<JsonNode> JsonNode::elements() const {
  if (kind() != JsonKind::array) fail(to_text(JsonKind::array));
  return children(*this);
}

std::size_t JsonNode::size() const {
  if (kind() != JsonKind::object && kind() != JsonKind::array) return 0;
  std::size_t count = 0;
  for (std::int32_t i = index_ + 1; i < tree_->at(index_).end; i = tree_->at(i).end) ++count;
  return count;
}

bool JsonNode::raw_boolean() const {
  return tree_->at(index_).boolean;
}
std::int64_t JsonNode::raw_integer() const {
  return tree_->at(index_).integer;
}
std::string_view JsonNode::raw_string() const {
  return tree_->view(tree_->at(index_).text);
}

double JsonNode::raw_number() const {
  const JsonValue& value = tree_->at(index_);
  return value.kind == JsonKind::integer ? static_cast<double>(value.integer) : value.number;
}

std::string JsonNode::dump(std::size_t limit) const {
  std::string text;
  dump_value(*tree_, index_, limit, text);
  return shortened(std::move(text), limit);
}

InputProblem JsonNode::problem(std::string expected, std::string nearest, std::string got) const {
  constexpr std::size_t longest_quote = 60;
  return {file(),
          line(),
          column(),
          pointer(),
          got.empty() ? dump(longest_quote) : std::move(got),
          std::move(expected),
          std::move(nearest)};
}

void JsonNode::fail(std::string expected, std::string nearest, std::string got) const {
  throw InputError(problem(std::move(expected), std::move(nearest), std::move(got)));
}

JsonDocument::JsonDocument(std::unique_ptr<JsonTree> tree) : tree_(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;
JsonNode JsonDocument::root() const {
  return {*tree_, 0};
}

}  // namespace stagecraft
