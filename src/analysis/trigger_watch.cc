#include "rocegen/analysis/trigger_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "rocegen/base/random.h"
#include "rocegen/wire/opcode.h"

namespace rocegen {
namespace {

/// PSNs that far off are no hole: the queue pair began anew.
constexpr std::int32_t kNewSession = 65536;
constexpr Picoseconds kCnpWindow = std::chrono::milliseconds{1};
constexpr std::array<std::string_view, kTriggerCount> kNames{
    "pause-received", "pause-sent", "ce", "cnp-rate", "psn-gap", "latency", "expectation"};

/// 802.1Qbb and 802.3x count in 512 bit times.
Picoseconds time_of(std::uint32_t quanta, BitRate rate) {
    if (rate.bits_per_sec == 0) return Picoseconds{0};
    const auto picos = static_cast<unsigned __int128>(quanta) * 512 * 1'000'000'000'000;
    return Picoseconds{std::int64_t(picos / rate.bits_per_sec)};
}

std::uint64_t word_of(const IpAddress& ip, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, ip.bytes.data() + at, sizeof word);
    return word;
}

}  // namespace

std::string_view to_text(Trigger trigger) { return kNames[std::size_t(trigger)]; }

bool TriggerConfig::any() const {
    return std::any_of(on.begin(), on.end(), [](bool each) { return each; });
}

TriggerWatch::TriggerWatch(const TriggerConfig& config, const std::vector<BitRate>& link_rates)
    : config_(config) {
    for (const BitRate rate : link_rates) {
        Port& port = ports_.emplace_back();
        port.link_rate = rate;
        port.until.fill(Picoseconds::min());
        if (config.has(Trigger::kCnpRate)) {
            port.cnps.assign(config.cnps_per_ms, Picoseconds::min());
        }
    }
    if (config.has(Trigger::kPsnGap)) qps_.resize(2 * kMaxQps);
}

bool TriggerWatch::begins(Port& port, Trigger trigger, Picoseconds now, Picoseconds end) {
    Picoseconds& until = port.until[std::size_t(trigger)];
    const bool is_new = now >= until;
    until = std::max(until, end + config_.quiet);
    return is_new;
}

std::optional<Fired> TriggerWatch::on(std::uint32_t index, bool sent, const Packet& packet) {
    Port& port = ports_[index];
    const Picoseconds now = packet.when;
    if (packet.verdict == Verdict::kPfc || packet.verdict == Verdict::kGlobalPause) {
        return on_pause(port, sent, packet);
    }
    if (packet.verdict == Verdict::kRoce && Opcode(packet.roce.opcode) == Opcode::kCnp) {
        return on_cnp(port, packet);
    }
    if (sent) return {};
    std::optional<Fired> fired;
    if (packet.verdict == Verdict::kRoce && config_.has(Trigger::kPsnGap)) {
        fired = on_psn(index, port, packet);
    }
    if (config_.has(Trigger::kCeMark) && packet.ecn == kCe && packet.ip_version != 0 &&
        begins(port, Trigger::kCeMark, now, now) && !fired) {
        fired = Fired{Trigger::kCeMark,
                      fmt::format("first CE for {}: {} to {}", to_text(config_.quiet),
                                  to_text(packet.source_ip), to_text(packet.destination_ip))};
    }
    if (config_.has(Trigger::kLatency) && packet.tagged && packet.tag.run == config_.run) {
        const Picoseconds latency = now - Picoseconds{std::int64_t(packet.tag.sent_ns) * 1000};
        if (latency > config_.latency && begins(port, Trigger::kLatency, now, now) && !fired) {
            fired = Fired{
                Trigger::kLatency,
                fmt::format("latency of {}, over {}: stream {}, sequence {}", to_text(latency),
                            to_text(config_.latency), packet.tag.stream, packet.tag.sequence)};
        }
    }
    return fired;
}

std::optional<Fired> TriggerWatch::on_pause(Port& port, bool sent, const Packet& packet) {
    const Trigger trigger = sent ? Trigger::kPauseSent : Trigger::kPauseReceived;
    if (!config_.has(trigger)) return {};
    const bool global = packet.verdict == Verdict::kGlobalPause;
    std::string classes;
    std::uint16_t longest = 0;
    for (unsigned p = 0; p < 8; ++p) {
        const bool stops = packet.pause.quanta[p] > 0 &&
                           (global ? p == 0 : (packet.pause.class_enable_vector >> p & 1) != 0);
        if (!stops) continue;
        longest = std::max(longest, packet.pause.quanta[p]);
        if (!global) classes += fmt::format("{}{}", classes.empty() ? "" : ", ", p);
    }
    const Picoseconds now = packet.when;
    if (longest == 0 || !begins(port, trigger, now, now + time_of(longest, port.link_rate))) {
        return {};
    }
    const std::string what = global ? "802.3x pause" : fmt::format("XOFF of priority {}", classes);
    return Fired{trigger,
                 fmt::format("{} {}, {} quanta", what, sent ? "sent" : "received", longest)};
}

std::optional<Fired> TriggerWatch::on_cnp(Port& port, const Packet& packet) {
    if (!config_.has(Trigger::kCnpRate)) return {};
    const Picoseconds now = packet.when;
    Picoseconds& oldest = port.cnps[port.cnp_at];
    const bool full = oldest != Picoseconds::min() && now - oldest < kCnpWindow;
    oldest = now;
    port.cnp_at = (port.cnp_at + 1) % port.cnps.size();
    if (!full || !begins(port, Trigger::kCnpRate, now, now)) return {};
    return Fired{
        Trigger::kCnpRate,
        fmt::format("over {} CNPs within 1 ms; the last one to {}, QP 0x{:x}", config_.cnps_per_ms,
                    to_text(packet.destination_ip), packet.roce.dest_qp)};
}

TriggerWatch::Qp* TriggerWatch::find(std::uint32_t port, const Packet& packet) {
    const OpcodeInfo& opcode = info(packet.roce.opcode);
    const IpAddress &from = packet.source_ip, &to = packet.destination_ip;
    std::uint64_t key = SplitMix{port,
                                 packet.roce.dest_qp,
                                 packet.roce.source_qp,
                                 opcode.response,
                                 word_of(from, 0),
                                 word_of(from, 8),
                                 word_of(to, 0),
                                 word_of(to, 8)}
                            .bits();
    key += key == 0;
    for (std::size_t at = key % qps_.size();; at = (at + 1) % qps_.size()) {
        if (qps_[at].key == key) return &qps_[at];
        if (qps_[at].key != 0) continue;
        if (qp_count_ == kMaxQps) {
            ++qps_not_watched_;
            return nullptr;
        }
        ++qp_count_;
        qps_[at].key = key;
        return &qps_[at];
    }
}

std::optional<Fired> TriggerWatch::on_psn(std::uint32_t index, Port& port, const Packet& packet) {
    const OpcodeInfo& opcode = info(packet.roce.opcode);
    // An ACK repeats the PSN that it answers; of responses those of READs alone have their own.
    if (opcode.response && opcode.payload == PayloadRule::kNone) return {};
    Qp* const qp = find(index, packet);
    if (!qp) return {};
    const Psn psn = packet.roce.psn;
    const bool first =
        opcode.response && (opcode.segment == Segment::kFirst || opcode.segment == Segment::kOnly);
    const std::int32_t ahead = qp->known && !first ? distance(qp->next, psn) : 0;
    if (ahead > kNewSession || ahead < -kNewSession) qp->known = false;
    const Psn expected = qp->next;
    if (!qp->known || first || ahead >= 0) qp->next = Psn{psn.value() + 1};
    const bool resumes = !qp->known;
    qp->known = (packet.roce.opcode & 0x1f) != IBV_OPCODE_RDMA_READ_REQUEST;
    if (resumes || ahead <= 0 || !begins(port, Trigger::kPsnGap, packet.when, packet.when))
        return {};
    return Fired{Trigger::kPsnGap,
                 fmt::format("PSN {} where {} was next: {} to {}, QP 0x{:x}", psn.value(),
                             expected.value(), to_text(packet.source_ip),
                             to_text(packet.destination_ip), packet.roce.dest_qp)};
}

}  // namespace rocegen
