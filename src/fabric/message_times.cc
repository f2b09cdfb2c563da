#include "rocegen/fabric/message_times.h"

#include <algorithm>
#include <bit>

namespace rocegen {

MessageTimes::MessageTimes(const Plan& plan, std::span<const FlowBehaviour> flows)
    : warmup_(plan.warmup), histogram_of_(plan.flows.size(), kNone) {
    for (std::size_t f = 0; f < flows.size(); ++f) {
        if (!flows[f].reliable && !flows[f].reno) continue;
        histogram_of_[f] = std::uint32_t(histograms_.size());
        histograms_.emplace_back();
    }
    if (histograms_.empty()) return;
    track_of_.assign(plan.streams.size(), kNone);
    for (std::uint32_t i = 0; i < plan.streams.size(); ++i) {
        const std::uint32_t flow = plan.streams[i].flow;
        if (histogram_of_[flow] == kNone) continue;
        // A message that began and was not delivered has a packet in the window.
        const std::uint64_t packets =
            packets_per_message(plan.flows[flow].message_bytes, plan.flows[flow].path_mtu);
        const std::uint32_t window =
            flows[flow].reno ? flows[flow].reno->receive_window : flows[flow].requester.window;
        const auto most = std::uint32_t(window / packets + 2);
        const std::uint32_t ring = std::bit_ceil(most);
        track_of_[i] = std::uint32_t(tracks_.size());
        Track& track = tracks_.emplace_back();
        track.flow = flow;
        track.first = std::uint32_t(starts_.size());
        track.mask = ring - 1;
        starts_.resize(starts_.size() + ring);
    }
}

void MessageTimes::sent(std::uint32_t stream, Psn psn, Picoseconds now) noexcept {
    if (track_of_.empty() || track_of_[stream] == kNone) return;
    Track& track = tracks_[track_of_[stream]];
    if (track.begun > 0 && distance(track.newest, psn) <= 0) return;  // again
    track.newest = psn;
    starts_[track.first + (track.begun++ & track.mask)] = now;
}

void MessageTimes::delivered(std::uint32_t stream, std::uint64_t messages,
                             Picoseconds now) noexcept {
    if (track_of_.empty() || track_of_[stream] == kNone) return;
    Track& track = tracks_[track_of_[stream]];
    while (track.delivered < messages) {
        const Picoseconds began = starts_[track.first + (track.delivered++ & track.mask)];
        if (began < warmup_) continue;
        histograms_[histogram_of_[track.flow]].record(std::uint64_t(whole_ns(now - began)));
    }
}

const Histogram* MessageTimes::of_flow(std::uint32_t flow) const noexcept {
    return histogram_of_[flow] == kNone ? nullptr : &histograms_[histogram_of_[flow]];
}

}  // namespace rocegen
