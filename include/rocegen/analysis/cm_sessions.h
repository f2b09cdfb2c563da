/// Connections as RDMA-CM agrees upon them: a REQ and the REP that answers it name both queue pairs and
/// the PSN at which each side's requests begin (IBTA Vol 1, 12.6). Both may be in the capture, so the
/// flows of a connection are told apart, paired, and their beginning is known.
/// Memory: at most kMost open REQs and kMost expected beginnings. Thread: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "rocegen/wire/packet.h"

namespace rocegen {

class CmSessions {
public:
    static constexpr std::size_t kMost = 4096;

    /// One direction of a connection.
    struct Side {
        IpAddress source, destination;
        std::uint32_t source_qp = 0, dest_qp = 0;
        Psn first_psn;  ///< Of the source's requests.
    };
    void on_packet(const Packet& packet);

    bool empty() const { return expected_.empty(); }
    /// The beginning that a request with `psn` belongs to; taken out. `next` is what the flow would send
    /// if it went on; nullopt: none has been sent.
    std::optional<Psn> take(const IpAddress& source, const IpAddress& destination,
                            std::uint32_t dest_qp, Psn psn, std::optional<Psn> next);
    /// The latest connection in which responses go to `dest_qp`: the side that asks.
    const Side* asker(const IpAddress& source, const IpAddress& destination,
                      std::uint32_t dest_qp) const;
    std::uint64_t established() const { return established_; }

private:
    struct Req {
        IpAddress source, destination;
        CmConnection connection;
    };
    std::deque<Req> open_;
    std::deque<Side> expected_, known_;
    std::uint64_t established_ = 0;
};

}  // namespace rocegen
