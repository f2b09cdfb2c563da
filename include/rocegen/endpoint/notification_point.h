/// DCQCN's notification point: which CE mark a receiver answers with a CNP. A scope (a queue pair,
/// a pair of hosts, a host, a port) gets one CNP, then none during its interval.
/// The first CE after that is a CE epoch. Most CE marks rightly get no CNP; an epoch that gets
/// none, for want of room for a reply, is the one that counts as unanswered. It stays open, and the
/// next CE tries again.
/// Thread: one owner.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rocegen/base/units.h"

namespace rocegen {

/// What shares one CNP interval.
enum class CnpScope : std::uint8_t {
    kQueuePair,
    kIpPair,         ///< Source and destination host.
    kDestinationIp,  ///< Of the CNP: the host that is slowed.
    kPort,           ///< All that one receiving port hears.
};
std::string_view to_text(CnpScope scope);

class NotificationPoint {
public:
    /// A scope each, with its interval N; 0 answers every CE.
    explicit NotificationPoint(const std::vector<Picoseconds>& intervals);

    /// A CE mark of `scope` arrived. True: send a CNP now. Never true without `room` for one.
    bool on_ce(std::uint32_t scope, bool room, Picoseconds now) noexcept {
        Scope& at = scopes_[scope];
        ++counters_.ce;
        if (now < at.ready) return false;
        if (!at.open) {
            at.open = true;
            ++counters_.epochs;
        }
        if (!room) return false;
        at.open = false;
        at.ready = now + at.interval;
        ++counters_.cnps;
        return true;
    }

    struct Counters {
        std::uint64_t ce = 0, epochs = 0, cnps = 0;
        std::uint64_t unanswered() const { return epochs - cnps; }
    };
    const Counters& counters() const noexcept { return counters_; }

private:
    struct Scope {
        Picoseconds interval;
        Picoseconds ready = Picoseconds::min();  ///< Of the next CNP.
        bool open = false;                       ///< An epoch waits for its CNP.
    };
    std::vector<Scope> scopes_;
    Counters counters_;
};

}  // namespace rocegen
