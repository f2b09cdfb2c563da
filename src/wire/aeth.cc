#include "rocegen/wire/aeth.h"

namespace rocegen {

std::string_view syndrome_name(std::uint8_t syndrome) {
    switch (ack_kind(syndrome)) {
        case AckKind::kAck:
            return "ack";
        case AckKind::kRnrNak:
            return "rnr_nak";
        case AckKind::kReserved:
            return "reserved";
        case AckKind::kNak:
            break;
    }
    switch (Nak(syndrome)) {
        case Nak::kSequence:
            return "nak_sequence";
        case Nak::kInvalidRequest:
            return "nak_invalid_request";
        case Nak::kRemoteAccess:
            return "nak_remote_access";
        case Nak::kRemoteOperation:
            return "nak_remote_operation";
        case Nak::kInvalidRdRequest:
            return "nak_invalid_rd_request";
    }
    return "nak_reserved";
}

}  // namespace rocegen
