#include "base/json_merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/json_tree.hpp"

namespace stagecraft {
namespace {

constexpr JsonText no_key{0, 0};

// Appends to a new tree; remembers which origin of which source tree became which origin here.
class Copier {
 public:
  explicit Copier(const std::vector<ShortForm>& short_forms) : short_forms_(short_forms) {}

  // `where` is the pointer in the new document; `skip` names members of the root to leave out.
  void copy(const JsonNode& node, std::int32_t parent, JsonText key, const std::vector<std::string>& skip = {}) {
    const std::int32_t index = append(node, parent, key);
    if (node.is(JsonKind::string)) tree_->at(index).text = tree_->keep(node.raw_string());
    if (node.is(JsonKind::object) || node.is(JsonKind::array)) {
      const std::vector<JsonNode> inside = node.is(JsonKind::object) ? node.members() : node.elements();
      for (const JsonNode& child : inside)
        if (std::find(skip.begin(), skip.end(), child.key()) == skip.end())
          copy(child, index, tree_->keep(child.key()));
    }
    tree_->at(index).end = tree_->next_index();
  }

  void merge(const JsonNode& below, const JsonNode& above, std::int32_t parent, JsonText key,
             const std::string& where) {
    const ShortForm* form = short_form_at(where);
    const bool restarts = form != nullptr && above.is(JsonKind::object) && is_complete(above, form->restarts);
    const bool from_short = form != nullptr && below.is(JsonKind::string) && above.is(JsonKind::object) && !restarts;
    if (below.is(JsonKind::array) && above.is(JsonKind::object) && above.size() > 0 && above.file() == "--set")
      return merge_elements(below, above, parent, key, where);
    const bool both_objects = below.is(JsonKind::object) && above.is(JsonKind::object) && !restarts;
    if (!from_short && !both_objects) return copy(above, parent, key);

    const std::int32_t index = append(above, parent, key);
    if (from_short) {
      copy(below, index, tree_->keep(form->key));
    } else {
      for (const JsonNode& member : below.members()) {
        const std::string name = member.key();
        const std::optional<JsonNode> over = above.find(name);
        if (over) {
          merge(member, *over, index, tree_->keep(name), where + "/" + name);
        } else {
          copy(member, index, tree_->keep(name));
        }
      }
    }
    for (const JsonNode& member : above.members())
      if (from_short || !below.find(member.key())) copy(member, index, tree_->keep(member.key()));
    tree_->at(index).end = tree_->next_index();
  }

  // --set of single elements: the keys of `above` are positions in the list `below`.
  void merge_elements(const JsonNode& below, const JsonNode& above, std::int32_t parent, JsonText key,
                      const std::string& where) {
    const std::vector<JsonNode> elements = below.elements();
    for (const JsonNode& over : above.members()) {
      if (position_of(over.key(), elements.size()) >= 0) continue;
      const std::string expected = elements.empty()
                                       ? "another field: the list is empty"
                                       : fmt::format("a position in the list, 0 to {}", elements.size() - 1);
      over.fail(expected, elements.empty() ? "" : fmt::format("{}", elements.size() - 1),
                fmt::format("the position \"{}\"", over.key().substr(0, 60)));
    }
    const std::int32_t index = append(below, parent, key);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::string name = std::to_string(i);
      if (const std::optional<JsonNode> over = above.find(name)) {
        merge(elements[i], *over, index, no_key, where + "/" + name);
      } else {
        copy(elements[i], index, no_key);
      }
    }
    tree_->at(index).end = tree_->next_index();
  }

  JsonDocument take() { return JsonDocument(std::move(tree_)); }

  /// What has to be put before a pointer of the new document to get one of the source document.
  void re_root(const JsonNode& node) { cut_ = &node; }

 private:
  std::int32_t append(const JsonNode& node, std::int32_t parent, JsonText key) {
    if (tree_->values.size() >= json_most_values)
      node.fail(fmt::format("at most {} values after merging", json_most_values), "", "too many values");
    JsonValue value = node.tree().at(node.index());
    value.origin = origin_of(node);
    value.parent = parent;
    value.key = key;
    tree_->values.push_back(value);
    return tree_->next_index() - 1;
  }

  std::int16_t origin_of(const JsonNode& node) {
    const JsonTree& source = node.tree();
    JsonOrigin origin = source.origins[static_cast<std::size_t>(source.at(node.index()).origin)];
    if (cut_ != nullptr && &cut_->tree() == &source) origin.prefix += pointer_inside(*cut_);
    for (std::size_t i = 0; i < tree_->origins.size(); ++i)
      if (tree_->origins[i].file == origin.file && tree_->origins[i].prefix == origin.prefix)
        return static_cast<std::int16_t>(i);
    tree_->origins.push_back(origin);
    return static_cast<std::int16_t>(tree_->origins.size() - 1);
  }

  // The pointer of `node` within its own document, without the prefix of its origin.
  static std::string pointer_inside(const JsonNode& node) {
    const JsonTree& source = node.tree();
    const std::string& prefix = source.origins[static_cast<std::size_t>(source.at(node.index()).origin)].prefix;
    return node.pointer().substr(prefix.size());
  }

  // -1 if `text` is no position in a list of `size` elements, written without a leading zero.
  static std::int64_t position_of(const std::string& text, std::size_t size) {
    constexpr std::size_t most_digits = 9;
    const bool number = !text.empty() && text.size() <= most_digits &&
                        text.find_first_not_of("0123456789") == std::string::npos &&
                        (text.size() == 1 || text.front() != '0');
    const std::int64_t position = number ? std::stoll(text) : -1;
    return position < static_cast<std::int64_t>(size) ? position : -1;
  }

  static bool is_complete(const JsonNode& object, const std::vector<std::vector<std::string>>& sets) {
    return std::any_of(sets.begin(), sets.end(), [&](const std::vector<std::string>& keys) {
      return std::all_of(keys.begin(), keys.end(),
                         [&](const std::string& key) { return object.find(key).has_value(); });
    });
  }

  const ShortForm* short_form_at(const std::string& where) const {
    for (const ShortForm& form : short_forms_)
      if (form.pointer == where) return &form;
    return nullptr;
  }

  std::unique_ptr<JsonTree> tree_ = std::make_unique<JsonTree>();
  const std::vector<ShortForm>& short_forms_;
  const JsonNode* cut_ = nullptr;
};

}  // namespace

JsonDocument merge(const JsonNode& below, const JsonNode& above, const std::vector<ShortForm>& short_forms) {
  Copier copier(short_forms);
  copier.merge(below, above, -1, no_key, "");
  return copier.take();
}

JsonDocument copy_of(const JsonNode& node, const std::vector<std::string>& without) {
  const std::vector<ShortForm> none;
  Copier copier(none);
  copier.re_root(node);
  copier.copy(node, -1, no_key, without);
  return copier.take();
}

}  // namespace stagecraft
