#include "report/topology_svg.hpp"

#include <catch2/catch.hpp>

#include "spec/scenario.hpp"

using namespace stagecraft;
using Catch::Contains;

namespace {

Library shipped() {
  const std::string root = STAGECRAFT_SOURCE_DIR;
  return Library{{root + "/scenarios", root + "/topologies"}};
}

std::string picture(const std::string& name) {
  return topology_svg(build_topology(load_cluster(name, shipped())));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("the picture of a cluster names every device of a node and the rates of its wires", "[report]") {
  const std::string svg = picture("selene");
  for (const char* name : {"gpu0", "gpu7", "nic7", "pcie3", "cpu1", "nvswitch"})
    CHECK(count(svg, ">" + std::string(name) + "</text>") == 1);
  CHECK_THAT(svg, Contains(">300</text>"));
  CHECK_THAT(svg, Contains("8 × NIC"));
  CHECK_THAT(svg, Contains(">rail 7</text>"));
  CHECK_THAT(svg, Contains("spine, non-blocking"));
}

TEST_CASE("many alike sockets, nodes and leaf groups are cut short, not left out silently", "[report]") {
  const std::string svg = picture("gb200-nvl72");
  CHECK_THAT(svg, Contains("… 28 more …"));  // of 36 sockets eight are drawn
  CHECK_THAT(svg, Contains(">gpu71</text>"));
  CHECK(count(svg, ">gpu20</text>") == 0);
  CHECK_THAT(svg, Contains("8 of 72 NICs drawn"));
  CHECK_THAT(picture("selene"), Contains("… 25 more groups …"));  // of 28, three are drawn
}

TEST_CASE("every shipped cluster has a picture that is well-formed and finite", "[report]") {
  for (const std::string& name : cluster_names(shipped())) {
    INFO(name);
    const std::string svg = picture(name);
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf\"") == std::string::npos);
    CHECK(count(svg, "<text") == count(svg, "</text>"));
    CHECK(count(svg, "<rect") >= 3);
  }
}

TEST_CASE("names that a file gives stay text in the picture", "[report]") {
  ClusterSpec cluster = load_cluster("selene", shipped());
  cluster.name = "<script>a & b</script>";
  const std::string svg = topology_svg(build_topology(cluster));
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK_THAT(svg, Contains("&lt;script&gt;a &amp; b"));
}
