#pragma once
// Bodies of passes beside another pass: how much of a pass has company, and of what kind.

#include "schedule/body.hpp"

namespace stagecraft {

/// Blocks of the body that run beside another pass.
std::int32_t blocks_with_company(const Body& body);

/// The body with company for the first `blocks` of them only.
Body with_company(const Body& body, std::int32_t blocks);

/// Of the body of a stage, what it is beside a pass that has company for `blocks` blocks, without weight gradients or
/// with them; the body itself if nothing changes.
BodyId body_beside(const Bodies& bodies, BodyId body, std::int32_t blocks, bool without_weights);

}  // namespace stagecraft
