/// What a capture holds in all, whether or not its flows are tracked: frames by verdict, bytes, marks
/// and ICRCs of its RoCE frames, and when. Thread: one owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "rocegen/wire/headers.h"
#include "rocegen/wire/opcode.h"
#include "rocegen/wire/packet.h"

namespace rocegen {

struct CaptureTotals {
    std::uint64_t records = 0, wire_bytes = 0, captured_bytes = 0;
    std::uint64_t empty = 0;  ///< Records without a byte.
    std::uint64_t unreadable =
        0;  ///< Records of a link type that is not read, or too short for it.
    std::uint64_t filtered_out =
        0;  ///< Frames that --filter left out; in none of the numbers below.
    std::optional<std::int64_t> first_ns, last_ns;  ///< Earliest and latest; null: no records.
    std::int64_t previous_ns = 0;
    std::uint64_t backwards = 0;  ///< Records before the one in front of them.
    std::optional<std::int64_t> gap_ns_min, gap_ns_max;  ///< Between neighbours, not backwards.

    std::uint64_t hardware_stamps = 0;  ///< Records with the capture card's own time: used.
    /// Of these: that time less the file's.
    std::optional<std::int64_t> clock_ns_min, clock_ns_max;

    std::array<std::uint64_t, kVerdictCount> frames{};
    std::array<std::uint64_t, kMalformedCount> malformed{};
    std::uint64_t roce_bytes = 0, payload_bytes = 0, cnp = 0;
    std::array<std::uint64_t, 4> ecn{};   ///< Of RoCE frames, by field value.
    std::array<std::uint64_t, 3> icrc{};  ///< Of frames to UDP port 4791, by IcrcVerdict.
    std::uint64_t ce_on_cnp = 0, ce_on_ack = 0;
    std::array<std::uint64_t, 256> opcodes{};  ///< Of RoCE frames.

    void on_record(std::int64_t when_ns, std::uint32_t wire, std::size_t captured) {
        if (records > 0 && when_ns >= previous_ns) {
            const std::int64_t gap = when_ns - previous_ns;
            gap_ns_min = std::min(gap, gap_ns_min.value_or(gap));
            gap_ns_max = std::max(gap, gap_ns_max.value_or(gap));
        } else if (records > 0) {
            ++backwards;
        }
        previous_ns = when_ns;
        first_ns = std::min(when_ns, first_ns.value_or(when_ns));
        last_ns = std::max(when_ns, last_ns.value_or(when_ns));
        ++records;
        wire_bytes += wire;
        captured_bytes += captured;
    }
    void on_hardware_time(std::int64_t difference_ns) {
        ++hardware_stamps;
        clock_ns_min = std::min(difference_ns, clock_ns_min.value_or(difference_ns));
        clock_ns_max = std::max(difference_ns, clock_ns_max.value_or(difference_ns));
    }
    void on_packet(const Packet& packet) {
        ++frames[std::size_t(packet.verdict)];
        if (packet.verdict == Verdict::kMalformed) ++malformed[std::size_t(packet.reason)];
        if (is_roce(packet) || packet.destination_port == kRoceUdpPort) {
            ++icrc[std::size_t(packet.icrc)];
        }
        if (!is_roce(packet)) return;
        roce_bytes += packet.frame_bytes;
        payload_bytes += packet.payload_bytes;
        ++ecn[packet.ecn & 3];
        ++opcodes[packet.roce.opcode];
        if (packet.ecn == kCe && Opcode(packet.roce.opcode) == Opcode::kRcAck) ++ce_on_ack;
        if (Opcode(packet.roce.opcode) == Opcode::kCnp) {
            ++cnp;
            if (packet.ecn == kCe) ++ce_on_cnp;
        }
    }
    static bool is_roce(const Packet& packet) {
        return packet.verdict == Verdict::kRoce || packet.verdict == Verdict::kRoceV1;
    }
    std::uint64_t roce_frames() const {
        return frames[std::size_t(Verdict::kRoce)] + frames[std::size_t(Verdict::kRoceV1)];
    }
    std::uint64_t pause_frames() const {
        return frames[std::size_t(Verdict::kPfc)] + frames[std::size_t(Verdict::kGlobalPause)];
    }
};

}  // namespace rocegen
