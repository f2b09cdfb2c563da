/// The sections of the key table, one file each. docs/profiles.md has the keys in this order.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "profile/key_table.h"

namespace rocegen {

/// What the tables write their ranges in; see Key's min and max.
namespace key_units {
using K = KeyKind;
constexpr std::uint64_t kNs = 1'000, kUs = 1'000 * kNs, kSecond = 1'000'000 * kUs;
constexpr std::uint64_t kHours1000 = 3'600'000 * kSecond;
constexpr std::uint64_t kMax24 = 0xff'ffff, kMax32 = 0xffff'ffff, kMax64 = ~std::uint64_t{0};
constexpr std::uint64_t kGiB = 1u << 30, kOne = std::uint64_t{1} << 32;  // 1 in 2^-32
constexpr std::uint64_t kMbps = 1'000'000, kTbps = 1'000'000 * kMbps;
}  // namespace key_units

// Columns: file, path, kind, default, min, max, choices, what.
std::span<const Key> general_keys();
std::span<const Key> flows_keys();
std::span<const Key> endpoints_keys();
std::span<const Key> patterns_keys();
std::span<const Key> frames_keys();
std::span<const Key> storms_keys();
std::span<const Key> verdict_keys();
std::span<const Key> ports_keys();
std::span<const Key> qos_keys();
std::span<const Key> topology_keys();
std::span<const Key> switch_keys();
std::span<const Key> hazards_keys();

}  // namespace rocegen
