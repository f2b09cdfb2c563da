// Reads any bytes as a capture file, and takes each record out of its link type and tunnels. The
// first byte chooses how: as they are, behind a good file header, or as one record of a link type.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "rocegen/base/error.h"
#include "rocegen/capture/reader.h"
#include "rocegen/capture/unwrap.h"
#include "rocegen/wire/parse.h"

namespace {

using namespace rocegen;

void use(const CaptureRecord& record, Unwrapper& unwrapper) {
    const Unwrapped& frame = unwrapper.unwrap(record);
    const Packet packet =
        parse(frame.frame, Picoseconds{0}, {.check_icrc = true, .wire_bytes = frame.wire_bytes});
    if (packet.verdict == Verdict::kRoce && frame.frame.size() < 14) std::abort();
    if (frame.layer_count > Unwrapped::kMaxLayers) std::abort();
    // What a record points to must be readable to its last byte.
    unsigned sum = 0;
    for (const std::byte b : record.bytes) sum += unsigned(b);
    for (const std::byte b : record.options) sum += unsigned(b);
    for (const char c : record.comment) sum += unsigned(c);
    if (sum == 0xdeadbeef) std::abort();
}

void read(std::span<const std::byte> bytes) {
    try {
        CaptureReader reader(memory_input(bytes), "fuzz", 64);
        Unwrapper unwrapper;
        std::uint64_t records = 0;
        for (CaptureRecord record; reader.next(record); ++records) use(record, unwrapper);
        if (records != reader.records()) std::abort();
        if (reader.interfaces().size() > kMaxInterfaces) std::abort();
    } catch (const Failure& failure) {
        if (*failure.what() == 0) std::abort();
    }
}

void unwrap(LinkType type, std::span<const std::byte> bytes) {
    CaptureRecord record;
    record.link_type = type;
    record.bytes = bytes;
    record.wire_bytes = std::uint32_t(bytes.size());
    Unwrapper unwrapper;
    use(record, unwrapper);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr LinkType kTypes[] = {LinkType::kEthernet,  LinkType::kRaw,  LinkType::kNull,
                                   LinkType::kSll,       LinkType::kSll2, LinkType::kErf,
                                   LinkType::kInfiniband};
    // Copies of just these bytes: a read past them is seen.
    const auto all = std::as_bytes(std::span(data, size));
    const std::vector<std::byte> bytes(all.begin() + 1, all.end());
    if (data[0] < std::size(kTypes)) {
        unwrap(kTypes[data[0]], bytes);
    } else {
        read(bytes);
    }
    return 0;
}
