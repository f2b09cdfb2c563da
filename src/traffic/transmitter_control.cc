/// What the network makes of a stream: its rate, its limit, back to a PSN, the end.
#include <algorithm>
#include <cassert>
#include <iterator>

#include "rocegen/traffic/transmitter.h"
#include "traffic/pace.h"

namespace rocegen {

void Transmitter::set_rate(std::uint32_t stream, BitRate rate, Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    const std::uint64_t old = source.pace;
    source.net_pace = pace_q32(std::max(rate, kMinFlowRate));
    set_pace(source, std::max(source.plan_pace, source.net_pace));
    if (source.pace == old) return;
    // Once more the last packet's step, which is nothing before the first.
    const std::uint64_t units = source.counters.last_l1_bytes;
    const bool drawn = source.kind == Pattern::Kind::kPoisson && source.resend_left == 0;
    const unsigned __int128 step =
        drawn ? static_cast<unsigned __int128>(source.pace) * (source.last_gap_q32 * units >> 10) >>
                    22
              : static_cast<unsigned __int128>(source.pace) * units + source.last_fraction;
    source.due_fraction = std::uint32_t(step);
    source.paced = source.last_due + Picoseconds{std::int64_t(step >> 32)};
    // A rise lets it go now at the earliest; what was due already stays so.
    source.due = std::max(earliest(source), std::min(source.due, own_time(source.priority, now)));
    place(index);
}

void Transmitter::set_limit(std::uint32_t stream, Psn limit, Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step > 0);
    source.has_limit = true;
    source.limit = limit;
    unblock(source, now);
    place(index);
}

Picoseconds Transmitter::earliest(const Source& source) noexcept {
    const Picoseconds due = std::max(source.paced, source.hold);
    // What is sent again does not wait for the pattern's next time.
    return source.resend_left > 0 ? due : std::max(due, source.floor);
}

void Transmitter::unblock(Source& source, Picoseconds now) noexcept {
    const bool was_parked = source.parked != 0;
    const bool blocked = allowance(source) == 0;
    const bool ended = source.packets_left == 0 && source.resend_left == 0;
    source.parked =
        std::uint8_t((source.parked & kStopped) | (blocked ? kBlocked : 0) | (ended ? kEnded : 0));
    if (was_parked && source.parked == 0) {
        source.hold = std::max(source.hold, own_time(source.priority, now));
    }
    source.due = std::max(source.due, source.hold);
}

std::uint64_t Transmitter::step_back(Source& source, std::uint64_t sent,
                                     std::int64_t back) const noexcept {
    const auto packets_of = [&](std::uint64_t bytes) {
        return std::int64_t(packets_per_message(bytes, source.path_mtu));
    };
    if (!source.sizes) {
        const std::int64_t packets = packets_of(source.message_bytes);
        const std::int64_t at = (std::int64_t(sent / source.path_mtu) - back) % packets;
        return std::uint64_t(at < 0 ? at + packets : at);
    }
    // Message by message: sizes are drawn once more.
    std::uint64_t message = source.messages_begun - (sent > 0);
    std::int64_t at = std::int64_t(sent / source.path_mtu) - back;
    while (at < 0) at += packets_of(size_of(source, --message));
    while (at > 0 && at >= packets_of(size_of(source, message))) {
        at -= packets_of(size_of(source, message++));
    }
    source.messages_begun = message + (at > 0);
    source.message_bytes = size_of(source, message);
    return std::uint64_t(at);
}

void Transmitter::rewind(std::uint32_t stream_index, Psn from, Picoseconds not_before,
                         Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream_index);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step > 0);
    Stream& stream = streams_[stream_index];
    // Inside a request of several PSNs means from its first on.
    const std::int32_t psns = distance(from, stream.psn), step = std::int32_t(source.psn_step);
    const std::int32_t back = psns > 0 ? (psns + step - 1) / step : psns / step;
    stream.psn = stream.psn.plus(std::uint32_t(-back * step));
    move_back(index, back, not_before, now);
}

void Transmitter::set_packet_limit(std::uint32_t stream, std::uint64_t packet,
                                   Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step == 0);
    source.has_limit = true;
    source.packet_limit = packet;
    unblock(source, now);
    place(index);
}

void Transmitter::rewind_to_packet(std::uint32_t stream, std::uint64_t packet,
                                   Picoseconds now) noexcept {
    const std::uint32_t index = source_of(stream);
    Source& source = sources_[index];
    assert(source.stream_count == 1 && source.psn_step == 0 && !source.sizes);
    const std::uint64_t each = packets_per_message(source.message_bytes, source.path_mtu);
    const auto bytes_before = [&](std::uint64_t n) {
        return std::uint32_t(n / each * source.message_bytes + n % each * source.path_mtu);
    };
    streams_[stream].tcp_sequence += bytes_before(packet) - bytes_before(source.position);
    move_back(index, std::int64_t(source.position - packet), now, now);
}

void Transmitter::move_back(std::uint32_t index, std::int64_t back, Picoseconds not_before,
                            Picoseconds now) noexcept {
    Source& source = sources_[index];
    Stream& stream = streams_[source.first_stream];
    assert(back + std::int64_t{source.resend_left} >= 0);
    const std::uint64_t sent =
        stream.message_bytes_left == 0 ? 0 : source.message_bytes - stream.message_bytes_left;
    const std::uint64_t at = step_back(source, sent, back);
    stream.message_bytes_left =
        at == 0 ? 0 : std::uint32_t(source.message_bytes - at * source.path_mtu);
    source.position -= std::uint64_t(back);
    source.resend_left = std::uint32_t(std::int64_t{source.resend_left} + back);
    source.hold = own_time(source.priority, std::max(now, not_before));
    source.due = earliest(source);
    unblock(source, now);
    place(index);
}

void Transmitter::stop(std::uint32_t stream) noexcept {
    const std::uint32_t index = source_of(stream);
    sources_[index].parked |= kStopped;
    place(index);
}

std::uint32_t Transmitter::source_of(std::uint32_t stream) const noexcept {
    const auto next = std::upper_bound(by_stream_.begin(), by_stream_.end(),
                                       std::pair{stream, ~std::uint32_t{0}});
    assert(next != by_stream_.begin());
    const std::uint32_t index = std::prev(next)->second;
    assert(stream - sources_[index].first_stream < sources_[index].stream_count);
    return index;
}

Picoseconds Transmitter::own_time(unsigned priority, Picoseconds now) const noexcept {
    if (!paused(std::uint8_t(priority))) return now - shift_[priority];
    const Picoseconds since = paused_since_[priority];
    const Picoseconds over = std::max(now - paused_until_[priority], Picoseconds{0});
    return std::min(since, now) + over - shift_[priority];
}

std::uint64_t Transmitter::allowance(const Source& source) const noexcept {
    if (!source.has_limit) return ~std::uint64_t{0};
    if (source.psn_step == 0) {
        return source.packet_limit - std::min(source.packet_limit, source.position);
    }
    const std::int32_t ahead = distance(streams_[source.first_stream].psn, source.limit);
    return ahead > 0 ? std::uint64_t(ahead) / source.psn_step : 0;
}

}  // namespace rocegen
