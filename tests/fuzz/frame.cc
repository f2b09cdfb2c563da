// Any bytes as a frame: parse() with every option, whole and as a part of a longer one. Two bytes in
// front choose the options and how much longer. What is read must agree between the options.
#include <cstdlib>
#include <string>
#include <vector>

#include "rocegen/wire/neighbor.h"
#include "rocegen/wire/parse.h"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace rocegen;
    if (size < 2) return 0;
    // A copy of just the frame: a read past its end is seen.
    const auto* begin = reinterpret_cast<const std::byte*>(data) + 2;
    const std::vector<std::byte> frame(begin, begin + (size - 2));
    ParseOptions options{.check_icrc = bool(data[0] & 1), .check_checksums = bool(data[0] & 2)};
    if (data[0] & 4) options.wire_bytes = std::uint32_t(frame.size() + data[1] * (data[0] >> 3));
    const Packet packet = parse(frame, Picoseconds{1}, options);

    require((packet.verdict == Verdict::kMalformed) == (packet.reason != Malformed::kNone));
    require(packet.frame_bytes >= frame.size());
    require(packet.payload_bytes <= packet.frame_bytes || packet.verdict == Verdict::kMalformed);
    require(packet.icrc == IcrcVerdict::kUnchecked || options.check_icrc);
    require(!to_text(packet.verdict).empty() && !to_text(packet.reason).empty());
    require(!to_text(packet.roce.cm).empty());
    // The options add verdicts and change nothing else.
    Packet plain = parse(frame, Picoseconds{1}, {.wire_bytes = options.wire_bytes});
    plain.icrc = packet.icrc;
    plain.ip_checksum = packet.ip_checksum;
    plain.checksum = packet.checksum;
    require(plain == packet);

    // What is read as a question or an answer can be said again.
    if (const auto neighbor = read_neighbor(frame)) make_neighbor_frame(*neighbor);
    return 0;
}
