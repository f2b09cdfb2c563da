#include "rocegen/analysis/pause_ledger.h"

#include <algorithm>

#include "rocegen/analysis/burst_meter.h"

namespace rocegen {
namespace {

PauseCounts& counts_of(PauseLedger::Source& source, std::size_t index) {
    return index < 8 ? source.priorities[index] : source.global;
}

}  // namespace

PauseLedger::Entry* PauseLedger::entry_of(const MacAddress& mac, bool known, std::uint32_t point) {
    for (Entry& entry : entries_) {
        const Source& source = entry.source;
        if (source.mac == mac && source.mac_known == known && source.point == point) return &entry;
    }
    if (entries_.size() >= kMaxSources) return nullptr;
    Entry& entry = entries_.emplace_back();
    entry.source.mac = mac;
    entry.source.mac_known = known;
    entry.source.point = point;
    return &entry;
}

PauseLedger::Instant PauseLedger::length(std::uint16_t quanta) const {
    return Instant{quanta} * 512 * 1'000'000'000'000 / link_rate_->bits_per_sec;
}

void PauseLedger::apply(Entry& entry, std::size_t index, std::uint16_t quanta, std::int64_t when_ns,
                        std::uint64_t frame) {
    PauseCounts& counts = counts_of(entry.source, index);
    if (counts.xoff + counts.xon == 0) counts.first_ns = when_ns;
    counts.last_ns = when_ns;
    ++(quanta > 0 ? counts.xoff : counts.xon);
    counts.quanta += quanta;
    Clock& clock = entry.clocks[index];
    const Instant now = (Instant{when_ns} - base_ns_) * 1000;
    if (clock.running && now > clock.until) {
        if (quanta > 0 && now - clock.until <= Instant{kLapseNs} * 1000) {
            ++counts.lapses;
            counts.lapsed += Picoseconds{std::int64_t(now - clock.until)};
        }
        close(entry, index, clock.until);
        clock.asked = false;
    }
    if (quanta == 0) {
        xon(entry, index, when_ns, frame);
    } else {
        xoff(entry, index, quanta, when_ns, frame);
    }
}

void PauseLedger::xon(Entry& entry, std::size_t index, std::int64_t when_ns, std::uint64_t frame) {
    PauseCounts& counts = counts_of(entry.source, index);
    Clock& clock = entry.clocks[index];
    if (!clock.asked) {
        ++counts.xon_idle;
        counts.xon_idle_run = std::max(counts.xon_idle_run, ++clock.idle_run);
        return;
    }
    clock.asked = false;
    std::uint64_t paused_ns = 0;
    if (clock.running) {
        const Instant now = std::max(clock.since, (Instant{when_ns} - base_ns_) * 1000);
        paused_ns = std::uint64_t((now - clock.since) / 1000);
        close(entry, index, now);
    }
    if (!timeline_) return;
    timeline_->add({.ns = when_ns,
                    .frame = frame,
                    .value = paused_ns,
                    .cause = clock.event,
                    .kind = TimelineKind::kXon,
                    .priority = std::uint8_t(index),
                    .mac = entry.source.mac});
}

void PauseLedger::xoff(Entry& entry, std::size_t index, std::uint16_t quanta, std::int64_t when_ns,
                       std::uint64_t frame) {
    Clock& clock = entry.clocks[index];
    const Instant now = (Instant{when_ns} - base_ns_) * 1000;
    if (!clock.asked) {
        if (timeline_) {
            clock.event =
                timeline_->add({.ns = when_ns,
                                .frame = frame,
                                .value = quanta,
                                .cause = bursts_ ? bursts_->latest_event(when_ns) : kNoCause,
                                .kind = TimelineKind::kXoff,
                                .priority = std::uint8_t(index),
                                .mac = entry.source.mac});
        }
        std::array<Latest, 8>& latest = latest_at(entry.source.point);
        for (std::uint8_t p = 0; p < 8; ++p) {
            if (index != 8 && index != p) continue;
            latest[p] = {latest[p].number + 1, when_ns, clock.event};
        }
    }
    clock.asked = true;
    clock.idle_run = 0;
    if (!link_rate_) return;
    if (!clock.running) {
        clock.since = now;
        clock.running = true;
        clock.late_bytes = {};
        ++running_;
        ++counts_of(entry.source, index).intervals;
    }
    clock.until = now + length(quanta);
}

void PauseLedger::close(Entry& entry, std::size_t index, Instant end) {
    PauseCounts& counts = counts_of(entry.source, index);
    Clock& clock = entry.clocks[index];
    clock.running = false;
    --running_;
    const Instant length = std::max<Instant>(0, end - clock.since);
    entry.sums[index] += length;
    const Picoseconds span{std::int64_t(length)};
    counts.longest = std::max(counts.longest.value_or(span), span);
    if (length >= Instant{watchdog_ns_} * 1000 && storms_.size() < kMaxSpans) {
        storms_.push_back({entry.source.mac,
                           {},
                           std::uint8_t(index),
                           ns_of(clock.since),
                           std::int64_t(length / 1000)});
        if (timeline_) {
            timeline_->add({.ns = ns_of(clock.since) + watchdog_ns_,
                            .value = std::uint64_t(length / 1000),
                            .cause = clock.event,
                            .kind = TimelineKind::kStorm,
                            .priority = std::uint8_t(index),
                            .mac = entry.source.mac});
        }
    }
    if (length >= Instant{kDeadlockNs} * 1000 && entry.source.mac_known &&
        long_.size() < kMaxLong) {
        long_.push_back({entry.source.mac, std::uint8_t(index), clock.since, end, clock.event});
    }
}

PauseCounts::Basis PauseLedger::basis_of(const Entry& entry) {
    if (entry.way != Way::kUnknown) return PauseCounts::Basis::kDirection;
    return entry.is_end ? PauseCounts::Basis::kDestination : PauseCounts::Basis::kAllData;
}

void PauseLedger::on_data(const Packet& packet, std::int64_t when_ns, std::uint32_t point,
                          Way way) {
    const std::size_t priority = priority_of(packet);
    const Instant now = (Instant{when_ns} - base_ns_) * 1000;
    for (Entry& entry : entries_) {
        const bool to_it = entry.source.mac == packet.destination_mac;
        entry.is_end |= to_it || entry.source.mac == packet.source_mac;
        const bool same_point = entry.source.point == point;
        const bool meets =
            same_point && way != Way::kUnknown && entry.way != Way::kUnknown && way != entry.way;
        const std::array<bool, 3> counts{meets, to_it, same_point && packet.payload_bytes > 0};
        for (const std::size_t index : {priority, std::size_t{8}}) {
            Clock& clock = entry.clocks[index];
            if (!clock.running || now > clock.until || now < clock.since) continue;
            for (std::size_t basis = 0; basis < counts.size(); ++basis) {
                if (!counts[basis]) continue;
                Late& late = entry.late[index][basis];
                late.reaction_ns = std::max(late.reaction_ns.value_or(0),
                                            std::int64_t((now - clock.since) / 1000));
                clock.late_bytes[basis] += l2_bytes(packet.frame_bytes);
                late.bytes = std::max(late.bytes, clock.late_bytes[basis]);
            }
        }
    }
}

void PauseLedger::on_packet(const Packet& packet, std::int64_t when_ns, bool mac_known,
                            std::uint64_t frame, std::uint32_t point, Way way) {
    const bool pfc = packet.verdict == Verdict::kPfc;
    if (!pfc && packet.verdict != Verdict::kGlobalPause) {
        if (running_ > 0 && packet.ip_version != 0) on_data(packet, when_ns, point, way);
        return;
    }
    if (!based_) base_ns_ = when_ns;
    based_ = true;
    ++(pfc ? pfc_frames_ : global_frames_);
    const auto classes = std::uint8_t(packet.pause.class_enable_vector);
    if (pfc && classes == 0) ++no_class_;
    Entry* const entry = entry_of(packet.source_mac, mac_known, point);
    if (!entry) {
        ++not_tracked_;
        return;
    }
    entry->way = way;
    if (!pfc) {
        ++entry->source.global_frames;
        apply(*entry, 8, packet.pause.quanta[0], when_ns, frame);
        return;
    }
    ++entry->source.pfc_frames;
    if (classes == 0) ++entry->source.no_class;
    for (std::size_t i = 0; i < 8; ++i) {
        if (classes >> i & 1) apply(*entry, i, packet.pause.quanta[i], when_ns, frame);
    }
}

std::array<PauseLedger::Latest, 8>& PauseLedger::latest_at(std::uint32_t point) {
    for (auto& [at, latest] : latest_) {
        if (at == point) return latest;
    }
    return latest_.emplace_back(point, std::array<Latest, 8>{}).second;
}

void PauseLedger::finish() {
    // In order of their ends.
    while (running_ > 0) {
        Entry* first = nullptr;
        std::size_t at = 0;
        for (Entry& entry : entries_) {
            for (std::size_t i = 0; i < 9; ++i) {
                if (!entry.clocks[i].running) continue;
                if (first && first->clocks[at].until <= entry.clocks[i].until) continue;
                first = &entry;
                at = i;
            }
        }
        close(*first, at, first->clocks[at].until);
    }
    for (const HeldTogether& held :
         held_together(std::move(long_), Instant{kDeadlockNs} * 1000, kMaxSpans)) {
        deadlocks_.push_back({held.members.front(),
                              {held.members.begin() + 1, held.members.end()},
                              held.priority,
                              ns_of(held.from),
                              std::int64_t((held.to - held.from) / 1000)});
        if (!timeline_) continue;
        timeline_->add({.ns = ns_of(held.from) + kDeadlockNs,
                        .value = std::uint64_t((held.to - held.from) / 1000),
                        .more = held.members.size(),
                        .cause = held.event,
                        .kind = TimelineKind::kDeadlock,
                        .priority = held.priority,
                        .mac = held.members.back()});
    }
}

std::optional<std::uint32_t> reaction_limit_quanta(BitRate link_rate) {
    switch (link_rate.bits_per_sec / 1'000'000'000) {
        case 10:
            return 67;
        case 25:
            return 80;
        case 40:
            return 118;
        case 50:
            return 147;
        case 100:
            return 394;
        case 200:
            return 453;
        case 400:
        case 800:
            return 905;
        default:
            return std::nullopt;
    }
}

std::vector<PauseLedger::Source> PauseLedger::sources() const {
    std::vector<Source> sources;
    sources.reserve(entries_.size());
    for (const Entry& entry : entries_) {
        Source& source = sources.emplace_back(entry.source);
        const PauseCounts::Basis basis = basis_of(entry);
        for (std::size_t i = 0; i < 9; ++i) {
            PauseCounts& counts = counts_of(source, i);
            counts.reaction_ns = entry.late[i][std::size_t(basis)].reaction_ns;
            counts.late_bytes = entry.late[i][std::size_t(basis)].bytes;
            counts.basis = basis;
        }
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
