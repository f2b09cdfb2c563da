#include "rocegen/analysis/capture_diff.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

std::uint64_t hash_of(std::initializer_list<std::uint64_t> words) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : words) {
        hash = (hash ^ word) * 0x9e37'79b9'7f4a'7c15;
        hash ^= hash >> 29;
    }
    return hash;
}

}  // namespace

void DelayCounts::add(std::int64_t ns) {
    min_ = count_ == 0 ? ns : std::min(min_, ns);
    max_ = count_ == 0 ? ns : std::max(max_, ns);
    ++count_;
    ++counts_[ns >> shift_];
    while (counts_.size() > kMost) {
        ++shift_;
        std::map<std::int64_t, std::uint64_t> coarser;
        for (const auto& [value, count] : counts_) coarser[value >> 1] += count;
        counts_ = std::move(coarser);
    }
}

std::int64_t DelayCounts::quantile(std::uint64_t permille) const {
    std::uint64_t left = (count_ * permille + 999) / 1000;
    for (const auto& [value, count] : counts_) {
        if (count >= left) return std::clamp(value << shift_, min_, max_);
        left -= count;
    }
    return max_;
}

DiffCounts& DiffCounts::operator+=(const DiffCounts& more) {
    constexpr std::uint64_t DiffCounts::*kAll[] = {
        &DiffCounts::before,       &DiffCounts::after,       &DiffCounts::matched,
        &DiffCounts::lost,         &DiffCounts::duplicated,  &DiffCounts::appeared,
        &DiffCounts::outside,      &DiffCounts::reordered,   &DiffCounts::sent_again,
        &DiffCounts::newly_ce,     &DiffCounts::ce_cleared,  &DiffCounts::ecn_changed,
        &DiffCounts::dscp_changed, &DiffCounts::pcp_changed, &DiffCounts::vlan_changed,
        &DiffCounts::ttl_changed,  &DiffCounts::corrupted};
    static_assert(std::size(kAll) * sizeof(std::uint64_t) == sizeof(DiffCounts));
    for (const auto member : kAll) this->*member += more.*member;
    return *this;
}

std::size_t CaptureDiff::KeyHash::operator()(const Key& key) const noexcept {
    return std::size_t(
        hash_of({key.flow, key.content, key.psn, key.payload_bytes, key.source_port, key.opcode}));
}

std::uint64_t identity_of(const Packet& packet, std::optional<std::uint32_t> icrc) {
    const FlowKey flow{packet.source_ip, packet.destination_ip, packet.roce.dest_qp,
                       packet.roce.source_qp, false};
    return hash_of({FlowKeyHash{}(flow), packet.roce.psn.value(), packet.roce.opcode,
                    packet.source_port, packet.payload_bytes, icrc.value_or(0)});
}

std::optional<std::int64_t> least_difference(std::vector<Sighting> before,
                                             std::vector<Sighting> after, std::int64_t window_ns) {
    const auto keep_single = [](std::vector<Sighting>& all) {
        const auto less = [](const Sighting& a, const Sighting& b) {
            return a.identity < b.identity;
        };
        std::sort(all.begin(), all.end(), less);
        std::vector<Sighting> single;
        for (auto at = all.begin(); at != all.end();) {
            const auto end = std::upper_bound(at, all.end(), *at, less);
            if (end - at == 1) single.push_back(*at);
            at = end;
        }
        all = std::move(single);
    };
    keep_single(before);
    keep_single(after);
    std::vector<std::int64_t> differences;
    auto other = after.begin();
    for (const Sighting& one : before) {
        while (other != after.end() && other->identity < one.identity) ++other;
        if (other != after.end() && other->identity == one.identity) {
            differences.push_back(other->ns - one.ns);
        }
    }
    if (differences.empty()) return {};
    std::sort(differences.begin(), differences.end());
    const std::int64_t median = differences[differences.size() / 2];
    return *std::find_if(differences.begin(), differences.end(),
                         [&](std::int64_t d) { return median - d <= window_ns; });
}

bool CaptureDiff::is_roce(const Packet& packet) {
    return packet.verdict == Verdict::kRoce || packet.verdict == Verdict::kRoceV1;
}

std::uint32_t CaptureDiff::flow_of(const Packet& packet) {
    const FlowKey key{packet.source_ip, packet.destination_ip, packet.roce.dest_qp,
                      packet.roce.source_qp, info(packet.roce.opcode).response};
    const auto found = index_.find(key);
    if (found != index_.end()) return found->second;
    if (flows_.size() >= options_.flow_limit) {
        ++not_tracked_;
        return kNoFlow;
    }
    index_.emplace(key, std::uint32_t(flows_.size()));
    flows_.emplace_back().key = key;
    return std::uint32_t(flows_.size() - 1);
}

CaptureDiff::Frame& CaptureDiff::add(Side& side, std::uint32_t flow, const Packet& packet,
                                     std::int64_t when_ns, std::optional<std::uint32_t> icrc) {
    if (!side.first_ns) side.first_ns = when_ns;
    side.last_ns = std::max(side.last_ns, when_ns);
    Frame& frame = side.frames.emplace_back();
    frame.key = {flow,
                 packet.roce.psn.value(),
                 options_.by_content ? icrc.value_or(0) : 0,
                 packet.payload_bytes,
                 packet.source_port,
                 packet.roce.opcode};
    const Vlan& vlan = packet.vlans[0];
    frame.marks = {
        packet.dscp, packet.ecn, packet.ttl, vlan.pcp, std::uint16_t(vlan.tpid ? vlan.vid + 1 : 0),
        packet.icrc};
    frame.ns = when_ns;
    return frame;
}

void CaptureDiff::on_before(const Packet& packet, std::int64_t when_ns,
                            std::optional<std::uint32_t> icrc) {
    if (!is_roce(packet)) return;
    // What is still to arrive comes from here on, less the slack.
    settle(when_ns - kSlackNs - options_.window_ns);
    const std::uint32_t index = flow_of(packet);
    if (index == kNoFlow) return;
    Frame& frame = add(before_, index, packet, when_ns, icrc);
    Flow& flow = flows_[frame.key.flow];
    frame.number = ++flow.sent;
    ++flow.counts.before;
    Copies& copies = copies_[frame.key];
    if (copies.matched || !copies.before.empty()) ++flow.counts.sent_again;
    copies.before.push_back(before_.end() - 1);
}

void CaptureDiff::on_after(const Packet& packet, std::int64_t when_ns,
                           std::optional<std::uint32_t> icrc) {
    settle(when_ns - options_.offset_ns - options_.window_ns);
    if (!is_roce(packet)) return;
    const std::uint32_t index = flow_of(packet);
    if (index == kNoFlow) return;
    const Frame& frame = add(after_, index, packet, when_ns, icrc);
    ++flows_[frame.key.flow].counts.after;
    copies_[frame.key].after.push_back(after_.end() - 1);
}

bool CaptureDiff::before_is_next() const {
    if (before_.frames.empty() || after_.frames.empty()) return after_.frames.empty();
    return before_.frames.front().ns <= after_.frames.front().ns - options_.offset_ns;
}

void CaptureDiff::settle(std::int64_t until_ns) {
    for (;;) {
        const std::size_t held = before_.frames.size() + after_.frames.size();
        if (held == 0) return;
        const bool before = before_is_next();
        const std::int64_t ns =
            before ? before_.frames.front().ns : after_.frames.front().ns - options_.offset_ns;
        if (ns >= until_ns) {
            if (held <= options_.limit) return;
            ++settled_early_;
        }
        before ? settle_before() : settle_after();
    }
}

void CaptureDiff::finish() { settle(std::numeric_limits<std::int64_t>::max()); }

void CaptureDiff::settle_before() {
    const Key key = before_.frames.front().key;
    match(copies_.at(key));
    const Frame& frame = before_.frames.front();
    if (frame.match == kNoMatch) {
        const std::int64_t arrival = frame.ns + least_delay();
        const bool watched =
            after_.first_ns && arrival >= *after_.first_ns && arrival <= after_.last_ns;
        DiffCounts& counts = flows_[key.flow].counts;
        ++(watched ? counts.lost : counts.outside);
    }
    forget(key, &Copies::before);
    before_.frames.pop_front();
    ++before_.base;
}

void CaptureDiff::settle_after() {
    const Key key = after_.frames.front().key;
    Copies& copies = copies_.at(key);
    match(copies);
    const Frame& frame = after_.frames.front();
    Flow& flow = flows_[key.flow];
    if (frame.match == kNoMatch) {
        const std::int64_t departure = frame.ns - least_delay();
        const bool watched =
            before_.first_ns && departure >= *before_.first_ns && departure <= before_.last_ns;
        ++(copies.matched ? flow.counts.duplicated
           : watched      ? flow.counts.appeared
                          : flow.counts.outside);
    } else if (frame.match < flow.latest) {
        ++flow.counts.reordered;
    } else {
        flow.latest = frame.match;
    }
    forget(key, &Copies::after);
    after_.frames.pop_front();
    ++after_.base;
}

/// The front of `side` is settled: it is the first of its copies.
void CaptureDiff::forget(const Key& key, std::vector<std::uint64_t> Copies::*side) {
    const auto at = copies_.find(key);
    std::vector<std::uint64_t>& held = at->second.*side;
    held.erase(held.begin());
    if (at->second.before.empty() && at->second.after.empty()) copies_.erase(at);
}

void CaptureDiff::match(Copies& copies) {
    const auto is_open = [](Side& side) {
        return [&side](std::uint64_t number) { return side[number].match == kNoMatch; };
    };
    std::vector<std::uint64_t> before, after;
    std::copy_if(copies.before.begin(), copies.before.end(), std::back_inserter(before),
                 is_open(before_));
    std::copy_if(copies.after.begin(), copies.after.end(), std::back_inserter(after),
                 is_open(after_));
    if (before.empty() || after.empty()) return;
    const auto fits = [this](std::uint64_t departure, std::uint64_t arrival) {
        const std::int64_t took = after_[arrival].ns - options_.offset_ns - before_[departure].ns;
        return took >= -kSlackNs && took <= options_.window_ns;
    };
    const auto found = [&](std::uint64_t departure, std::uint64_t arrival) {
        copies.matched = true;
        pair(before_[departure], after_[arrival]);
    };
    if (after.size() >= before.size()) {  // all arrived: the first arrivals are theirs
        auto arrival = after.begin();
        for (const std::uint64_t departure : before) {
            while (arrival != after.end() && !fits(departure, *arrival)) ++arrival;
            if (arrival == after.end()) return;
            found(departure, *arrival++);
        }
        return;
    }
    std::size_t end = before.size();  // some were lost: each arrival is of the latest that fits
    for (std::size_t j = after.size(); j-- > 0;) {
        std::size_t i = end;
        while (i > j && !fits(before[i - 1], after[j])) --i;
        if (i == j) continue;
        found(before[i - 1], after[j]);
        end = i - 1;
    }
}

void CaptureDiff::pair(Frame& before, Frame& after) {
    before.match = after.match = before.number;
    Flow& flow = flows_[before.key.flow];
    DiffCounts& counts = flow.counts;
    const std::int64_t took = after.ns - before.ns;
    if (counts.matched++ == 0) flow.delay_ns_min = flow.delay_ns_max = took;
    flow.delay_ns_min = std::min(flow.delay_ns_min, took);
    flow.delay_ns_max = std::max(flow.delay_ns_max, took);
    delays_.add(took);
    options_.offset_ns = std::min(options_.offset_ns, took);  // clocks that drift apart
    const Marks &a = before.marks, &b = after.marks;
    if (a.ecn != b.ecn) {
        ++(b.ecn == kCe ? counts.newly_ce : a.ecn == kCe ? counts.ce_cleared : counts.ecn_changed);
    }
    const auto changed = [](std::uint64_t& count, Changes& changes, unsigned from, unsigned to) {
        if (from == to) return;
        ++count;
        ++changes[{from, to}];
    };
    changed(counts.dscp_changed, dscp_, a.dscp, b.dscp);
    changed(counts.ttl_changed, ttl_, a.ttl, b.ttl);
    if (a.vid != 0 && b.vid != 0) changed(counts.pcp_changed, pcp_, a.pcp, b.pcp);
    if (a.vid != b.vid) ++counts.vlan_changed;
    if (a.icrc == IcrcVerdict::kGood && b.icrc == IcrcVerdict::kBad) ++counts.corrupted;
}

DiffCounts CaptureDiff::sum() const {
    DiffCounts sum;
    for (const Flow& flow : flows_) sum += flow.counts;
    return sum;
}

}  // namespace rocegen
