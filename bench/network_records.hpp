#pragma once
// Published tables of nccl-tests and a digitised scaling curve: scenarios/records/network.json.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stagecraft::bench {

struct NetworkTable {
  std::string id, collective, system, algorithm;  // algorithm: forced with NCCL_ALGO, else ""
  std::string hardware;                           // of the calibration: tables of one hardware are compared
  std::int32_t nodes = 1, gpus = 1;
  std::vector<std::pair<double, double>> rows;  // bytes, us
};

struct CurvePoint {
  std::int32_t gpus = 0, nodes = 0;
  double bytes = 0, bus_GBps = 0;
};

struct NetworkCurve {
  std::string system;
  std::vector<CurvePoint> points;
};

struct NetworkRecords {
  std::vector<NetworkTable> tables;
  NetworkCurve curve;
};

/// Throws std::runtime_error for a file that cannot be read, nlohmann::json::exception for a malformed one.
NetworkRecords load_network_records(const std::string& path);

}  // namespace stagecraft::bench
