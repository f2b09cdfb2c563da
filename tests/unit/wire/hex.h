/// Frames for tests, as hex or by number.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rocegen/base/be.h"
#include "rocegen/wire/headers.h"
#include "rocegen/wire/icrc.h"

namespace rocegen::test {

inline std::vector<std::byte> from_hex(std::string_view hex) {
    std::vector<std::byte> bytes;
    const auto digit = [](char c) { return unsigned(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); };
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back(std::byte(digit(hex[i]) << 4 | digit(hex[i + 1])));
    }
    return bytes;
}

/// Puts the right ICRC at the end of a RoCEv2 frame with an untagged Ethernet header.
inline void seal(std::vector<std::byte>& frame) {
    const auto datagram = std::span<const std::byte>(frame).subspan(14);
    store(frame.data() + frame.size() - 4, icrc(datagram.first(datagram.size() - 4)));
}

/// An RC SEND_ONLY of 64 bytes, 00..3f, from 10.0.0.1 to 10.0.0.2: 122 bytes.
inline std::vector<std::byte> data_frame(std::uint32_t psn, std::uint32_t dest_qp = 0x11) {
    auto frame = from_hex(
        "0200000000020200000000010800456a006c12344000401113e10a0000010a000002c00112b7005800000440ff"
        "ff"
        "0000001100000064000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324"
        "25"
        "262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3fc572945f");
    store(frame.data() + 47, Be<3>{dest_qp});
    store(frame.data() + 51, Be<3>{psn});
    seal(frame);
    return frame;
}

}  // namespace rocegen::test
