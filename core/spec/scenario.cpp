#include "spec/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file_io.hpp"
#include "base/json_merge.hpp"
#include "spec/library.hpp"
#include "spec/parse_cluster.hpp"
#include "spec/read_cluster.hpp"
#include "spec/read_model.hpp"
#include "spec/read_run.hpp"
#include "spec/resolve.hpp"
#include "spec/schema.hpp"

namespace stagecraft {
namespace {

using Keys = std::vector<std::string>;

std::vector<ShortForm> scenario_short_forms() {
  return {{"/model", "extends", {Keys{"extends"}, Keys{"plain_layers"}, Keys{"hidden", "blocks", "attention", "mlp"}}},
          {"/cluster", "extends", {Keys{"extends"}, Keys{"gpu", "node", "fabric"}}},
          {"/cluster/gpu", "extends", {Keys{"extends"}, Keys{"peak", "memory", "memory_bandwidth"}}},
          {"/schedule", "name", {Keys{"name"}, Keys{"csv"}}}};
}

std::vector<ShortForm> cluster_short_forms() {
  return {{"/gpu", "extends", {Keys{"extends"}, Keys{"peak", "memory", "memory_bandwidth"}}}};
}

/// Finds files of a kind by name, and notes them.
auto locator(const std::string& kind, const Library& library, Reading& reading) {
  return [&library, &reading, kind](const JsonNode& node) {
    std::string path = locate(node, kind, library);
    reading.files.push_back(path);
    return path;
  };
}

// Reads an object that may extend a file of the library, then holds it against the schema.
template <class Read>
auto read_resolved(const JsonDocument& document, const char* schema, Reading& reading, Read read) {
  const std::size_t problems_before = reading.problems.size();
  auto result = read(document.root());
  if (reading.problems.size() == problems_before) reading.attempt([&] { check_schema(document.root(), schema); });
  return result;
}

GpuSpec gpu_from(const JsonNode& node, const std::string& where, const Library& library, Reading& reading) {
  const JsonDocument document = load_extended(node, locator("gpus", library, reading));
  return read_resolved(document, "gpu", reading, [&](const JsonNode& root) { return read_gpu(root, where, reading); });
}

ClusterSpec cluster_from(const JsonDocument& document, const std::string& where, const Library& library,
                         Reading& reading, bool may_mix = true) {
  const ClusterParts parts{[&](const JsonNode& gpu) { return gpu_from(gpu, where + "/gpu", library, reading); },
                           [&](const JsonNode& other, const std::string& there) {
                             if (!may_mix)
                               other.fail("a cluster whose nodes are alike", "", "one with other_nodes of its own");
                             return cluster_from(
                                 load_extended(other, locator("clusters", library, reading), cluster_short_forms()),
                                 there, library, reading, false);
                           }};
  return read_resolved(document, "cluster", reading,
                       [&](const JsonNode& root) { return read_cluster(root, where, reading, parts); });
}

ModelSpec model_from(const JsonDocument& document, const std::string& where, Reading& reading) {
  return read_resolved(document, "model", reading,
                       [&](const JsonNode& root) { return read_model(root, where, reading); });
}

std::vector<PublishedFigure> read_published(const JsonNode& node, Reading& reading) {
  std::vector<PublishedFigure> figures;
  for (const JsonNode& element : node.elements()) {
    PublishedFigure figure;
    ObjectReader fields(element, fmt::format("/published/{}", figures.size()), reading);
    fields.required("key", figure.key, read_nonempty_string);
    fields.required("value", figure.value, number_in(-1e18, 1e18));
    fields.optional("flop_convention", figure.flop_convention, read_nonempty_string);
    fields.required("source", figure.source, read_nonempty_string);
    fields.finish();
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::string locate_scenario(const JsonNode& node) {
  const std::string name = read_nonempty_string(node);
  std::string file = beside(node, name.ends_with(".json") ? name : name + ".json");
  if (!file_exists(file)) node.fail("the path of a scenario that exists", "", fmt::format("no file \"{}\"", file));
  return file;
}

auto scenario_locator(Reading& reading) {
  return [&reading](const JsonNode& node) {
    reading.files.push_back(locate_scenario(node));
    return reading.files.back();
  };
}

JsonDocument with_overrides(JsonDocument document, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const JsonDocument layer = parse_override(text);
    if (const auto base = layer.root().find("extends"))
      base->fail("a field of the resolved scenario; name the other file instead of this one, or \"extends\" in a file",
                 "", "\"extends\", which --set comes too late for");
    document = merge(document.root(), layer.root(), scenario_short_forms());
  }
  return document;
}

void read_calibration(ObjectReader& fields, Scenario& scenario) {
  scenario.calibration = scenario.cluster.calibration;
  fields.defaulted(
      "calibration", scenario.calibration,
      [](const JsonNode& node) {
        const std::string name = read_nonempty_string(node);
        return is_path(name) ? beside(node, name) : name;
      },
      [](const std::string& name) { return name; }, "the cluster's");
}

/// A file may be called anything; control characters become question marks.
std::string printable(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return letter < 0x20 || letter == 0x7F; }, '?');
  return name;
}

std::vector<std::string> each_once(const std::vector<std::string>& files) {
  std::vector<std::string> once;
  for (const std::string& file : files) {
    if (std::find(once.begin(), once.end(), file) == once.end()) once.push_back(file);
  }
  return once;
}

Scenario scenario_from(const JsonDocument& document, const std::string& path, const Library& library,
                       Reading& reading) {
  Scenario scenario;
  scenario.path = path;
  ObjectReader fields(document.root(), "", reading);
  scenario.name = printable(std::filesystem::path(path).stem().string());
  fields.optional("name", scenario.name, read_nonempty_string);
  fields.optional("description", scenario.description, read_string);
  fields.required("model", scenario.model, [&](const JsonNode& node) {
    return model_from(load_extended(node, locator("models", library, reading)), "/model", reading);
  });
  fields.required("cluster", scenario.cluster, [&](const JsonNode& node) {
    return cluster_from(load_extended(node, locator("clusters", library, reading), cluster_short_forms()), "/cluster",
                        library, reading);
  });
  scenario.run = read_run(fields, scenario.model, scenario.cluster);
  read_calibration(fields, scenario);
  fields.optional("published", scenario.published, [&](const JsonNode& node) { return read_published(node, reading); });
  fields.finish();
  reading.throw_problems();
  check_schema(document.root(), "scenario");
  scenario.defaults = std::move(reading.defaults);
  if (!scenario.run.schedule.csv.empty()) reading.files.push_back(scenario.run.schedule.csv);
  const std::string& rank_file = scenario.run.parallel.placement.rank_file;
  if (!rank_file.empty()) reading.files.push_back(rank_file);
  scenario.files = each_once(reading.files);
  return scenario;
}

// A published figure belongs to the run as it was published: what --set changes in it makes the comparison void.
bool changes_the_run(const std::string& text) {
  const std::size_t begin = text.starts_with('/') ? 1 : 0;
  const std::string field = text.substr(begin, text.find_first_of("./=", begin) - begin);
  for (const char* harmless : {"published", "steps", "calibration", "name", "description"})
    if (field == harmless) return false;
  return true;
}

Scenario without_void_figures(Scenario scenario, const std::vector<std::string>& overrides) {
  if (std::any_of(overrides.begin(), overrides.end(), changes_the_run)) scenario.published.clear();
  return scenario;
}

JsonDocument resolved(std::string_view text, const std::string& name, Reading& reading) {
  const JsonDocument written = JsonDocument::from_text(text, name);
  if (!written.root().is(JsonKind::object)) written.root().fail("an object");
  return load_extended(written.root(), scenario_locator(reading), scenario_short_forms());
}

}  // namespace

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Library& library) {
  Reading reading;
  reading.files.push_back(path);
  JsonDocument written = load_extended(path, scenario_locator(reading), scenario_short_forms());
  return without_void_figures(scenario_from(with_overrides(std::move(written), overrides), path, library, reading),
                              overrides);
}

JsonDocument resolve_scenario(std::string_view text, const std::string& name) {
  Reading reading;
  return resolved(text, name, reading);
}

JsonDocument resolve_part(const JsonNode& node, const std::string& kind, const Library& library) {
  Reading reading;
  return load_extended(node, locator(kind, library, reading),
                       kind == "clusters" ? cluster_short_forms() : std::vector<ShortForm>{});
}

Scenario parse_scenario(std::string_view text, const std::string& name, const std::vector<std::string>& overrides,
                        const Library& library) {
  Reading reading;
  JsonDocument document = with_overrides(resolved(text, name, reading), overrides);
  return without_void_figures(scenario_from(std::move(document), name, library, reading), overrides);
}

ModelSpec load_model(const std::string& name_or_path, const Library& library) {
  Reading reading;
  const JsonDocument document =
      load_extended(locate(name_or_path, "models", library), locator("models", library, reading));
  ModelSpec model = model_from(document, "", reading);
  reading.throw_problems();
  return model;
}

ClusterSpec load_cluster(const std::string& name_or_path, const Library& library) {
  Reading reading;
  const JsonDocument document = load_extended(locate(name_or_path, "clusters", library),
                                              locator("clusters", library, reading), cluster_short_forms());
  ClusterSpec cluster = cluster_from(document, "", library, reading);
  reading.throw_problems();
  return cluster;
}

ClusterSpec parse_cluster(std::string_view text, const std::string& name, const Library& library) {
  Reading reading;
  const JsonDocument written = JsonDocument::from_text(text, name);
  if (!written.root().is(JsonKind::object)) written.root().fail("an object");
  const JsonDocument document =
      load_extended(written.root(), locator("clusters", library, reading), cluster_short_forms());
  ClusterSpec cluster = cluster_from(document, "", library, reading);
  reading.throw_problems();
  return cluster;
}

}  // namespace stagecraft
