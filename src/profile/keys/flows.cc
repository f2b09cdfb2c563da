/// What a flow sends: between whom, by which verb, in which sizes.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "flows", K::kList, "required", 0, 0, "", "What is sent; at least one flow."},
    {P, "flows[]", K::kMap, "required", 0, 0, "", "One flow."},
    {P, "flows[].name", K::kName, "flow and its index", 0, 0, "",
     "What the report and `expect` call it."},
    {P, "flows[].from", K::kHosts, "required", 0, 0, "",
     "Hosts that send: a group, or `\"senders[0]\"`, `\"senders[0-3]\"`."},
    {P, "flows[].to", K::kHosts, "required", 0, 0, "",
     "Hosts that receive. Every host of `from` sends to every one of `to` but itself."},
    {P, "flows[].protocol", K::kChoice, "roce", 0, 0, "roce | tcp | udp | raw | pause",
     "RoCEv2; TCP segments whose sequence numbers advance, see congestion_control; UDP datagrams; "
     "raw: RoCEv2 with any `opcode`; pause: a pause storm, whose keys are `flows[pause]`."},
    {P, "flows[].verb", K::kChoice, "write", 0, 0,
     "write | write-imm | send | send-imm | send-inv | read | read-response | compare-swap | "
     "fetch-add | atomic-ack | ack | nak | rnr | flush | atomic-write | cnp",
     "The RDMA operation, or the response to one. Immediate data and invalidated keys stand in a "
     "message's last packet."},
    {P, "flows[].transport", K::kChoice, "rc", 0, 0, "rc | uc | ud | xrc",
     "Transport service. ud: one packet a message, sends only; uc: sends and writes."},
    {P, "flows[].opcode", K::kCount, "required for raw", 0, 255, "",
     "BTH opcode of protocol raw, reserved ones too."},
    {P, "flows[].opcode_order", K::kChoice, "right", 0, 0, "right | middle-first | first-twice",
     "middle-first: MIDDLE in place of FIRST; first-twice: FIRST in place of LAST. Receivers "
     "refuse "
     "both."},
    {P, "flows[].message", K::kBytes, "4KiB; ud, udp and raw: 1KiB", 0, std::uint64_t{1} << 31, "",
     "Size of a message. It is cut at `path_mtu` into FIRST, MIDDLE and LAST, or is an ONLY; of "
     "verb "
     "read what one request asks for; of TCP what a PSH ends."},
    {P, "flows[].path_mtu", K::kChoice, "1024", 0, 0, "256 | 512 | 1024 | 2048 | 4096",
     "Payload bytes of a full packet."},
    {P, "flows[].segment", K::kBytes, "1440B", 1, 9000, "", "Payload bytes of a full TCP segment."},
    {P, "flows[].qps", K::kCount, "1", 1, 65536, "", "Queue pairs of each pair of hosts."},
    {P, "flows[].class", K::kName, "none", 0, 0, "",
     "One of `classes`; without it DSCP 0, Not-ECT, priority 0."},
});

}  // namespace

std::span<const Key> flows_keys() { return kKeys; }

}  // namespace rocegen
