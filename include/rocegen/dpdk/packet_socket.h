/// Sends to a kernel interface by a packet socket, a frame at a time past the queueing discipline. The driver af_packet
/// receives there; its ring for sending makes a frame leave a few hundred nanoseconds sooner or later than the one
/// before, and loses without a word what the interface does not take. Here it stays with the caller.
/// Thread: one sends; errors() may be read by others. See packet(7): PACKET_QDISC_BYPASS.
#pragma once

#include <rte_mbuf.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <string>

#include "rocegen/base/units.h"
#include "rocegen/engine/port.h"
#include "rocegen/traffic/transmitter.h"

namespace rocegen {

class PacketSocket {
public:
    /// Throws Failure (kMachineCannot) with the interface's name.
    explicit PacketSocket(const std::string& interface);
    ~PacketSocket();
    PacketSocket(const PacketSocket&) = delete;
    PacketSocket& operator=(const PacketSocket&) = delete;

    /// How many of at most kBurst were taken, the first ones; their buffers are freed. One that the kernel refuses
    /// for good (too long, the interface is down) is taken and counted as an error.
    std::uint16_t send(rte_mbuf** frames, std::uint16_t count) noexcept;
    std::uint64_t errors() const noexcept { return errors_.read(); }

private:
    int fd_ = -1;
    std::array<iovec, kBurst> parts_{};
    std::array<mmsghdr, kBurst> messages_{};
    Counter errors_;
};

/// To the socket where there is one, else to the driver. How many were taken.
std::uint16_t transmit(PacketSocket* socket, std::uint16_t port_id, std::uint16_t queue,
                       rte_mbuf** frames, std::uint16_t count) noexcept;

}  // namespace rocegen
