#include "network_records.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace stagecraft::bench {

NetworkRecords load_network_records(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const nlohmann::json root = nlohmann::json::parse(file);
  NetworkRecords records;
  for (const nlohmann::json& from : root.at("tables")) {
    NetworkTable table;
    table.id = from.at("id");
    table.collective = from.at("collective");
    table.system = from.at("system");
    table.algorithm = from.value("algorithm", "");
    table.nodes = from.at("nodes");
    table.gpus = from.at("gpus");
    for (const nlohmann::json& row : from.at("rows")) {
      table.rows.emplace_back(row.at(0).get<double>(), row.at(1).get<double>());
    }
    records.tables.push_back(std::move(table));
  }
  records.curve.system = root.at("curve").at("system");
  for (const nlohmann::json& row : root.at("curve").at("points")) {
    records.curve.points.push_back({row.at(0), row.at(1), row.at(2), row.at(3)});
  }
  return records;
}

}  // namespace stagecraft::bench
