#include "exchange/topology_import.hpp"

#include <catch2/catch.hpp>

#include "base/input_error.hpp"
#include "spec/parse_cluster.hpp"

using namespace stagecraft;

namespace {

Library shipped() {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return Library{{root + "/scenarios", root + "/topologies"}};
}

ClusterSpec read(const ImportedTopology& imported) {
  INFO(imported.cluster);
  return parse_cluster(imported.cluster, "imported.json", shipped());
}

InputProblem problem(const char* form, const std::string& text, const TopologyRequest& request = {}) {
  for (const TopologyForm& each : topology_forms()) {
    if (std::string(form) != each.name) continue;
    try {
      each.import(text, "dump", request);
    } catch (const InputError& error) {
      return error.problems().front();
    }
  }
  FAIL("accepted");
  return {};
}

const WireSpec& wire(const ClusterSpec& cluster, const std::string& a, const std::string& b) {
  for (const WireSpec& each : cluster.node.wires) {
    if ((each.from == a && each.to == b) || (each.from == b && each.to == a)) return each;
  }
  FAIL("no wire between " << a << " and " << b);
  return cluster.node.wires.front();
}

// Two sockets; on each a PCIe 4 switch with two A100 and one 200 Gb/s NIC; twelve NVLinks per GPU to switches.
std::string nccl_dump() {
  std::string xml = "<system version=\"1\">\n";
  for (int cpu = 0; cpu < 2; ++cpu) {
    xml += "<cpu numaid=\"" + std::to_string(cpu) +
           "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\">\n"
           "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n";
    for (int i = 0; i < 2; ++i) {
      const std::string dev = std::to_string(2 * cpu + i);
      xml += "<pci busid=\"0000:0" + dev +
             ":00.0\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">"
             "<gpu dev=\"" +
             dev + "\" sm=\"80\" rank=\"" + dev +
             "\" gdr=\"1\">"
             "<nvlink target=\"0000:c4:00.0\" count=\"6\" tclass=\"0x068000\"/>"
             "<nvlink target=\"0000:c5:00.0\" count=\"6\" tclass=\"0x068000\"/></gpu></pci>\n";
    }
    xml +=
        "<pci busid=\"0000:0a:00.0\" class=\"0x020700\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\"><nic>"
        "<net name=\"mlx5_" +
        std::to_string(cpu) + "\" dev=\"" + std::to_string(cpu) +
        "\" speed=\"200000\" port=\"1\" gdr=\"1\"/></nic></pci>\n</pci>\n</cpu>\n";
  }
  return xml + "</system>\n";
}

const char* const h100_matrix =
    "\x1b[4m\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tNV18\tNV18\tPIX\tSYS\t0-47\t0\tN/A\n"
    "GPU1\tNV18\t X \tNV18\tNV18\tNODE\tSYS\t0-47\t0\tN/A\n"
    "GPU2\tNV18\tNV18\t X \tNV18\tSYS\tPXB\t48-95\t1\tN/A\n"
    "GPU3\tNV18\tNV18\tNV18\t X \tSYS\tPHB\t48-95\t1\tN/A\n"
    "NIC0\tPIX\tNODE\tSYS\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tSYS\tPXB\tPHB\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

TopologyRequest h100() {
  TopologyRequest request;
  request.gpu = "H100-SXM5-80GB";
  return request;
}

TopologyRequest on_eos(const ClusterSpec& eos) {
  TopologyRequest request;
  request.base_name = "eos";
  request.base = &eos;
  return request;
}

}  // namespace

TEST_CASE("NCCL's XML gives devices, PCIe rates, NVLinks and NICs", "[exchange]") {
  TopologyRequest request;
  request.nodes = 4;
  const ClusterSpec cluster = read(import_nccl_topology(nccl_dump(), "dump", request));
  CHECK(cluster.gpu.name == "A100-SXM4-80GB");
  CHECK(gpus_per_node(cluster.node) == 4);
  CHECK(nics_per_node(cluster.node) == 2);
  CHECK(cluster.nodes == 4);
  // 16 GT/s x 16 lanes x 128/130 / 8 bits.
  CHECK(wire(cluster, "gpu3", "pcie1").nominal.value == Approx(31.508e9).epsilon(1e-4));
  CHECK(wire(cluster, "gpu0", "nvswitch").nominal.value == Approx(12 * 25e9));
  CHECK(wire(cluster, "nic1", "pcie1").kind == LinkKind::pcie);
  CHECK(wire(cluster, "cpu0", "cpu1").nominal.value == Approx(16e9));  // AMD, as NCCL rates it
  CHECK(cluster.fabric.nic_nominal.value == Approx(25e9));
}

TEST_CASE("NVLinks between GPUs become wires, and must be the same both ways", "[exchange]") {
  const auto gpu = [](const std::string& dev, const std::string& peer, int count) {
    return "<pci busid=\"" + dev + "\"><gpu dev=\"" + dev + "\" sm=\"70\"><nvlink target=\"" + peer + "\" count=\"" +
           std::to_string(count) + "\" tclass=\"0x030200\"/></gpu></pci>";
  };
  const auto pair = [&](int back) {
    return "<system version=\"1\"><cpu numaid=\"0\">" + gpu("0", "1", 2) + gpu("1", "0", back) + "</cpu></system>";
  };
  CHECK(wire(read(import_nccl_topology(pair(2), "dump", {})), "gpu0", "gpu1").nominal.value == Approx(50e9));
  CHECK(problem("nccl", pair(1)).got == "2 NVLinks from gpu0 to gpu1, but 1 back");
}

TEST_CASE("a broken XML dump is refused at its line", "[exchange]") {
  std::string text = nccl_dump();
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return problem("nccl", changed);
  };
  CHECK(broken("</cpu>", "</cup>").expected == "well-formed XML");
  CHECK(broken("<system version", "<systen version").got != "");
  CHECK(broken("sm=\"80\"", "sm=\"eighty\"").got == "sm=\"eighty\" of <gpu>");
  CHECK(broken("sm=\"80\"", "sm=\"80\"x").line == 4);
  CHECK(broken("sm=\"80\"", "sm=\"42\"").got == "a GPU of compute capability 42");
  CHECK(broken("dev=\"1\" sm", "dev=\"0\" sm").got == "\"gpu0\" a second time");
  CHECK(broken("link_speed=\"16.0 GT/s PCIe\"", "link_speed=\"fast\"").expected == "a speed, \"16.0 GT/s PCIe\"");
  CHECK(problem("nccl", "<system version=\"1\"></system>").got == "no <gpu>");
  std::string deep = "<system><cpu numaid=\"0\">";
  for (int i = 0; i < 100000; ++i) deep += "<pci>";
  for (int i = 0; i < 100000; ++i) deep += "</pci>";
  CHECK_THAT(problem("nccl", deep + "</cpu></system>").expected, Catch::Contains("at most 32 bridges"));
}

TEST_CASE("the matrix of nvidia-smi gives sockets, switches and an NVSwitch where links are more than the GPU has",
          "[exchange]") {
  TopologyRequest request = h100();
  request.nic_rate = "400 Gb/s";
  request.nodes = 2;
  const ClusterSpec cluster = read(import_nvidia_smi(h100_matrix, "dump", request));
  CHECK(gpus_per_node(cluster.node) == 4);
  CHECK(wire(cluster, "gpu2", "nvswitch").nominal.value == Approx(450e9));
  CHECK(wire(cluster, "gpu0", "pcie0").nominal.value == Approx(63e9));
  CHECK(wire(cluster, "nic0", "pcie0").nominal.value == Approx(63e9));
  CHECK(wire(cluster, "gpu1", "cpu0").kind == LinkKind::pcie);
  CHECK(wire(cluster, "gpu3", "cpu1").kind == LinkKind::pcie);
  CHECK(wire(cluster, "nic1", "pcie1").kind == LinkKind::pcie);
  CHECK(wire(cluster, "cpu0", "cpu1").kind == LinkKind::socket);
  CHECK(cluster.fabric.nic_nominal.value == Approx(50e9));
}

TEST_CASE("bridged pairs stay pairs", "[exchange]") {
  TopologyRequest request;
  request.gpu = "A100-PCIe-80GB";
  const ClusterSpec cluster =
      read(import_nvidia_smi("\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
                             "GPU0\tX\tNV12\tSYS\tSYS\t0-31\t0\n"
                             "GPU1\tNV12\tX\tSYS\tSYS\t0-31\t0\n"
                             "GPU2\tSYS\tSYS\tX\tNV12\t32-63\t1\n"
                             "GPU3\tSYS\tSYS\tNV12\tX\t32-63\t1\n",
                             "dump", request));
  CHECK(wire(cluster, "gpu2", "gpu3").nominal.value == Approx(300e9));
  CHECK(cluster.fabric.kind == FabricKind::none);
  CHECK(cluster.nodes == 1);
}

TEST_CASE("a broken matrix is refused with what stands where", "[exchange]") {
  const auto broken = [](std::string from, const std::string& to) {
    std::string text = h100_matrix;
    text.replace(text.find(from), from.size(), to);
    return problem("nvidia-smi", text, h100());
  };
  CHECK(broken("GPU1\tNV18", "GPU1\tNV17").got == "NV18 from GPU0 to GPU1, but NV17 back");
  CHECK(broken("PXB\t48-95", "PXX\t48-95").nearest == "PXB");
  CHECK(broken("GPU2\tNV18", "GPU7\tNV18").expected == "the row of GPU2 with 6 cells");
  CHECK(broken("\nNIC1\tSYS", "\n").got != "");
  CHECK(problem("nvidia-smi", "nothing", h100()).got == "no matrix");
  CHECK(problem("nvidia-smi", h100_matrix).got == "no word on which GPU it is");
  TopologyRequest wrong;
  wrong.gpu = "H100-SXM5-80Gb";
  CHECK(problem("nvidia-smi", h100_matrix, wrong).nearest == "H100-SXM5-80GB");
  wrong.gpu = "RTX-4090";
  CHECK(problem("nvidia-smi", h100_matrix, wrong).got == "NV18");
}

TEST_CASE("Slurm's leaves become leaf groups of the base cluster", "[exchange]") {
  const ClusterSpec eos = load_cluster("eos", shipped());
  const ClusterSpec cluster =
      read(import_slurm_topology("# comment\n"
                                 "SwitchName=leaf1 Nodes=node[001-016]\n"
                                 "SwitchName=leaf2 Nodes=node[017-030,040,041]\n"
                                 "SwitchName=spine Switches=leaf[1-2] LinkSpeed=400\n",
                                 "topology.conf", on_eos(eos)));
  CHECK(cluster.nodes == 32);
  CHECK(cluster.fabric.nodes_per_leaf_group == 16);
  CHECK(cluster.fabric.kind == FabricKind::rail_optimised);
  CHECK(gpus_per_node(cluster.node) == 8);
}

TEST_CASE("host lists with several brackets multiply", "[exchange]") {
  const ClusterSpec eos = load_cluster("eos", shipped());
  CHECK(read(import_slurm_topology("SwitchName=a Nodes=r[1-3]n[01-04],login\n", "t", on_eos(eos))).nodes == 13);
}

TEST_CASE("a broken topology.conf is refused at its line", "[exchange]") {
  const ClusterSpec eos = load_cluster("eos", shipped());
  const auto refused = [&](const char* text) { return problem("slurm", text, on_eos(eos)); };
  CHECK(refused("SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n4\n").got == "node \"n4\" a second time");
  CHECK(refused("SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n4\n").line == 2);
  CHECK(refused("SwitchName=a Nodes=n[4-1]\n").got == "\"[4-1]\"");
  CHECK(refused("SwitchName=a Nodes=n[1-999999999]\n").got == "\"[1-999999999]\"");
  CHECK(refused("SwitchName=a Nodes=n[1-999][1-999][1-999]\n").got == "more names");
  CHECK(refused("SwitchName=a Node=n1\n").nearest == "nodes");
  CHECK(refused("SwitchName=a Nodes=n1\nSwitchName=s Switches=b\n").got == "the unknown switch \"b\"");
  CHECK(refused("SwitchName=a Nodes=n[1-\n").expected == "a \"]\" after \"[\"");
  CHECK(problem("slurm", "SwitchName=a Nodes=n1\n").expected == "--base, the cluster whose nodes they are");
}

TEST_CASE("host files count nodes, in the forms of Open MPI, DeepSpeed and MPICH", "[exchange]") {
  const ClusterSpec eos = load_cluster("eos", shipped());
  const auto nodes = [&](const char* text) { return read(import_host_file(text, "hostfile", on_eos(eos))).nodes; };
  CHECK(nodes("a slots=8\nb slots=8 max_slots=8\n# c\n") == 2);
  CHECK(nodes("a:8\nb:8\nc:8\n") == 3);
  CHECK(nodes("a\na\nb\nb\n") == 2);  // a line per slot
  const auto refused = [&](const char* text) { return problem("hostfile", text, on_eos(eos)); };
  CHECK(refused("a slots=16\n").nearest == "slots=8");
  CHECK(refused("a slots=many\n").got == "\"many\" slots");
  CHECK(refused("# nothing\n").got == "no host");
  CHECK(refused("a slots=8 b\n").line == 1);
}

TEST_CASE("the form of a dump is told from its text", "[exchange]") {
  CHECK(guess_topology_form(nccl_dump()) == "nccl");
  CHECK(guess_topology_form(h100_matrix) == "nvidia-smi");
  CHECK(guess_topology_form("SwitchName=a Nodes=b\n") == "slurm");
  CHECK(guess_topology_form("node1 slots=8\n") == "hostfile");
}
