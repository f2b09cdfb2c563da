#include "profile/read_capture_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <string_view>

#include "rocegen/capture/filter.h"
#include "rocegen/capture/reader.h"
#include "rocegen/capture/unwrap.h"

namespace rocegen {
namespace {

/// 24 bytes each.
constexpr std::size_t kMostFrames = 10'000'000;
/// As far as a plan's times go.
constexpr __int128 kLongestPs = std::chrono::duration_cast<Picoseconds>(1000h).count();

}  // namespace

bool is_capture(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 9> kMagic{
        "\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1",
        "\xa1\xb2\x3c\x4d", "\x34\xcd\xb2\xa1", "\xa1\xb2\xcd\x34",
        "\x0a\x0d\x0d\x0a", "\x1f\x8b",         "\x28\xb5\x2f\xfd"};
    std::array<char, 4> first{};
    std::ifstream{path, std::ios::binary}.read(first.data(), first.size());
    const std::string_view bytes{first.data(), first.size()};
    return std::any_of(kMagic.begin(), kMagic.end(),
                       [bytes](std::string_view magic) { return bytes.starts_with(magic); });
}

std::vector<TraceEntry> read_capture_trace(const std::filesystem::path& path,
                                           const std::string& filter, Diagnostics& diagnostics) {
    const Place place{path.string(), 0, 0};
    std::vector<TraceEntry> trace;
    const auto refuse = [&](std::string_view why) {
        diagnostics.error(place, std::string{why});
        return std::vector<TraceEntry>{};
    };
    try {
        std::optional<FrameFilter> wanted;
        if (!filter.empty()) wanted.emplace(filter);
        CaptureReader reader(path.string());
        Unwrapper unwrapper;
        std::optional<CaptureTime> first;
        for (CaptureRecord record; reader.next(record);) {
            const LinkPayload link = read_link(record);
            const Unwrapped& frame = unwrapper.unwrap(link);
            if (record.bytes.empty() || record.has(CaptureFlag::kNoTime)) continue;
            if (wanted && !wanted->matches(frame.frame, frame.wire_bytes)) continue;
            const CaptureTime time = link.hardware_time.value_or(record.time);
            if (!first) first = time;
            __int128 ps = (__int128{time.ns} - first->ns) * 1000 + time.picos - first->picos;
            if (!time.in_range() || !first->in_range() || ps > kLongestPs) {
                return refuse(
                    fmt::format("frame {} is over 1000 h behind the first one", record.index + 1));
            }
            if (!trace.empty()) ps = std::max<__int128>(ps, trace.back().at.count());
            const Picoseconds at{std::int64_t(ps)};
            if (!trace.empty() && trace.back().at == at) {
                ++trace.back().count;
                continue;
            }
            if (trace.size() == kMostFrames) {
                return refuse(
                    fmt::format("has over {} frames; choose some with filter", kMostFrames));
            }
            trace.push_back({at, Pattern::Amount::kPackets, 1});
        }
        if (trace.empty()) {
            return refuse(filter.empty() ? "this capture has no frame"
                                         : "no frame of this capture matches " + filter);
        }
        if (reader.issues().damaged()) {
            const std::string& why = reader.issues().end_reason();
            diagnostics.warning(place, why.empty() ? "the file is damaged" : why);
        }
    } catch (const Failure& failure) {
        return refuse(failure.what());
    }
    return trace;
}

}  // namespace rocegen
