#include "rocegen/analysis/rx_series.h"

#include <algorithm>

namespace rocegen {

RxSeries::RxSeries(std::size_t flow_count) : flows(std::min(flow_count, kFlowsWithSeries)) {
    for (Flow& flow : flows) {
        flow.bytes.prepare(config);
        flow.ce.prepare(config);
    }
    cnp.prepare(config);
    for (AmountSeries& series : xoff) series.prepare(config);
}

void RxSeries::on_pfc(const Packet& packet) noexcept {
    for (unsigned p = 0; p < 8; ++p) {
        const bool stops = packet.pause.class_enable_vector >> p & 1u && packet.pause.quanta[p] > 0;
        if (stops) xoff[p].add(config, packet.when, 1);
    }
}

}  // namespace rocegen
