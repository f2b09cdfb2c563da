#include "rocegen/traffic/transmitter.h"

namespace rocegen {

void Transmitter::begin_measuring(Picoseconds now) noexcept {
    if (measuring_) return;
    measuring_ = true;
    for (Source& source : sources_) {
        for (std::uint32_t i = 0; i < source.stream_count; ++i) {
            const std::uint32_t index = source.first_stream + i;
            const Stream& stream = streams_[index];
            MeasureStart::Mark mark{stream.frames, stream.frame_bytes, stream.psn, {}};
            if (i < source.shapes_sent.size()) mark.shapes = source.shapes_sent[i];
            start_->set(index, mark);
        }
        source.counters = {};
    }
    for (FlowBursts& flow : flow_bursts_) {
        for (BurstStart& burst : flow.bursts) burst = {};
    }
    if (own_lateness_) own_lateness_->clear();
    frames_before_ = totals_.frames.read();
    for (std::uint8_t p = 0; p < 8; ++p) paused_before_[p] = paused_time(p, now);
}

}  // namespace rocegen
