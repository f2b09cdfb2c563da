/// What stands in a flow's frames.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "flows[].tag", K::kBool, "true", 0, 0, "",
     "Whether payloads start with the measurement tag (24 bytes)."},
    {P, "flows[].qp_order", K::kChoice, "round-robin", 0, 0, "round-robin | shuffled",
     "How a source host goes round its queue pairs, packet by packet."},
    {P, "flows[].dest_qp", K::kCount, "chosen", 0, kMax24, "",
     "First destination QP of each destination host; each further one is 1 more."},
    {P, "flows[].source_qp", K::kCount, "chosen", 0, kMax24, "",
     "First source QP of each source host; each further one is 1 more."},
    {P, "flows[].shared_qp", K::kBool, "false", 0, 0, "",
     "Whether the pinned queue pairs may be other flows' as well: several verbs on one QP. Frames "
     "without a tag are then counted for the first of these flows."},
    {P, "flows[].psn", K::kCount, "from the seed", 0, kMax24, "", "First PSN of every QP."},
    {P, "flows[].udp_source_port", K::kCount, "see source_ports", 0, 0xffff, "",
     "UDP or TCP source port of every QP."},
    {P, "flows[].source_ports", K::kChoice, "spread", 0, 0, "spread | flow-label",
     "Source ports that are not pinned: spread: each QP has its own of 49152 to 65535; flow-label: "
     "Linux's rule, from `flow_label`, or if that is 0 from the two QP numbers."},
    {P, "flows[].destination_port", K::kCount, "5001", 1, 0xffff, "",
     "Of TCP and UDP; not 4791, which is RoCEv2's."},
    {P, "flows[].flow_label", K::kCount, "0", 0, 0xf'ffff, "", "Of the IPv6 header."},
    {P, "flows[].virtual_address", K::kCount, "0", 0, kMax64, "",
     "RETH or AtomicETH: of writes, reads, atomics and flush."},
    {P, "flows[].remote_key", K::kCount, "0", 0, kMax32, "",
     "RETH or AtomicETH; of send-inv the key that is invalidated (IETH)."},
    {P, "flows[].immediate", K::kCount, "0", 0, kMax32, "", "ImmDt: of write-imm and send-imm."},
    {P, "flows[].queue_key", K::kCount, "0x11111111", 0, kMax32, "",
     "Q_Key of the DETH: of transport ud."},
    {P, "flows[].srqn", K::kCount, "0", 0, kMax24, "",
     "XRCETH: shared receive queue, of transport xrc."},
    {P, "flows[].operand", K::kCount, "0", 0, kMax64, "",
     "What compare-swap swaps in, what fetch-add adds, the earlier value in an atomic-ack."},
    {P, "flows[].compare", K::kCount, "0", 0, kMax64, "", "What compare-swap compares with."},
    {P, "flows[].syndrome", K::kCount, "ack and responses 0x1f, nak 0x60, rnr 0x2e", 0, 255, "",
     "AETH: 0x1f ACK without credits; 0x20 + timer code: RNR NAK; 0x60 to 0x64: NAK for PSN, "
     "request, "
     "access, operation, RD."},
    {P, "flows[].msn", K::kCount, "0", 0, kMax24, "", "Message sequence number of the AETH."},
    {P, "flows[].flush", K::kCount, "0", 0, kMax32, "",
     "FETH: placement type and selectivity level."},
    {P, "flows[].ack_req", K::kChoice, "last; of responses and cnp none", 0, 0, "last | all | none",
     "Which packets of a message ask for an ACK."},
    {P, "flows[].solicited", K::kBool, "false", 0, 0, "",
     "Solicited event bit, in a message's last packet."},
    {P, "flows[].mig_req", K::kBool, "false", 0, 0, "", "MigReq bit of the BTH."},
    {P, "flows[].fecn", K::kBool, "false", 0, 0, "", "FECN bit of the BTH."},
    {P, "flows[].becn", K::kBool, "true for cnp, else false", 0, 0, "", "BECN bit of the BTH."},
    {P, "flows[].transport_version", K::kCount, "0", 0, 15, "",
     "TVer of the BTH; receivers drop all but 0."},
    {P, "flows[].pkey", K::kCount, "0xffff", 0, 0xffff, "", "P_Key of the BTH."},
    {P, "flows[].ttl", K::kCount, "64", 1, 255, "", "TTL, or hop limit, of the IP header."},
    {P, "flows[].ip_id", K::kCount, "0", 0, 0xffff, "", "Identification of the IPv4 header."},
    {P, "flows[].vlan", K::kCount, "the port's", 0, 4094, "",
     "VLAN ID of the 802.1Q tag; 0: priority-tagged. Its PCP is the class's."},
    {P, "flows[].outer_vlan", K::kMap, "the port's", 0, 0, "",
     "Service tag before the VLAN tag (QinQ); needs `vlan`."},
    {P, "flows[].outer_vlan.vid", K::kCount, "required", 0, 4094, "", "Its VLAN ID."},
    {P, "flows[].outer_vlan.pcp", K::kCount, "the inner tag's", 0, 7, "", "Its priority."},
    {P, "flows[].outer_vlan.tpid", K::kChoice, "0x88a8", 0, 0, "0x88a8 | 0x9100 | 0x8100",
     "802.1ad, what old switches use, or a second 802.1Q tag."},
    {P, "flows[].icrc", K::kChoice, "good", 0, 0, "good | bad | zero",
     "The ICRC that frames carry; a receiver drops frames with a wrong one."},
    {P, "flows[].checksum", K::kChoice, "usual", 0, 0, "usual | good | bad | zero",
     "Of UDP or TCP. usual: 0 for UDP over IPv4, as RDMA NICs send it, else right."},
    {P, "flows[].ip_checksum", K::kChoice, "good", 0, 0, "good | bad", "Of the IPv4 header."},
    {P, "flows[].tcp", K::kMap, "{}", 0, 0, "", "Of TCP segments."},
    {P, "flows[].tcp.window", K::kCount, "65535", 0, 0xffff, "", "Receive window."},
    {P, "flows[].tcp.flags", K::kCount, "0x10", 0, 255, "",
     "Flags; PSH (0x08) is added to a message's last segment."},
    {P, "flows[].tcp.acknowledgement", K::kCount, "0", 0, kMax32, "", "Acknowledgement number."},
    {P, "flows[].tcp.mss", K::kCount, "0", 0, 0xffff, "", "Maximum segment size option; 0: none."},
    {P, "flows[].tcp.timestamps", K::kBool, "false", 0, 0, "",
     "Timestamps option (RFC 7323); the value is ms since the run's start."},
    {P, "flows[].tcp.timestamp_echo", K::kCount, "0", 0, kMax32, "", "What that option echoes."},
});

}  // namespace

std::span<const Key> frames_keys() { return kKeys; }

}  // namespace rocegen
