#include "schedule/company.hpp"

#include <algorithm>

namespace stagecraft {

std::int32_t blocks_with_company(const Body& body) {
  std::int32_t blocks = 0;
  for (const BodyPart& part : body.parts) blocks += part.beside.empty() ? 0 : part.repeat;
  return blocks;
}

Body with_company(const Body& body, std::int32_t blocks) {
  Body changed;
  for (const BodyPart& part : body.parts) {
    const std::int32_t kept = part.beside.empty() ? 0 : std::min(blocks, part.repeat);
    blocks -= kept;
    if (kept > 0) changed.parts.push_back({part.segments, kept, part.beside});
    if (kept < part.repeat) changed.parts.push_back({part.segments, part.repeat - kept, {}});
  }
  return changed;
}

BodyId body_beside(const Bodies& bodies, BodyId body, std::int32_t blocks, bool without_weights) {
  for (const Bodies::Company& other : bodies.company) {
    const bool fits = other.blocks == blocks && (blocks == 0 || other.without_weights == without_weights);
    if (other.usual == body && fits) return other.body;
  }
  return body;
}

}  // namespace stagecraft
