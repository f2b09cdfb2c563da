#include "rocegen/analysis/capture_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/wire/opcode.h"

namespace rocegen {

CaptureSeries::Flow& CaptureSeries::flow_of(const Packet& packet) {
    std::string key(reinterpret_cast<const char*>(packet.source_ip.bytes.data()),
                    packet.source_ip.bytes.size());
    key.append(reinterpret_cast<const char*>(packet.destination_ip.bytes.data()),
               packet.destination_ip.bytes.size());
    const std::uint32_t qp = packet.roce.dest_qp;
    key.append(reinterpret_cast<const char*>(&qp), sizeof qp);
    const auto found = index_.find(key);
    if (found != index_.end()) return flows_[found->second];
    if (flows_.size() < kMostFlows) {
        index_.emplace(std::move(key), std::uint32_t(flows_.size()));
        flows_.push_back({fmt::format("{} -> {} QP {:#x}", to_text(packet.source_ip),
                                      to_text(packet.destination_ip), qp),
                          {},
                          {}});
    } else if (flows_.size() == kMostFlows) {
        flows_.push_back({"all others", {}, {}});
    }
    return flows_.back();
}

void CaptureSeries::on_packet(const Packet& packet, std::int64_t when_ns) {
    if (!started_) first_ns_ = when_ns;
    started_ = true;
    constexpr std::int64_t kLongest =
        1000LL * 3600 * 1'000'000'000;  // ns that picoseconds can hold
    const std::int64_t since = std::clamp<std::int64_t>(when_ns - first_ns_, 0, kLongest);
    last_ = std::max(last_, Picoseconds{since * 1000});
    const Picoseconds at = last_;
    if (packet.verdict == Verdict::kPfc) {
        for (unsigned p = 0; p < 8; ++p) {
            const bool stops =
                packet.pause.class_enable_vector >> p & 1u && packet.pause.quanta[p] > 0;
            if (stops) xoff_[p].add(config_, at, 1);
        }
    }
    if (packet.verdict != Verdict::kRoce && packet.verdict != Verdict::kRoceV1) return;
    if (Opcode(packet.roce.opcode) == Opcode::kCnp) return cnp_.add(config_, at, 1);
    Flow& flow = flow_of(packet);
    flow.bytes.add(config_, at, l2_bytes(packet.frame_bytes));
    if (packet.ecn == kCe) flow.ce.add(config_, at, 1);
}

}  // namespace rocegen
