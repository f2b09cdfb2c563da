/// Pages of mapped files that vanish: when a file becomes shorter while it is read, touching what was behind its
/// new end raises SIGBUS, which would end the process. A watched mapping gets zeros there instead and knows it.
/// Thread: any; a mapping belongs to one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocegen {

class WatchedMapping {
public:
    /// `pages` stay mapped until it ends. More than kMost at a time are not watched.
    explicit WatchedMapping(std::span<const std::byte> pages);
    ~WatchedMapping();
    WatchedMapping(const WatchedMapping&) = delete;
    WatchedMapping& operator=(const WatchedMapping&) = delete;

    /// Whether pages vanished: from there on to the mapping's end all is zero.
    bool vanished() const noexcept;

    static constexpr std::size_t kMost = 256;

private:
    std::size_t slot_;
};

}  // namespace rocegen
