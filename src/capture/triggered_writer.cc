#include "rocegen/capture/triggered_writer.h"

#include <algorithm>
#include <utility>

namespace rocegen {

TriggeredWriter::TriggeredWriter(PcapngWriter& writer, const TriggeredOptions& options,
                                 std::uint32_t interfaces)
    : writer_(writer), options_(options), interfaces_(interfaces) {}

bool TriggeredWriter::on_frame(std::uint32_t index, const Frame& frame, std::string_view why) {
    ++frames_;
    Interface& interface = interfaces_[index];
    if (!why.empty() && (open_ || windows_ < options_.windows)) {
        if (!open_) {
            ++windows_;
            write_kept({});
        }
        write(index, frame, why);
        for (Interface& each : interfaces_) each.left = options_.after;
        trigger_at_ = index;
        open_ = options_.after > 0;
        return true;
    }
    if (!open_ || interface.left == 0) {
        keep(interface, frame);
        return why.empty();
    }
    write(index, frame, {});
    if (--interface.left == 0 && index == trigger_at_) open_ = false;
    return true;
}

bool TriggeredWriter::finish(std::string_view why) {
    const bool any = std::any_of(interfaces_.begin(), interfaces_.end(),
                                 [](const Interface& each) { return each.count > 0; });
    if (!any || windows_ == options_.windows) return false;
    ++windows_;
    write_kept(why);
    return true;
}

void TriggeredWriter::keep(Interface& interface, const Frame& frame) {
    if (options_.before == 0) return;
    // Grows with what comes: a quiet interface takes no memory.
    if (interface.ring.size() < options_.before && interface.next == interface.ring.size()) {
        interface.ring.emplace_back();
    }
    Kept& kept = interface.ring[interface.next];
    const std::span<const std::byte> bytes =
        frame.bytes.first(std::min<std::size_t>(options_.snaplen, frame.bytes.size()));
    kept.number = frames_;
    kept.bytes.assign(bytes.begin(), bytes.end());
    kept.frame = frame;
    kept.frame.wire_bytes =
        frame.wire_bytes == 0 ? std::uint32_t(frame.bytes.size()) : frame.wire_bytes;
    kept.frame.bytes = kept.bytes;
    interface.next = (interface.next + 1) % options_.before;
    interface.count = std::min<std::size_t>(interface.count + 1, options_.before);
}

void TriggeredWriter::write(std::uint32_t interface, const Frame& frame, std::string_view why) {
    const PacketNote note{.comments = {&why, why.empty() ? 0u : 1u}, .direction = frame.direction};
    written_ += writer_.write(interface, frame.time_ns, frame.bytes, frame.wire_bytes, note);
}

void TriggeredWriter::write_kept(std::string_view why) {
    std::vector<std::pair<std::uint32_t, const Kept*>> all;
    for (std::uint32_t i = 0; i < interfaces_.size(); ++i) {
        Interface& interface = interfaces_[i];
        const std::size_t size = interface.ring.size();
        for (std::size_t back = interface.count; back > 0; --back) {
            all.emplace_back(i, &interface.ring[(interface.next + size - back) % size]);
        }
        interface.count = 0;
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.second->number < b.second->number; });
    for (const auto& [interface, kept] : all) {
        write(interface, kept->frame, kept == all.back().second ? why : std::string_view{});
    }
    // The memory of the frames stays for the next ones.
}

}  // namespace rocegen
