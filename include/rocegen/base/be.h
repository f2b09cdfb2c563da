/// Big-endian fields of wire formats. A field is a byte array, so structs of them have alignment 1
/// and no padding, and host and wire order never mix without an explicit conversion.
/// Thread: plain values, no shared state.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rocegen {

/// An unsigned field of N bytes, most significant first: Be<2>, Be<3>, Be<4>, Be<8>.
template <std::size_t N>
class Be {
public:
    constexpr Be() = default;
    /// A byte swap and one store: a loop over the bytes stays one with GCC 12.
    explicit constexpr Be(std::uint64_t host) {
        const auto swapped =
            std::bit_cast<std::array<std::uint8_t, 8>>(__builtin_bswap64(host << 8 * (8 - N)));
        for (std::size_t i = 0; i < N; ++i) bytes_[i] = swapped[i];
    }
    /// The value in host order. The fold lets GCC 12 emit one load and a byte swap.
    constexpr std::uint64_t host() const { return join(std::make_index_sequence<N>{}); }
    friend constexpr bool operator==(const Be&, const Be&) = default;

private:
    template <std::size_t... I>
    constexpr std::uint64_t join(std::index_sequence<I...>) const {
        return ((std::uint64_t{bytes_[I]} << 8 * (N - 1 - I)) | ...);
    }
    std::array<std::uint8_t, N> bytes_{};
};

static_assert(sizeof(Be<3>) == 3 && alignof(Be<8>) == 1);
static_assert(Be<3>{0x123456}.host() == 0x123456);

}  // namespace rocegen
