#include "rocegen/analysis/burst_meter.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace rocegen {
namespace {

constexpr std::int64_t kRecentNs = 1'000'000;
constexpr std::size_t kFirstRing = 1024;

std::array<std::uint64_t, 2> halves(const IpAddress& address) {
    std::array<std::uint64_t, 2> words;
    std::memcpy(words.data(), address.bytes.data(), sizeof words);
    return words;
}
std::uint64_t hash(const IpAddress& address) {
    const auto [high, low] = halves(address);
    const std::uint64_t mixed = (high * 31 ^ low) * 0x9e37'79b9'7f4a'7c15;
    return mixed ^ mixed >> 32;
}
/// Two words instead of a call of memcmp: twice a frame.
bool same_address(const IpAddress& a, const IpAddress& b) {
    const auto [a_high, a_low] = halves(a);
    const auto [b_high, b_low] = halves(b);
    return ((a_high ^ b_high) | (a_low ^ b_low)) == 0;
}

}  // namespace

bool Burst::incast() const { return contributors.size() >= BurstMeter::kIncastSources; }

BurstMeter::BurstMeter(BurstOptions options, Timeline* timeline)
    : options_(std::move(options)), timeline_(timeline), ring_(kFirstRing) {
    std::sort(options_.windows_ns.begin(), options_.windows_ns.end());
    assert(!options_.windows_ns.empty());
    if (options_.windows_ns.size() > kMaxWindows) options_.windows_ns.resize(kMaxWindows);
    for (std::size_t w = 0; w < options_.windows_ns.size(); ++w) {
        using Wide = unsigned __int128;
        limits_[w] = ~std::uint64_t{0};
        if (!options_.link_rate) continue;
        const Wide bits = Wide{options_.link_rate->bits_per_sec} * options_.threshold_ppm *
                          Wide(options_.windows_ns[w]);
        limits_[w] = std::uint64_t(bits / 8'000'000'000'000'000);
    }
    hosts_.emplace_back();
}

std::uint32_t BurstMeter::host_of(const IpAddress& address) {
    const std::uint64_t key = hash(address);
    std::uint32_t& recent = recent_[key >> 54];  // the bits that each byte of it changes
    if (recent != 0 && same_address(hosts_[recent].address, address)) return recent;
    std::vector<std::uint32_t>& same = index_[key];
    for (const std::uint32_t host : same) {
        if (hosts_[host].address == address) return recent = host;
    }
    if (hosts_.size() >= kMaxHosts) return 0;
    recent = std::uint32_t(hosts_.size());
    same.push_back(recent);
    hosts_.emplace_back().address = address;
    return recent;
}

void BurstMeter::on_frame(std::int64_t when_ns, std::uint32_t bytes, const IpAddress& source,
                          const IpAddress& destination, std::uint64_t frame) {
    now_ns_ = std::max(now_ns_, when_ns);
    constexpr IpAddress kNobody{};
    const std::uint32_t to = same_address(destination, kNobody) ? 0 : host_of(destination);
    const std::uint32_t from = same_address(source, kNobody) ? 0 : host_of(source);
    const std::size_t windows = options_.windows_ns.size();
    for (std::size_t w = 0; w < windows; ++w) leave(w);
    put_in({now_ns_, frame, from, to, l1_bytes(bytes)});
}

void BurstMeter::leave(std::size_t window) {
    std::uint64_t& tail = tails_[window];
    const std::int64_t oldest = now_ns_ - options_.windows_ns[window];
    while (tail != head_ && at(tail).ns <= oldest) {
        const Frame& frame = at(tail++);
        Sum& all = hosts_[0].sums[window];
        all.l1_bytes -= frame.l1_bytes;
        --all.frames;
        if (frame.destination == 0) continue;
        Sum& sum = hosts_[frame.destination].sums[window];
        sum.l1_bytes -= frame.l1_bytes;
        --sum.frames;
        if (sum.burst != 0 && sum.l1_bytes < limits_[window]) end(window, frame.destination);
    }
}

void BurstMeter::put_in(const Frame& frame) {
    const std::size_t windows = options_.windows_ns.size();
    const std::uint64_t held = head_ - tails_[windows - 1];
    if (held == ring_.size()) {
        if (ring_.size() < kMaxFrames) {
            std::vector<Frame> larger(ring_.size() * 2);
            for (std::uint64_t i = tails_[windows - 1]; i != head_; ++i) {
                larger[i & (larger.size() - 1)] = at(i);
            }
            ring_.swap(larger);
        } else {
            // All windows give up their oldest frame if it is the ring's.
            const std::uint64_t oldest = tails_[windows - 1];
            for (std::size_t w = 0; w < windows; ++w) {
                if (tails_[w] != oldest) continue;
                const Frame gone = at(tails_[w]++);
                hosts_[0].sums[w].l1_bytes -= gone.l1_bytes;
                --hosts_[0].sums[w].frames;
                if (gone.destination == 0) continue;
                hosts_[gone.destination].sums[w].l1_bytes -= gone.l1_bytes;
                --hosts_[gone.destination].sums[w].frames;
            }
            ++out_early_;
        }
    }
    at(head_++) = frame;
    l1_bytes_all_ += frame.l1_bytes;
    for (std::size_t w = 0; w < windows; ++w) {
        Sum& all = hosts_[0].sums[w];
        all.l1_bytes += frame.l1_bytes;
        ++all.frames;
        if (all.l1_bytes > peaks_[w][0].l1_bytes) note_peak(w, 0, all, 0);
        if (frame.destination == 0) continue;
        Sum& sum = hosts_[frame.destination].sums[w];
        sum.l1_bytes += frame.l1_bytes;
        ++sum.frames;
        if (sum.l1_bytes > peaks_[w][1].l1_bytes) note_peak(w, 1, sum, frame.destination);
        if (sum.burst != 0) {
            go_on(w, frame.destination, frame);
        } else if (sum.l1_bytes >= limits_[w]) {
            begin(w, frame.destination);
        }
    }
}

void BurstMeter::note_peak(std::size_t window, std::size_t scope, const Sum& sum,
                           std::uint32_t host) {
    Peak& peak = peaks_[window][scope];
    peak.l1_bytes = sum.l1_bytes;
    peak.frames = sum.frames;
    peak.end_ns = now_ns_;
    if (scope == 1) peak_host_[window] = host;
}

BurstMeter::Excess BurstMeter::excess(std::uint64_t l1_bytes, std::int64_t ns) const {
    return Excess{l1_bytes} * 8'000'000'000 -
           Excess{options_.link_rate->bits_per_sec} * options_.threshold_ppm / 1'000'000 * ns;
}

void BurstMeter::add(SourceBytes& into, std::uint32_t source, std::uint64_t bytes) {
    for (auto& [seen, sum] : into) {
        if (seen != source) continue;
        sum += bytes;
        return;
    }
    if (into.size() < kMaxSources) into.emplace_back(source, bytes);
}

/// Back through the window: the frame from which on its bytes stand out most.
std::uint64_t BurstMeter::start_of(std::size_t window, std::uint32_t host) {
    const std::int64_t newest_ns = at(head_ - 1).ns;
    std::uint64_t bytes = 0, start = head_ - 1;
    Excess best = excess(at(start).l1_bytes, 0);
    for (std::uint64_t i = head_; i-- != tails_[window];) {
        const Frame& frame = at(i);
        if (frame.destination != host) continue;
        bytes += frame.l1_bytes;
        const Excess here = excess(bytes, newest_ns - frame.ns);
        if (here < best) continue;
        best = here;
        start = i;
    }
    return start;
}

void BurstMeter::begin(std::size_t window, std::uint32_t host) {
    std::uint64_t start = start_of(window, host);
    Sum& sum = hosts_[host].sums[window];
    Open open;
    open.window = window;
    open.host = host;
    if (sum.last != 0 &&
        at(start).ns <= bursts_[sum.last - 1].end_ns + options_.windows_ns[window]) {
        // The one before goes on: what lies between counts from its last frame on.
        open.reopened = true;
        open.burst = std::move(bursts_[sum.last - 1]);
        open.bytes = open.burst.l1_bytes;
        open.frames = open.burst.frames;
        open.best = kLeast;
        for (const Burst::Source& s : open.burst.contributors) {
            open.sources.emplace_back(host_of(s.address), s.l1_bytes);
        }
        open.burst.contributors.clear();
        start = tails_[window];
        while (start != head_ && at(start).ns <= open.burst.end_ns) ++start;
    } else {
        open.best = kLeast;
        open.burst.window_ns = options_.windows_ns[window];
        open.burst.start_ns = at(start).ns;
        open.burst.first_frame = at(start).number;
        open.burst.destination = hosts_[host].address;
    }
    const bool is_new = !open.reopened;
    open_.push_back(std::move(open));
    sum.burst = std::uint32_t(open_.size());
    for (std::uint64_t i = start; i != head_; ++i) {
        if (i + 1 == head_) open_.back().best = kLeast;  // up to this frame it is one
        if (at(i).destination == host) go_on(window, host, at(i));
    }
    Host& to = hosts_[host];
    if (to.running++ == 0 && is_new && timeline_) {
        to.event = timeline_->add({.ns = open_.back().burst.start_ns,
                                   .frame = open_.back().burst.first_frame,
                                   .kind = TimelineKind::kBurst});
    }
    latest_host_ = host;
}

void BurstMeter::go_on(std::size_t window, std::uint32_t host, const Frame& frame) {
    const Sum& sum = hosts_[host].sums[window];
    Open& open = open_[sum.burst - 1];
    open.bytes += frame.l1_bytes;
    ++open.frames;
    add(open.behind, frame.source, frame.l1_bytes);
    if (sum.l1_bytes > open.burst.peak_l1_bytes) {
        open.burst.peak_l1_bytes = sum.l1_bytes;
        open.burst.peak_ns = now_ns_;
    }
    const Excess now = excess(open.bytes, frame.ns - open.burst.start_ns);
    if (now < open.best) return;
    open.best = now;
    open.burst.end_ns = frame.ns;
    open.burst.last_frame = frame.number;
    open.burst.l1_bytes = open.bytes;
    open.burst.frames = open.frames;
    for (const auto& [source, bytes] : open.behind) add(open.sources, source, bytes);
    open.behind.clear();
}

void BurstMeter::end(std::size_t window, std::uint32_t host) {
    Host& to = hosts_[host];
    Sum& sum = to.sums[window];
    const std::size_t index = sum.burst - 1;
    Open open = std::move(open_[index]);
    if (index + 1 != open_.size()) {  // the last one takes its place
        open_[index] = std::move(open_.back());
        hosts_[open_[index].host].sums[open_[index].window].burst = std::uint32_t(index + 1);
    }
    open_.pop_back();
    sum.burst = 0;
    --to.running;
    to.event_until_ns = now_ns_ + kRecentNs;
    if (timeline_ && to.event != kNoCause) {
        TimelineEvent& event = timeline_->event(to.event);
        event.value = std::max(event.value, open.burst.l1_bytes);
        event.more = std::max<std::uint64_t>(event.more, open.sources.size());
    }
    for (const auto& [source, bytes] : open.sources) {
        open.burst.contributors.push_back({hosts_[source].address, bytes});
    }
    if (open.reopened) {
        bursts_[sum.last - 1] = std::move(open.burst);
        return;
    }
    ++counts_[window];
    if (bursts_.size() >= kMaxBursts * options_.windows_ns.size()) return;
    bursts_.push_back(std::move(open.burst));
    sum.last = std::uint32_t(bursts_.size());
}

void BurstMeter::finish() {
    for (std::uint32_t host = 1; host < hosts_.size(); ++host) {
        for (std::size_t w = 0; w < options_.windows_ns.size(); ++w) {
            if (hosts_[host].sums[w].burst != 0) end(w, host);
        }
    }
    for (Burst& burst : bursts_) {
        std::vector<Burst::Source>& all = burst.contributors;
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.l1_bytes > b.l1_bytes; });
        const std::uint64_t share = all.empty() ? 0 : burst.l1_bytes / all.size();
        while (!all.empty() && all.back().l1_bytes * 4 < share) all.pop_back();
    }
    std::stable_sort(bursts_.begin(), bursts_.end(), [](const Burst& a, const Burst& b) {
        return a.window_ns != b.window_ns ? a.window_ns < b.window_ns : a.start_ns < b.start_ns;
    });
}

std::vector<BurstMeter::Peak> BurstMeter::peaks() const {
    std::vector<Peak> peaks;
    for (std::size_t w = 0; w < options_.windows_ns.size(); ++w) {
        for (std::size_t scope = 0; scope < 2; ++scope) {
            Peak& peak = peaks.emplace_back(peaks_[w][scope]);
            peak.window_ns = options_.windows_ns[w];
            if (scope == 1 && peak_host_[w] != 0) peak.destination = hosts_[peak_host_[w]].address;
        }
    }
    return peaks;
}

std::uint32_t BurstMeter::event_to(const IpAddress& destination, std::int64_t when_ns) const {
    const auto same = index_.find(hash(destination));
    if (same == index_.end()) return kNoCause;
    for (const std::uint32_t host : same->second) {
        const Host& to = hosts_[host];
        if (to.address != destination) continue;
        return to.running > 0 || when_ns <= to.event_until_ns ? to.event : kNoCause;
    }
    return kNoCause;
}

std::uint32_t BurstMeter::latest_event(std::int64_t when_ns) const {
    const Host& to = hosts_[latest_host_];
    return to.running > 0 || when_ns <= to.event_until_ns ? to.event : kNoCause;
}

}  // namespace rocegen
