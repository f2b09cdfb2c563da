#include "rocegen/wire/opcode.h"
#include "wire/reader.h"

namespace rocegen {
namespace {

bool read_extensions(Reader& reader, const OpcodeInfo& opcode, Roce& roce) {
    const auto word = [&reader](std::uint32_t& into, std::uint32_t mask) {
        Word header;
        if (!reader.take(header)) return false;
        into = std::uint32_t(header.value.host()) & mask;
        return true;
    };
    if (opcode.extensions & kHasXrceth && !word(roce.xrc_srq, 0xff'ffff)) return false;
    if (opcode.extensions & kHasDeth) {
        Deth deth;
        if (!reader.take(deth)) return false;
        roce.queue_key = std::uint32_t(deth.queue_key.host());
        roce.source_qp = std::uint32_t(deth.source_qp.host());
    }
    if (opcode.extensions & kHasFeth && !word(roce.flush, ~0u)) return false;
    if (opcode.extensions & kHasReth) {
        Reth reth;
        if (!reader.take(reth)) return false;
        roce.virtual_address = reth.virtual_address.host();
        roce.remote_key = std::uint32_t(reth.remote_key.host());
        roce.dma_bytes = std::uint32_t(reth.dma_bytes.host());
    }
    if (opcode.extensions & kHasAtomicEth) {
        AtomicEth atomic;
        if (!reader.take(atomic)) return false;
        roce.virtual_address = atomic.virtual_address.host();
        roce.remote_key = std::uint32_t(atomic.remote_key.host());
        roce.swap_or_add = atomic.swap_or_add.host();
        roce.compare = atomic.compare.host();
    }
    if (opcode.extensions & kHasAeth) {
        Aeth aeth;
        if (!reader.take(aeth)) return false;
        roce.syndrome = aeth.syndrome;
        roce.msn = std::uint32_t(aeth.msn.host());
    }
    if (opcode.extensions & kHasAtomicAckEth) {
        Be<8> original;
        if (!reader.take(original)) return false;
        roce.swap_or_add = original.host();
    }
    if (opcode.extensions & kHasImmDt && !word(roce.immediate, ~0u)) return false;
    if (opcode.extensions & kHasIeth && !word(roce.remote_key, ~0u)) return false;
    CnpReserved reserved;  // a receiver ignores what is in it
    return !(opcode.extensions & kHasReserved) || reader.take(reserved);
}

/// Which message of RDMA-CM a datagram to QP 1 is (IBTA Vol 1, 12.6).
CmMessage cm_message(std::span<const std::byte> payload) {
    if (payload.size() < sizeof(MadHeader)) return CmMessage::kNone;
    const auto mad = load<MadHeader>(payload.data());
    if (mad.base_version != 1 || mad.management_class != kMadClassCm) return CmMessage::kNone;
    const std::uint64_t attribute = mad.attribute.host();
    const bool known =
        attribute >= std::uint64_t(CmMessage::kReq) && attribute <= std::uint64_t(CmMessage::kApr);
    return known ? CmMessage(attribute) : CmMessage::kOther;
}

/// The connection of a REQ, REP or DREQ, as far as the capture has it.
CmConnection cm_connection(CmMessage message, std::span<const std::byte> payload) {
    Reader reader{payload};
    CmConnection connection;
    if (!reader.skip(sizeof(MadHeader))) return connection;
    const auto word = [](const auto& field) { return std::uint32_t(field.host()); };
    if (CmReq req; message == CmMessage::kReq && reader.take(req)) {
        connection = {word(req.local_id), 0, word(req.qp), Psn{word(req.first_psn)}};
    } else if (CmRep rep; message == CmMessage::kRep && reader.take(rep)) {
        connection = {word(rep.local_id), word(rep.remote_id), word(rep.qp),
                      Psn{word(rep.first_psn)}};
    } else if (CmDreq dreq; message == CmMessage::kDreq && reader.take(dreq)) {
        connection = {word(dreq.local_id), word(dreq.remote_id), word(dreq.remote_qp), Psn{}};
    }
    return connection;
}

}  // namespace

void read_roce(Packet& packet, Reader reader, std::size_t bytes, Verdict whole) {
    Bth bth;
    if (!reader.take(bth)) return malformed(packet, Malformed::kShortBth);
    Roce& roce = packet.roce;
    roce.opcode = bth.opcode;
    roce.pad_bytes = bth.flags >> 4 & 3;
    roce.solicited = bth.flags & kBthSolicited;
    roce.mig_req = bth.flags & kBthMigReq;
    roce.fecn = bth.ecn & kBthFecn;
    roce.becn = bth.ecn & kBthBecn;
    roce.ack_req = bth.ack_req & kBthAckReq;
    roce.pkey = std::uint16_t(bth.pkey.host());
    roce.dest_qp = std::uint32_t(bth.dest_qp.host());
    roce.psn = Psn{std::uint32_t(bth.psn.host())};
    if (bth.flags & 0x0f) return malformed(packet, Malformed::kTransportVersion);
    const OpcodeInfo& opcode = info(bth.opcode);
    if (opcode.name.empty()) return malformed(packet, Malformed::kUnknownOpcode);
    const std::size_t headers = sizeof(Bth) + opcode.extension_bytes;
    if (bytes < headers) return malformed(packet, Malformed::kShortExtension);
    if (bytes < headers + kIcrcBytes) return malformed(packet, Malformed::kShortIcrc);
    if (!read_extensions(reader, opcode, roce))
        return malformed(packet, Malformed::kShortExtension);
    const std::size_t padded = bytes - headers - kIcrcBytes;
    if (padded < roce.pad_bytes || padded % 4 != 0) return malformed(packet, Malformed::kPadCount);
    packet.payload_bytes = std::uint16_t(padded - roce.pad_bytes);
    if (!payload_fits(opcode.payload, packet.payload_bytes)) {
        return malformed(packet, Malformed::kPayloadLength);
    }
    packet.verdict = whole;

    reader.limit(packet.payload_bytes);
    if (opcode.extensions & kHasDeth && roce.dest_qp == 1) {
        roce.cm = cm_message(reader.left());
        if (roce.cm != CmMessage::kNone) roce.cm_connection = cm_connection(roce.cm, reader.left());
    }
    read_tag(packet, reader.left());
}

}  // namespace rocegen
