// Any text as a file of `replay --map`, and a frame behind it: wrong entries are said with their place, and a frame that
// is rewritten keeps its length, its verdict, and an ICRC that was right.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "rocegen/capture/rewrite.h"
#include "rocegen/profile/load_map.h"
#include "rocegen/wire/parse.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace rocegen;
    constexpr std::string_view kSplit = "\n---\n";
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t split = std::min(text.find(kSplit), size);
    Diagnostics diagnostics;
    RewriteMap map;
    bool wrong = false;
    for (const MapEntry& entry : load_map_text(text.substr(0, split), "m.yaml", diagnostics)) {
        wrong |= !map.add(entry.kind, entry.from, entry.to).empty();
    }
    const std::string_view rest = text.substr(std::min(split + kSplit.size(), size));
    std::vector<std::byte> frame(rest.size());
    for (std::size_t i = 0; i < rest.size(); ++i) frame[i] = std::byte(rest[i]);
    const std::vector<std::byte> before = frame;
    const Packet was = parse(before, Picoseconds{0}, {.check_icrc = true});
    const bool changed = map.rewrite(frame);
    require(changed || frame == before);
    require(!map.empty() || frame == before);
    const Packet is = parse(frame, Picoseconds{0}, {.check_icrc = true});
    require(is.frame_bytes == was.frame_bytes && is.payload_bytes == was.payload_bytes);
    if (was.icrc == IcrcVerdict::kGood) require(is.icrc == IcrcVerdict::kGood);
    if (!wrong && size > 40) {
        complete(frame, frame.size() / 2);
        require(frame.size() == before.size());
    }
    return 0;
}
