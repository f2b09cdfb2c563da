#include "rocegen/analysis/pause_ledger.h"

#include <algorithm>

namespace rocegen {
namespace {

PauseCounts& counts_of(PauseLedger::Source& source, std::size_t index) {
    return index < 8 ? source.priorities[index] : source.global;
}

}  // namespace

PauseLedger::Entry* PauseLedger::entry_of(const MacAddress& mac, bool known) {
    for (Entry& entry : entries_) {
        if (entry.source.mac == mac && entry.source.mac_known == known) return &entry;
    }
    if (entries_.size() >= kMaxSources) return nullptr;
    Entry& entry = entries_.emplace_back();
    entry.source.mac = mac;
    entry.source.mac_known = known;
    return &entry;
}

PauseLedger::Instant PauseLedger::length(std::uint16_t quanta) const {
    return Instant{quanta} * 512 * 1'000'000'000'000 / link_rate_->bits_per_sec;
}

void PauseLedger::apply(Entry& entry, std::size_t index, std::uint16_t quanta,
                        std::int64_t when_ns) {
    PauseCounts& counts = counts_of(entry.source, index);
    if (counts.xoff + counts.xon == 0) counts.first_ns = when_ns;
    counts.last_ns = when_ns;
    ++(quanta > 0 ? counts.xoff : counts.xon);
    counts.quanta += quanta;
    if (!link_rate_) return;

    const Instant now = (Instant{when_ns} - base_ns_) * 1000;
    Clock& clock = entry.clocks[index];
    if (clock.running && (quanta == 0 || now > clock.until)) {
        entry.sums[index] += std::max<Instant>(0, std::min(now, clock.until) - clock.since);
        clock.running = false;
    }
    if (quanta == 0) return;
    if (!clock.running) {
        clock = {now, now, true};
        ++counts.intervals;
    }
    clock.until = now + length(quanta);
}

void PauseLedger::on_packet(const Packet& packet, std::int64_t when_ns, bool mac_known) {
    const bool pfc = packet.verdict == Verdict::kPfc;
    if (!pfc && packet.verdict != Verdict::kGlobalPause) return;
    if (!based_) base_ns_ = when_ns;
    based_ = true;
    ++(pfc ? pfc_frames_ : global_frames_);
    const auto classes = std::uint8_t(packet.pause.class_enable_vector);
    if (pfc && classes == 0) ++no_class_;
    Entry* const entry = entry_of(packet.source_mac, mac_known);
    if (!entry) {
        ++not_tracked_;
        return;
    }
    if (!pfc) {
        ++entry->source.global_frames;
        apply(*entry, 8, packet.pause.quanta[0], when_ns);
        return;
    }
    ++entry->source.pfc_frames;
    if (classes == 0) ++entry->source.no_class;
    for (std::size_t i = 0; i < 8; ++i) {
        if (classes >> i & 1) apply(*entry, i, packet.pause.quanta[i], when_ns);
    }
}

std::vector<PauseLedger::Source> PauseLedger::sources() const {
    std::vector<Source> sources;
    sources.reserve(entries_.size());
    for (const Entry& entry : entries_) {
        Source& source = sources.emplace_back(entry.source);
        if (!link_rate_) continue;
        for (std::size_t i = 0; i < 9; ++i) {
            const Clock& clock = entry.clocks[i];
            const Instant left = clock.running ? clock.until - clock.since : 0;
            counts_of(source, i).paused = Picoseconds{std::int64_t(entry.sums[i] + left)};
        }
    }
    return sources;
}

}  // namespace rocegen
