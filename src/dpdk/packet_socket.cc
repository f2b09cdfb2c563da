#include "rocegen/dpdk/packet_socket.h"

#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <system_error>

#include "rocegen/base/error.h"

namespace rocegen {

PacketSocket::PacketSocket(const std::string& interface) {
    const auto fail = [&interface](const char* what) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("{}: a packet socket cannot {}: {}", interface, what,
                                  std::generic_category().message(errno)));
    };
    // Protocol 0: nothing is received.
    fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (fd_ < 0) fail("be made");
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = int(if_nametoindex(interface.c_str()));
    const int yes = 1;
    if (address.sll_ifindex == 0 ||
        bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int error = errno;
        close(fd_);
        errno = error;
        fail("be bound");
    }
    // Without it frames are late by the discipline's doing, and copied to whoever captures here.
    setsockopt(fd_, SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof yes);
    for (std::size_t i = 0; i < kBurst; ++i) {
        messages_[i].msg_hdr.msg_iov = &parts_[i];
        messages_[i].msg_hdr.msg_iovlen = 1;
    }
}

PacketSocket::~PacketSocket() { close(fd_); }

std::uint16_t PacketSocket::send(rte_mbuf** frames, std::uint16_t count) noexcept {
    assert(count <= kBurst);
    std::uint16_t sent = 0;
    while (sent < count) {
        const unsigned left = unsigned(count - sent);
        int taken = 0;
        if (left == 1) {
            const rte_mbuf& frame = *frames[sent];
            taken =
                ::send(fd_, rte_pktmbuf_mtod(&frame, const void*), frame.data_len, MSG_DONTWAIT) < 0
                    ? -1
                    : 1;
        } else {
            for (unsigned i = 0; i < left; ++i) {
                assert(frames[sent + i]->nb_segs == 1);
                parts_[i] = {rte_pktmbuf_mtod(frames[sent + i], void*), frames[sent + i]->data_len};
            }
            taken = sendmmsg(fd_, messages_.data(), left, MSG_DONTWAIT);
        }
        if (taken > 0) {
            sent = std::uint16_t(sent + taken);
            continue;
        }
        // Full: the interface's queue, or what the socket may hold.
        if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) break;
        errors_.add(1);
        ++sent;
    }
    rte_pktmbuf_free_bulk(frames, sent);
    return sent;
}

std::uint16_t transmit(PacketSocket* socket, std::uint16_t port_id, std::uint16_t queue,
                       rte_mbuf** frames, std::uint16_t count) noexcept {
    return socket ? socket->send(frames, count) : rte_eth_tx_burst(port_id, queue, frames, count);
}

}  // namespace rocegen
