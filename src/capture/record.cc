#include "rocegen/capture/record.h"

#include <fmt/format.h>

namespace rocegen {

bool is_readable(LinkType type) {
    switch (type) {
        case LinkType::kNull:
        case LinkType::kEthernet:
        case LinkType::kRawDlt12:
        case LinkType::kRawDlt14:
        case LinkType::kRaw:
        case LinkType::kLoop:
        case LinkType::kSll:
        case LinkType::kErf:
        case LinkType::kIpv4:
        case LinkType::kIpv6:
        case LinkType::kInfiniband:
        case LinkType::kSll2:
            return true;
        case LinkType::kUnknown:
            break;
    }
    return false;
}

std::string to_text(LinkType type) {
    switch (type) {
        case LinkType::kNull:
            return "BSD loopback";
        case LinkType::kEthernet:
            return "Ethernet";
        case LinkType::kRawDlt12:
        case LinkType::kRawDlt14:
        case LinkType::kRaw:
            return "raw IP";
        case LinkType::kLoop:
            return "OpenBSD loopback";
        case LinkType::kSll:
            return "Linux SLL";
        case LinkType::kErf:
            return "ERF";
        case LinkType::kIpv4:
            return "raw IPv4";
        case LinkType::kIpv6:
            return "raw IPv6";
        case LinkType::kInfiniband:
            return "InfiniBand";
        case LinkType::kSll2:
            return "Linux SLL2";
        case LinkType::kUnknown:
            return "unknown link type";
    }
    return fmt::format("link type {}", std::uint32_t(type));
}

std::string_view to_text(CaptureFlag flag) {
    switch (flag) {
        case CaptureFlag::kCutShort:
            return "cut short";
        case CaptureFlag::kRecordTooLong:
            return "impossible length";
        case CaptureFlag::kBadBlock:
            return "bad block length";
        case CaptureFlag::kBadHeader:
            return "bad section header";
        case CaptureFlag::kBadCompression:
            return "damaged compression";
        case CaptureFlag::kZeroFilled:
            return "zeros between records";
        case CaptureFlag::kCapturedOverBlock:
            return "captured length over block";
        case CaptureFlag::kBadOption:
            return "bad option length";
        case CaptureFlag::kTooManyInterfaces:
            return "too many interfaces";
        case CaptureFlag::kTrailingBytes:
            return "bytes behind compressed data";
        case CaptureFlag::kEmptyRecord:
            return "empty record";
        case CaptureFlag::kCapturedOverLength:
            return "captured length over packet length";
        case CaptureFlag::kCapturedOverSnaplen:
            return "captured length over snap length";
        case CaptureFlag::kNsInUsFile:
            return "ns in a us file";
        case CaptureFlag::kFractionTooLarge:
            return "fraction of a second or more";
        case CaptureFlag::kTimeBackwards:
            return "time backwards";
        case CaptureFlag::kTimeOutOfRange:
            return "time out of range";
        case CaptureFlag::kNoTime:
            return "no time";
        case CaptureFlag::kUnknownLinkType:
            return "unknown link type";
        case CaptureFlag::kUnknownInterface:
            return "interface not described";
        case CaptureFlag::kSnapped:
            return "cut by snap length";
        case CaptureFlag::kModifiedHeader:
            return "modified record headers";
        case CaptureFlag::kConcatenated:
            return "concatenated files";
    }
    return "";
}

void CaptureIssues::end(CaptureFlag flag, std::uint64_t offset, std::uint64_t record,
                        std::string sentence) {
    add(flag, offset, record);
    end_reason_ = std::move(sentence);
}

bool CaptureIssues::damaged() const {
    for (std::size_t i = 0; i < kCaptureFlagCount; ++i) {
        if (is_damage(CaptureFlag(i)) && counts_[i].records > 0) return true;
    }
    return false;
}

}  // namespace rocegen
