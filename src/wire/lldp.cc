#include "rocegen/wire/lldp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rocegen {
namespace {

enum Type : std::uint8_t { kEnd, kChassis, kPort, kTtl, kPortDescription, kSystemName, kOwn = 127 };
enum Subtype8021 : std::uint8_t { kEtsConfiguration = 9, kPfcConfiguration = 11 };
constexpr std::uint8_t kMacOfChassis = 4, kMacOfPort = 3;

std::uint8_t octet(std::span<const std::byte> bytes, std::size_t at) {
    return std::to_integer<std::uint8_t>(bytes[at]);
}

/// What came from outside is shown as plain text.
std::string text_of(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte b : bytes) {
        const char c = char(std::to_integer<std::uint8_t>(b));
        text += c >= ' ' && c <= '~' ? c : '?';
    }
    return text;
}

/// A chassis or port: its subtype, then a MAC address or text.
std::string id_of(std::span<const std::byte> value, std::uint8_t mac_subtype) {
    if (value.empty()) return {};
    const auto id = value.subspan(1);
    if (octet(value, 0) != mac_subtype || id.size() != 6) return text_of(id);
    std::array<std::uint8_t, 6> mac;
    for (std::size_t i = 0; i < 6; ++i) mac[i] = octet(id, i);
    return fmt::format("{:02x}", fmt::join(mac, ":"));
}

/// 802.1Qaz D.2.9 and D.2.11, behind the OUI and the subtype.
void read_dcbx(std::span<const std::byte> value, LldpNeighbor& out) {
    if (value.size() < 4) return;
    const bool ieee_8021 =
        octet(value, 0) == 0x00 && octet(value, 1) == 0x80 && octet(value, 2) == 0xc2;
    if (!ieee_8021) return;
    const auto body = value.subspan(4);
    if (octet(value, 3) == kPfcConfiguration && body.size() >= 2) {
        out.pfc_willing = (octet(body, 0) & 0x80) != 0;
        out.pfc_enabled = octet(body, 1);
    }
    if (octet(value, 3) == kEtsConfiguration && body.size() >= 13) {
        std::array<std::uint8_t, 8> classes;
        for (std::size_t p = 0; p < 8; ++p) {  // four bits each, priority 0 first
            const std::uint8_t pair = octet(body, 1 + p / 2);
            classes[p] = p % 2 == 0 ? pair >> 4 : pair & 15;
        }
        out.traffic_class_of = classes;
        for (std::size_t c = 0; c < 8; ++c) out.bandwidth_percent[c] = octet(body, 5 + c);
    }
}

}  // namespace

std::optional<LldpNeighbor> read_lldp(std::span<const std::byte> frame) {
    std::size_t at = 12;
    const auto type_at = [&frame](std::size_t i) {
        return i + 2 <= frame.size() ? unsigned(octet(frame, i) << 8 | octet(frame, i + 1)) : 0u;
    };
    while (type_at(at) == 0x8100 || type_at(at) == 0x88a8) at += 4;
    if (type_at(at) != 0x88cc) return {};
    LldpNeighbor out;
    bool chassis = false, port = false;
    for (at += 2; at + 2 <= frame.size();) {
        const unsigned head = type_at(at);
        const std::uint8_t type = std::uint8_t(head >> 9);
        const std::size_t length = head & 0x1ff;
        at += 2;
        if (type == kEnd || length > frame.size() - at) break;
        const auto value = frame.subspan(at, length);
        at += length;
        switch (type) {
            case kChassis:
                out.chassis = id_of(value, kMacOfChassis);
                chassis = true;
                break;
            case kPort:
                out.port = id_of(value, kMacOfPort);
                port = true;
                break;
            case kTtl:
                if (length >= 2)
                    out.ttl_seconds = std::uint16_t(octet(value, 0) << 8 | octet(value, 1));
                break;
            case kPortDescription:
                out.port_description = text_of(value);
                break;
            case kSystemName:
                out.system_name = text_of(value);
                break;
            case kOwn:
                read_dcbx(value, out);
                break;
            default:
                break;
        }
    }
    if (!chassis || !port) return {};
    return out;
}

}  // namespace rocegen
