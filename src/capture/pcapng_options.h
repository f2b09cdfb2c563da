/// Walks the options of a pcapng block (draft-ietf-opsawg-pcapng, 3.5).
#pragma once

#include "capture/decoder.h"

namespace rocegen::capture {

struct Option {
    std::uint16_t code = 0;
    std::span<const std::byte> value;

    std::string_view text() const {
        const std::string_view all{reinterpret_cast<const char*>(value.data()), value.size()};
        return all.substr(0, all.find('\0'));  // some writers end it in C's way
    }
};

class OptionReader {
public:
    OptionReader(std::span<const std::byte> options, bool big_endian)
        : left_(options), big_endian_(big_endian) {}
    bool next(Option& option) {
        if (left_.size() < 4) {
            bad_ = bad_ || !left_.empty();
            return false;
        }
        option.code = load<std::uint16_t>(left_.data(), big_endian_);
        const std::size_t bytes = load<std::uint16_t>(left_.data() + 2, big_endian_);
        if (option.code == 0) return false;  // opt_endofopt
        const std::size_t padded = (bytes + 3) & ~std::size_t{3};
        if (padded > left_.size() - 4) {
            bad_ = true;
            return false;
        }
        option.value = left_.subspan(4, bytes);
        left_ = left_.subspan(4 + padded);
        return true;
    }
    /// After next() was false: an option ran over the block's end.
    bool bad() const { return bad_; }

private:
    std::span<const std::byte> left_;
    bool big_endian_, bad_ = false;
};

}  // namespace rocegen::capture
