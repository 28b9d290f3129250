#pragma once
// Configurations of other frameworks to scenarios, and back.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/scenario.hpp"

namespace stagecraft {

struct ImportRequest {
  std::string cluster = "eos";
  std::int64_t gpus_per_node = 8;  // of the cluster
  std::int64_t gpus = 0;           // of the run; 0: as the configuration says, else as few as its degrees need
  std::string model;               // of the library, where the configuration names none
};

/// What could be mapped, as a scenario, and what could not.
struct Imported {
  std::string scenario;               // JSON text
  std::vector<std::string> unmapped;  // "key = value" of the configuration that no field of a scenario stands for
  std::vector<std::string> assumed;   // what the configuration does not say
};

struct Form {
  const char* name;  // "huggingface"
  const char* what;
  Imported (*import)(std::string_view text, const std::string& file, const ImportRequest& request);
};
std::span<const Form> import_forms();

/// The form that a text looks like; "" if none.
std::string guess_form(std::string_view text, const std::string& file);

Imported import_huggingface(std::string_view text, const std::string& file, const ImportRequest& request);
Imported import_megatron(std::string_view text, const std::string& file, const ImportRequest& request);
Imported import_deepspeed(std::string_view text, const std::string& file, const ImportRequest& request);
Imported import_torchtitan(std::string_view text, const std::string& file, const ImportRequest& request);

/// What runs a scenario elsewhere, and which of its fields that framework has no setting for.
struct Exported {
  std::string text;
  std::vector<std::string> left_out;
};
Exported export_megatron(const Scenario& scenario);    // a command line
Exported export_deepspeed(const Scenario& scenario);   // ds_config.json
Exported export_torchtitan(const Scenario& scenario);  // TOML

}  // namespace stagecraft
