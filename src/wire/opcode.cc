#include "rocegen/wire/opcode.h"

#include <cstddef>

namespace rocegen {
namespace {

constexpr std::uint8_t extension_length(std::uint16_t extensions) {
    constexpr std::array<std::uint8_t, 11> kLength{4, 4, 8, 16, 28, 4, 8, 4, 4, 4, 16};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kLength.size(); ++i) {
        if (extensions & 1u << i) sum += kLength[i];
    }
    return std::uint8_t(sum);
}

struct Row {
    std::uint8_t operation;
    std::array<std::string_view, 3> names;  // RC, UC, XRC; empty: not in that service
    std::uint16_t extensions;
    Segment segment;
    PayloadRule payload;
    bool response = false;
};

using enum Segment;
using enum PayloadRule;

#define ROCEGEN_RC_UC(operation_name) \
    { "RC_" operation_name, "UC_" operation_name, "XRC_" operation_name }
#define ROCEGEN_RC(operation_name) \
    { "RC_" operation_name, "", "XRC_" operation_name }
constexpr auto kRows = std::to_array<Row>({
    {0x00, ROCEGEN_RC_UC("SEND_FIRST"), 0, kFirst, kFull},
    {0x01, ROCEGEN_RC_UC("SEND_MIDDLE"), 0, kMiddle, kFull},
    {0x02, ROCEGEN_RC_UC("SEND_LAST"), 0, kLast, kSome},
    {0x03, ROCEGEN_RC_UC("SEND_LAST_IMM"), kHasImmDt, kLast, kSome},
    {0x04, ROCEGEN_RC_UC("SEND_ONLY"), 0, kOnly, kAny},
    {0x05, ROCEGEN_RC_UC("SEND_ONLY_IMM"), kHasImmDt, kOnly, kAny},
    {0x06, ROCEGEN_RC_UC("WRITE_FIRST"), kHasReth, kFirst, kFull},
    {0x07, ROCEGEN_RC_UC("WRITE_MIDDLE"), 0, kMiddle, kFull},
    {0x08, ROCEGEN_RC_UC("WRITE_LAST"), 0, kLast, kSome},
    {0x09, ROCEGEN_RC_UC("WRITE_LAST_IMM"), kHasImmDt, kLast, kSome},
    {0x0a, ROCEGEN_RC_UC("WRITE_ONLY"), kHasReth, kOnly, kAny},
    {0x0b, ROCEGEN_RC_UC("WRITE_ONLY_IMM"), kHasReth | kHasImmDt, kOnly, kAny},
    {0x0c, ROCEGEN_RC("READ_REQUEST"), kHasReth, kOnly, kNone},
    {0x0d, ROCEGEN_RC("READ_RESPONSE_FIRST"), kHasAeth, kFirst, kFull, true},
    {0x0e, ROCEGEN_RC("READ_RESPONSE_MIDDLE"), 0, kMiddle, kFull, true},
    {0x0f, ROCEGEN_RC("READ_RESPONSE_LAST"), kHasAeth, kLast, kSome, true},
    {0x10, ROCEGEN_RC("READ_RESPONSE_ONLY"), kHasAeth, kOnly, kAny, true},
    {0x11, ROCEGEN_RC("ACKNOWLEDGE"), kHasAeth, kOnly, kNone, true},
    {0x12, ROCEGEN_RC("ATOMIC_ACKNOWLEDGE"), kHasAeth | kHasAtomicAckEth, kOnly, kNone, true},
    {0x13, ROCEGEN_RC("COMPARE_SWAP"), kHasAtomicEth, kOnly, kNone},
    {0x14, ROCEGEN_RC("FETCH_ADD"), kHasAtomicEth, kOnly, kNone},
    {0x16, ROCEGEN_RC("SEND_LAST_INVALIDATE"), kHasIeth, kLast, kSome},
    {0x17, ROCEGEN_RC("SEND_ONLY_INVALIDATE"), kHasIeth, kOnly, kAny},
    {0x1c, ROCEGEN_RC("FLUSH"), kHasFeth | kHasReth, kOnly, kNone},
    {0x1d, ROCEGEN_RC("ATOMIC_WRITE"), kHasReth, kOnly, kEight},
});
#undef ROCEGEN_RC
#undef ROCEGEN_RC_UC

constexpr std::array<OpcodeInfo, 256> make_table() {
    std::array<OpcodeInfo, 256> table{};
    const auto add = [&table](unsigned opcode, std::string_view name, std::uint16_t extensions,
                              Segment segment, PayloadRule payload, bool response) {
        if (name.empty()) return;
        table[opcode] = {name,    extensions, segment,
                         payload, response,   extension_length(extensions)};
    };
    for (const Row& row : kRows) {
        // A responder's XRC packet carries no XRCETH.
        const auto xrc = std::uint16_t(row.extensions | (row.response ? 0 : kHasXrceth));
        add(row.operation, row.names[0], row.extensions, row.segment, row.payload, row.response);
        add(0x20u + row.operation, row.names[1], row.extensions, row.segment, row.payload, false);
        add(0xa0u + row.operation, row.names[2], xrc, row.segment, row.payload, row.response);
    }
    add(0x64, "UD_SEND_ONLY", kHasDeth, kOnly, kAny, false);
    add(0x65, "UD_SEND_ONLY_IMM", kHasDeth | kHasImmDt, kOnly, kAny, false);
    add(0x81, "CNP", kHasReserved, kOnly, kNone, false);
    return table;
}

}  // namespace

constexpr std::array<OpcodeInfo, 256> kOpcodes = make_table();

}  // namespace rocegen
