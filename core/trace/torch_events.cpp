#include "trace/torch_events.hpp"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"

namespace stagecraft {
namespace {

constexpr std::string_view prefix = "PP:";
constexpr std::size_t longest_token = std::size_t{16} << 20;

[[noreturn]] void fail(const std::string& path, std::string got, std::string expected) {
  throw InputError(InputProblem{path, 0, 0, "", std::move(got), std::move(expected), ""});
}

/// Characters of a file; refuses a stretch without a quotation mark that is too long to be held in memory.
class Characters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Characters() = default;
  Characters(std::istream& stream, const std::string& path) : at_(stream), path_(&path) {}
  char operator*() const { return *at_; }
  Characters& operator++() {
    run_ = *at_ == '"' ? 0 : run_ + 1;
    if (run_ > longest_token) fail(*path_, "a string or number of more than 16 MiB", "a file of torch.profiler");
    ++at_;
    return *this;
  }
  Characters operator++(int) {
    Characters before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Characters& a, const Characters& b) { return a.at_ == b.at_; }

 private:
  std::istreambuf_iterator<char> at_;
  const std::string* path_ = nullptr;
  std::size_t run_ = 0;
};

/// "(0F7;7B3)OVERLAP_F_B" is its two parts.
void add_actions(std::string_view text, double begin_ns, double end_ns, std::vector<TorchAction>& out) {
  if (const std::optional<OpName> name = parse_op_name(text)) {
    out.push_back({*name, begin_ns, end_ns});
    return;
  }
  if (!text.starts_with("(") || !text.ends_with(")OVERLAP_F_B")) return;
  text = text.substr(1, text.find(')') - 1);
  while (!text.empty()) {
    const std::size_t semicolon = text.find(';');
    if (const std::optional<OpName> name = parse_op_name(text.substr(0, semicolon))) {
      out.push_back({*name, begin_ns, end_ns});
    }
    text = semicolon == std::string_view::npos ? std::string_view{} : text.substr(semicolon + 1);
  }
}

// Depth 1: members of the document. Depth 2 under "distributedInfo": its members. Depth 3 under "traceEvents": members
// of one event.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(const std::string& path, std::size_t limit, TorchFile& out) : path_(path), limit_(limit), out_(out) {}

  bool start_object(std::size_t) override { return ++depth_, true; }
  bool end_object() override {
    if (depth_ == 3 && section_ == "traceEvents") close_event();
    return --depth_, true;
  }
  bool start_array(std::size_t) override { return ++depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool key(std::string& text) override {
    if (depth_ == 1) section_ = text;
    if (depth_ <= 3) key_ = std::move(text);
    return true;
  }
  bool string(std::string& text) override {
    if (!in_event()) return true;
    if (key_ == "name") name_ = std::move(text);
    if (key_ == "cat") category_ = std::move(text);
    if (key_ == "ph") phase_ = std::move(text);
    return true;
  }
  bool number_integer(std::int64_t value) override {
    if (depth_ == 1 && section_ == "baseTimeNanoseconds") out_.base_ns = value;
    return number(static_cast<double>(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    if (depth_ == 1 && section_ == "baseTimeNanoseconds") out_.base_ns = static_cast<std::int64_t>(value);
    return number(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) override { return number(value); }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    fail(path_, fmt::format("at byte {}: {}", position, error.what()), "JSON as torch.profiler writes it");
  }

 private:
  bool in_event() const { return depth_ == 3 && section_ == "traceEvents"; }

  bool number(double value) {
    if (depth_ == 2 && section_ == "distributedInfo" && key_ == "rank" && value >= 0 && value < 1e9) {
      out_.rank = static_cast<std::int32_t>(value);
    }
    if (in_event() && key_ == "ts") time_us_ = value;
    if (in_event() && key_ == "dur") duration_us_ = value;
    return true;
  }

  void close_event() {
    if (phase_ == "X" && name_.starts_with(prefix) && duration_us_ >= 0) {
      const bool gpu = category_ == "gpu_user_annotation";
      if (gpu || category_ == "user_annotation") {
        std::vector<TorchAction>& list = gpu ? out_.gpu : out_.host;
        add_actions(std::string_view(name_).substr(prefix.size()), time_us_ * 1e3, (time_us_ + duration_us_) * 1e3,
                    list);
        if (list.size() > limit_) fail(path_, "too many PP: annotations", fmt::format("at most {}", limit_));
      }
    }
    name_.clear();
    category_.clear();
    phase_.clear();
    time_us_ = duration_us_ = 0;
  }

  const std::string& path_;
  std::size_t limit_;
  TorchFile& out_;
  std::size_t depth_ = 0;
  std::string section_, key_, name_, category_, phase_;
  double time_us_ = 0, duration_us_ = 0;
};

}  // namespace

TorchFile read_torch_file(const std::string& path, std::size_t limit) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, "a file that can't be read", "a file of torch.profiler");
  TorchFile file;
  Events events(path, limit, file);
  nlohmann::json::sax_parse(Characters(stream, path), Characters(), &events);
  return file;
}

}  // namespace stagecraft
