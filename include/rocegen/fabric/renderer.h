/// The bytes of the frames that a fabric carries, for captures: whole, with a right ICRC, and marked CE
/// where a switch marked them.
/// Thread: one owner.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rocegen/fabric/frame_pool.h"
#include "rocegen/fabric/replies.h"
#include "rocegen/traffic/plan.h"
#include "rocegen/wire/frame.h"

namespace rocegen {

class FrameRenderer {
public:
    /// What is referred to outlives it. `replies` may be null: there are none.
    FrameRenderer(const FrameTemplates& templates, std::span<const Stream> streams,
                  const ReplyFrames* replies);

    /// Valid until the next call. `pauser`: source address of a pause frame.
    std::span<const std::byte> render(const Frame& frame, const MacAddress& pauser);

private:
    const FrameTemplates& templates_;
    std::span<const Stream> streams_;
    const ReplyFrames* replies_;
    std::vector<std::byte> buffer_;
};

}  // namespace rocegen
