#include "exchange/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/input_error.hpp"
#include "base/json_reader.hpp"

namespace stagecraft {
namespace {

/// The number behind `label` in a line; commas between digits and blanks before the number are passed over.
std::optional<double> number_behind(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = at + label.size(); i < line.size() && digits.size() < 32; ++i) {
    const char c = line[i];
    if (c == ' ' && digits.empty()) continue;
    if (c == ',') {
      if (i + 1 >= line.size() || line[i + 1] < '0' || line[i + 1] > '9') break;
      continue;
    }
    if ((c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') break;
    digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end == digits.data() || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

struct Label {
  const char* framework;
  const char* label;
  double scale;  // to seconds, tokens/s, TFLOP/s or bytes
  std::vector<double> Observed::*into;
};

// megatron/training/training.py; deepspeed/utils/timer.py; torchtitan/components/metrics.py.
constexpr std::array labels{
    Label{"megatron", "elapsed time per iteration (ms):", 1e-3, &Observed::step_times_s},
    Label{"megatron", "throughput per GPU (TFLOP/s/GPU):", 1, &Observed::tflops},
    Label{"deepspeed", "iter_time_s:", 1, &Observed::step_times_s},
    Label{"deepspeed", "| iter time (s):", 1, &Observed::step_times_s},
    Label{"torchtitan", "tps:", 1, &Observed::tokens_per_s},
    Label{"torchtitan", "tflops:", 1, &Observed::tflops},
    Label{"torchtitan", "time_metrics/end_to_end(s):", 1, &Observed::step_times_s},
};

struct MemoryLabel {
  const char* framework;
  const char* label;
  double scale;
  const char* kind;
};

constexpr double mebi = 1024.0 * 1024, gibi = 1024 * mebi;
constexpr std::array memory_labels{
    MemoryLabel{"megatron", "max allocated:", mebi, "torch max_allocated"},
    MemoryLabel{"deepspeed", "MaxMemAllocated=", 1e9, "torch max_allocated"},
    MemoryLabel{"deepspeed", "Max_MA ", gibi, "torch max_allocated"},
    MemoryLabel{"torchtitan", "memory:", gibi, "torch max_reserved"},
};

void read_line(std::string_view line, Observed& seen) {
  for (const Label& label : labels) {
    const auto value = number_behind(line, label.label);
    if (!value || (!seen.framework.empty() && seen.framework != label.framework)) continue;
    seen.framework = label.framework;
    (seen.*label.into).push_back(*value * label.scale);
  }
  for (const MemoryLabel& label : memory_labels) {
    const auto value = number_behind(line, label.label);
    if (!value || (!seen.framework.empty() && seen.framework != label.framework)) continue;
    seen.memory_bytes = std::max(seen.memory_bytes.value_or(0), *value * label.scale);
    seen.memory_kind = label.kind;
  }
}

std::string without_colours(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    plain += text[i];
  }
  return plain;
}

}  // namespace

Observed observe_log(std::string_view coloured, const std::string& file) {
  const std::string plain = without_colours(coloured);
  std::string_view text = plain;
  Observed seen;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    read_line(text.substr(0, std::min<std::size_t>(end, 4096)), seen);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (seen.framework.empty() && !seen.memory_bytes) {
    throw InputError({file, 0, 0, "", "no line of a training log",
                      "the log of Megatron-LM (\"elapsed time per iteration\"), DeepSpeed (\"iter_time_s\") or "
                      "torchtitan (\"tps:\")",
                      ""});
  }
  return seen;
}

double settled(const std::vector<double>& values, std::size_t warm_up) {
  if (values.size() <= warm_up) return 0;
  std::vector<double> rest(values.begin() + static_cast<std::ptrdiff_t>(warm_up), values.end());
  std::sort(rest.begin(), rest.end());
  const std::size_t middle = rest.size() / 2;
  return rest.size() % 2 == 1 ? rest[middle] : (rest[middle - 1] + rest[middle]) / 2;
}

std::size_t interval_count(const Observed& observed) {
  return std::max({observed.step_times_s.size(), observed.tokens_per_s.size(), observed.tflops.size()});
}

std::string record_of(const Observed& observed, const std::string& id, std::size_t warm_up, std::string_view base) {
  using Json = nlohmann::ordered_json;
  Json record = Json::object();
  if (!base.empty()) {
    const JsonDocument document = JsonDocument::from_text(base, "the record");
    if (!document.root().is(JsonKind::object)) document.root().fail("an object");
    record = Json::parse(document.root().dump());
  }
  record["id"] = id;
  if (!record.contains("group")) record["group"] = "observed";
  record["kind"] = "measured";
  Json& measured = record["measured"];
  if (!measured.is_object()) measured = Json::object();
  const double step = settled(observed.step_times_s, warm_up), tokens = settled(observed.tokens_per_s, warm_up);
  const double tflops = settled(observed.tflops, warm_up);
  measured["step_time_s"] = step > 0 ? Json(step) : Json(nullptr);
  measured["tokens_per_s_per_gpu"] = tokens > 0 ? Json(tokens) : Json(nullptr);
  measured["tflops_per_gpu"] = tflops > 0 ? Json(tflops) : Json(nullptr);
  if (observed.memory_bytes) {
    measured["memory_gb"] = *observed.memory_bytes / 1e9;
    measured["memory_unit"] = "GB";
    measured["memory_kind"] = observed.memory_kind;
  }
  record["notes"] = fmt::format("Median of {} intervals of a {} log behind the first {}.",
                                std::max(interval_count(observed), warm_up) - warm_up, observed.framework, warm_up);
  return Json::array({record}).dump(2) + "\n";
}

}  // namespace stagecraft
