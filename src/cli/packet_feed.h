/// The RoCE frames of a capture file that were chosen, one after the other: read, taken out of tunnels, parsed.
/// Thread: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/choice.h"
#include "rocegen/capture/reader.h"
#include "rocegen/capture/unwrap.h"

namespace rocegen::cli {

/// Times of broken writers are kept within what can be subtracted: 1823 to 2116.
std::int64_t sane_ns(const CaptureTime& time);

class PacketFeed {
public:
    PacketFeed(const std::string& file, const ChoiceArguments& choice)
        : reader_(file), choice_(choice) {}

    /// False: the end.
    bool next();
    const Packet& packet() const { return packet_; }
    std::int64_t when_ns() const { return when_ns_; }
    /// As it stands in the frame; none: the capture cut it off.
    std::optional<std::uint32_t> icrc() const { return icrc_; }
    bool damaged() const { return reader_.issues().damaged(); }
    std::string damage() const;

private:
    CaptureReader reader_;
    Choice choice_;
    Unwrapper unwrapper_;
    Packet packet_;
    std::int64_t when_ns_ = 0;
    std::optional<std::uint32_t> icrc_;
};

}  // namespace rocegen::cli
