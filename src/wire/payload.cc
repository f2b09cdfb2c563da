#include "rocegen/wire/payload.h"

#include <array>

namespace rocegen {

const std::byte* payload_pattern() {
    static constexpr auto kPattern = [] {
        std::array<std::byte, kMaxPayloadBytes + 256> bytes{};
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = payload_byte(i);
        return bytes;
    }();
    return kPattern.data();
}

}  // namespace rocegen
