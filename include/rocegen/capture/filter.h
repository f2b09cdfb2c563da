/// libpcap's filter language (pcap-filter(7)) on Ethernet frames: those that unwrap.h gives, or
/// captured Ethernet as it is. Nothing else of libpcap is used. Thread: one owner; matches() may
/// be called by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rocegen {

class FrameFilter {
public:
    /// Throws Failure with libpcap's words if the expression is none.
    explicit FrameFilter(const std::string& expression);
    ~FrameFilter();
    FrameFilter(FrameFilter&&) noexcept;
    FrameFilter& operator=(FrameFilter&&) noexcept;

    /// `wire_bytes` for `len` and `greater`; headers that the capture cut do not match.
    bool matches(std::span<const std::byte> frame, std::uint32_t wire_bytes) const noexcept;

private:
    struct Program;
    std::unique_ptr<Program> program_;
};

}  // namespace rocegen
