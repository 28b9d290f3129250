// The matrix of `nvidia-smi topo -m`: how any two devices of a node are joined (nvidia-smi documentation, legend of the
// matrix). PIX and PXB are below one PCIe switch, PHB and NODE below one CPU, SYS across sockets, NV# so many NVLinks.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "base/input_error.hpp"
#include "exchange/topology_draft.hpp"

namespace stagecraft {
namespace {

struct Cell {
  std::string word;
  int links = 0;  // of NV#
};

struct Row {
  std::string name;
  std::vector<Cell> cells;
  std::string numa;  // what stands behind the cells, for GPUs: CPU and NUMA affinity
  int line = 0;
};

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      plain += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i] != 'm') ++i;
  }
  return plain;
}

Cell cell_of(const std::string& word, const std::string& file, int line) {
  for (const char* known : {"X", "SYS", "NODE", "PHB", "PXB", "PIX"}) {
    if (word == known) return {word, 0};
  }
  int links = 0;
  if (word.starts_with("NV")) {
    const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), links);
    if (error == std::errc{} && end == word.data() + word.size() && links >= 1 && links <= 64) return {"NV", links};
  }
  refuse_dump(file, line, fmt::format("\"{}\"", word), "X, SYS, NODE, PHB, PXB, PIX or NV#",
              nearest_word(word, {"SYS", "NODE", "PHB", "PXB", "PIX"}));
}

bool is_gpu(const std::string& name) {
  return name.starts_with("GPU") && name.size() > 3 &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<Row> matrix_of(std::string_view text, const std::string& file) {
  const std::string plain = without_escapes(text);
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (const DumpLine& line : dump_lines(plain)) {
    const std::vector<std::string> words = words_of(line.text);
    if (columns.empty()) {
      if (words.front() != "GPU0") continue;
      for (const std::string& word : words) {
        if (word == "CPU" || word == "NUMA") break;
        columns.push_back(word);
      }
      if (columns.size() > most_dump_devices)
        refuse_dump(file, line.number, fmt::format("{} devices", columns.size()),
                    fmt::format("at most {}", most_dump_devices));
      continue;
    }
    if (rows.size() == columns.size()) break;
    const std::string& wanted = columns[rows.size()];
    if (words.front() != wanted || words.size() < columns.size() + 1)
      refuse_dump(file, line.number, fmt::format("\"{}\"", line.text),
                  fmt::format("the row of {} with {} cells", wanted, columns.size()));
    Row row{wanted, {}, "", line.number};
    for (std::size_t i = 0; i < columns.size(); ++i) row.cells.push_back(cell_of(words[i + 1], file, line.number));
    if (is_gpu(wanted) && words.size() > columns.size() + 2) row.numa = words[columns.size() + 2];
    rows.push_back(std::move(row));
  }
  if (columns.empty())
    refuse_dump(file, 0, "no matrix", "the output of `nvidia-smi topo -m`, with a line of GPU0, GPU1, ...");
  if (rows.size() < columns.size())
    refuse_dump(file, 0, fmt::format("{} rows", rows.size()), fmt::format("{} rows, one per device", columns.size()));
  const std::set<std::string> once(columns.begin(), columns.end());
  if (once.size() != columns.size()) refuse_dump(file, 0, "a device twice in the first line", "every device once");
  return rows;
}

void check_matrix(const std::vector<Row>& rows, const std::string& file) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const Cell &there = rows[i].cells[j], &back = rows[j].cells[i];
      if ((there.word == "X") != (i == j))
        refuse_dump(file, rows[i].line, fmt::format("\"{}\" from {} to {}", there.word, rows[i].name, rows[j].name),
                    i == j ? "X, the device itself" : "how the two are joined");
      if (there.word == back.word && there.links == back.links) continue;
      refuse_dump(file, rows[i].line,
                  fmt::format("{}{} from {} to {}, but {}{} back", there.word,
                              there.links > 0 ? fmt::format("{}", there.links) : "", rows[i].name, rows[j].name,
                              back.word, back.links > 0 ? fmt::format("{}", back.links) : ""),
                  "the same both ways: links are full duplex");
    }
  }
}

/// Sets that grow together.
struct Sets {
  std::vector<std::size_t> root;
  explicit Sets(std::size_t count) : root(count) { std::iota(root.begin(), root.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) const {
    while (root[i] != i) i = root[i];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    const std::size_t x = find(a), y = find(b);
    root[std::max(x, y)] = std::min(x, y);
  }
};

struct Builder {
  const std::vector<Row>& rows;
  const KnownGpu& gpu;
  const std::string& file;
  NodeDraft node;
  std::vector<std::string> names;  // by row

  void wire(const std::string& from, const std::string& to, LinkKind kind, double GBps, const std::string& source) {
    node.wires.push_back({from, to, kind, {GBps * 1e9}, {GBps * 1e9}, {}, source});
  }

  void add_devices() {
    std::size_t nics = 0;
    for (const Row& row : rows) {
      names.push_back(is_gpu(row.name) ? "gpu" + row.name.substr(3) : fmt::format("nic{}", nics++));
      node.devices.push_back({is_gpu(row.name) ? DeviceKind::gpu : DeviceKind::nic, names.back()});
    }
  }

  void add_tree() {
    Sets sockets(rows.size()), switches(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::string& word = rows[i].cells[j].word;
        const bool same_switch = word == "PIX" || word == "PXB";
        if (same_switch) switches.join(i, j);
        const bool same_numa = !rows[i].numa.empty() && rows[i].numa == rows[j].numa && rows[i].numa != "N/A";
        if (same_switch || word == "PHB" || word == "NODE" || (word == "NV" && same_numa)) sockets.join(i, j);
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (rows[i].cells[j].word == "SYS" && sockets.find(i) == sockets.find(j))
          refuse_dump(
              file, rows[i].line,
              fmt::format("SYS between {} and {}, which other cells put below one CPU", rows[i].name, rows[j].name),
              "cells that agree with each other");
      }
    }
    std::vector<std::string> cpu(rows.size()), slot(rows.size());
    std::size_t cpus = 0, count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (sockets.find(i) == i) {
        cpu[i] = fmt::format("cpu{}", cpus++);
        node.devices.push_back({DeviceKind::cpu, cpu[i]});
      }
    }
    const std::string pcie = "PCIe x16 of this generation";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t root = switches.find(i);
      const bool alone = std::count_if(switches.root.begin(), switches.root.end(),
                                       [&](std::size_t at) { return switches.find(at) == root; }) == 1;
      const std::string& socket = cpu[sockets.find(i)];
      if (!alone && root == i) {
        slot[i] = fmt::format("pcie{}", count++);
        node.devices.push_back({DeviceKind::pcie_switch, slot[i]});
        wire(slot[i], socket, LinkKind::pcie, gpu.slot_GBps, pcie);
      }
      wire(names[i], alone ? socket : slot[root], LinkKind::pcie, gpu.slot_GBps, pcie);
    }
    for (std::size_t a = 0; a < cpus; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        wire(fmt::format("cpu{}", b), fmt::format("cpu{}", a), LinkKind::socket, 22,
             "NCCL's rate of the link between Intel's sockets of Sapphire Rapids (NCCL 2.30.7 src/graph/topo.h)");
    }
  }

  /// More links than the GPU has mean that a switch shares them among all peers.
  void add_links() {
    std::size_t gpus = 0;
    for (const Row& row : rows) gpus += is_gpu(row.name) ? 1 : 0;
    int most = 0, sum_of_first = 0;
    for (const Cell& cell : rows.front().cells) {
      most = std::max(most, cell.links);
      sum_of_first += cell.links;
    }
    if (most > gpu.links)
      refuse_dump(file, rows.front().line, fmt::format("NV{}", most),
                  gpu.links > 0 ? fmt::format("at most the {} links of {}", gpu.links, gpu.name)
                                : fmt::format("no NVLink: {} has none", gpu.name));
    const std::string source = fmt::format("NVLinks of {:g} GB/s, as many as the matrix says", gpu.link_GBps);
    if (sum_of_first <= gpu.links) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = i + 1; j < rows.size(); ++j) {
          const int links = rows[i].cells[j].links;
          if (links > 0) wire(names[i], names[j], LinkKind::nvlink, links * gpu.link_GBps, source);
        }
      }
      return;
    }
    node.devices.push_back({DeviceKind::nvswitch, "nvswitch"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_gpu(rows[i].name)) continue;
      const auto of_row = std::count_if(rows[i].cells.begin(), rows[i].cells.end(),
                                        [&](const Cell& cell) { return cell.links == most; });
      if (static_cast<std::size_t>(of_row) + 1 != gpus)
        refuse_dump(file, rows[i].line,
                    fmt::format("{} with NV{} to {} of {} GPUs", rows[i].name, most, of_row, gpus - 1),
                    "the same links to every GPU, since they are more than the GPU has and so go to a switch");
      wire(names[i], "nvswitch", LinkKind::nvlink, most * gpu.link_GBps, source);
    }
  }
};

}  // namespace

ImportedTopology import_nvidia_smi(std::string_view text, const std::string& file, const TopologyRequest& request) {
  const std::vector<Row> rows = matrix_of(text, file);
  check_matrix(rows, file);
  const std::string wanted = request.gpu.empty() && request.base != nullptr ? request.base->gpu.name : request.gpu;
  const KnownGpu& gpu = known_gpu(wanted, 0, file);
  Builder builder{rows, gpu, file, {}, {}};
  builder.node.source = "nvidia-smi topo -m";
  builder.add_devices();
  builder.add_tree();
  builder.add_links();
  return finished_topology(
      builder.node, gpu, request, file,
      {fmt::format("every slot has the {:g} GB/s of PCIe x16", gpu.slot_GBps), "between sockets: 22 GB/s"});
}

}  // namespace stagecraft
