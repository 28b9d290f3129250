#include "trace/torch_events.hpp"

#include <fmt/core.h>

#include "base/input_error.hpp"
#include "trace/chrome_events.hpp"

namespace stagecraft {
namespace {

constexpr std::string_view prefix = "PP:";

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

}  // namespace

TorchFile read_torch_file(const std::string& path, std::size_t limit) {
  TorchFile file;
  const ChromeFile rest = read_chrome_events(path, [&](const ChromeEvent& event) {
    const bool gpu = event.category == "gpu_user_annotation";
    const bool action = event.phase == 'X' && event.name.starts_with(prefix) && event.dur_us >= 0;
    if (!action || (!gpu && event.category != "user_annotation")) return;
    std::vector<TorchAction>& list = gpu ? file.gpu : file.host;
    add_actions(std::string_view(event.name).substr(prefix.size()), event.ts_us * 1e3,
                (event.ts_us + event.dur_us) * 1e3, list);
    if (list.size() > limit) {
      throw InputError(InputProblem{path, 0, 0, "", "too many PP: annotations", fmt::format("at most {}", limit), ""});
    }
  });
  if (rest.rank >= 0 && rest.rank < 1'000'000'000) file.rank = static_cast<std::int32_t>(rest.rank);
  file.base_ns = rest.base_ns;
  return file;
}

}  // namespace stagecraft
