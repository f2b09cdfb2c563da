/// What a PCI Express link carries, from what Linux says of it. Pure.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rocegen {

/// Gb/s of packet data in one direction of a link like "16.0 GT/s PCIe x16": after the line code (8b/10b up to 5 GT/s,
/// 128b/130b up to 32, 236 bytes of a FLIT's 256 at 64), and with 24 bytes of headers for each 256 of data. Descriptors
/// and completions come on top: it is what a link cannot exceed. Empty: not understood.
inline std::optional<double> pcie_data_gbps(std::string_view link) {
    double transfers = 0;
    std::uint32_t lanes = 0;
    const char* const end = link.data() + link.size();
    const auto [behind, error] = std::from_chars(link.data(), end, transfers);
    const std::size_t x = link.rfind('x');
    if (error != std::errc{} || !std::string_view(behind, end).starts_with(" GT/s")) return {};
    if (x == std::string_view::npos) return {};
    const auto [stop, wrong] = std::from_chars(link.data() + x + 1, end, lanes);
    if (wrong != std::errc{} || stop != end || lanes == 0 || transfers <= 0) return {};
    const double code = transfers <= 5 ? 8.0 / 10 : transfers <= 32 ? 128.0 / 130 : 236.0 / 256;
    return transfers * lanes * code * 256 / (256 + 24);
}

/// "8.0 GT/s PCIe x16 carries at most 115 Gb/s, and the plan sends 184 there: the bus is too slow for it". `need_gbps`: of
/// frames, L1, so a little more than what crosses the bus. Empty: the link is not understood.
inline std::string pcie_against_plan(std::string_view link, double need_gbps) {
    const std::optional<double> carries = pcie_data_gbps(link);
    if (!carries) return {};
    return fmt::format("{} carries at most {:.0f} Gb/s, and the plan sends {:.3g} there: {}", link,
                       *carries, need_gbps,
                       need_gbps <= *carries ? "enough" : "the bus is too slow for it");
}

}  // namespace rocegen
