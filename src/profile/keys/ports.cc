/// A testbed's ports and cores.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto T = KeyDoc::File::kTestbed;

constexpr std::array kKeys = std::to_array<Key>({
    {T, "kind", K::kChoice, "required", 0, 0, "dpdk | emulated",
     "Ports of this machine in real time, or a model in virtual time."},
    {T, "name", K::kName, "the file's name", 0, 0, "", "What the report calls it."},
    {T, "prefix", K::kPrefix, "198.18.0.0/15", 0, 0, "",
     "Addresses of the hosts, in the profile's order, from the first usable one on."},
    {T, "ports", K::kList, "required for dpdk", 0, 0, "", "Only of kind dpdk."},
    {T, "ports[]", K::kMap, "required", 0, 0, "", "One port."},
    {T, "ports[].name", K::kName, "required", 0, 0, "", "What the report and `expect` call it."},
    {T, "ports[].device", K::kText, "required", 0, 0, "",
     "PCI address, kernel interface, `ring:NAME` (the two ports of one name are joined), or a "
     "virtual device of DPDK with its arguments."},
    {T, "ports[].driver", K::kChoice, "auto", 0, 0, "auto | af_packet | af_xdp | tap | pcap",
     "How a kernel interface is opened; auto is af_packet. tap makes the interface."},
    {T, "ports[].link_rate", K::kBitRate, "required", kMbps, kTbps * 32 / 10, "",
     "Rate of the link (L1). It wins over what the driver says."},
    {T, "ports[].mtu", K::kCount, "1500", 256, 9600, "", "Longest IP datagram in bytes."},
    {T, "ports[].receive", K::kBool, "true", 0, 0, "",
     "false: the port is not polled. What arrives there is in no figure, no pause is heard and no "
     "ARP answered; all of the "
     "core is left to sending. No flow may go there. Only of kind dpdk."},
    {T, "ports[].hosts", K::kHostSet, "required", 0, 0, "",
     "Hosts that the port carries: a list of groups or parts of them; `sources`: groups that the "
     "flows name as `from` before they name them as `to`; `rest`: all that no other port carries."},
    {T, "ports[].prefix", K::kPrefix, "the testbed's", 0, 0, "",
     "Addresses of the port's own hosts, from the first usable one on, the gateway's left out."},
    {T, "ports[].gateway", K::kAddress, "none", 0, 0, "",
     "Router that frames to other prefixes go to. An address of the port's `prefix`."},
    {T, "ports[].gateway_mac", K::kMac, "asked by ARP or ND", 0, 0, "",
     "Its MAC address. Without it, what is not sent on a wire goes to the host's own."},
    {T, "ports[].vlan", K::kCount, "none", 0, 4094, "",
     "VLAN ID of frames that the port sends; 0: priority-tagged."},
    {T, "ports[].outer_vlan", K::kMap, "none", 0, 0, "", "Service tag before it (QinQ)."},
    {T, "ports[].outer_vlan.vid", K::kCount, "required", 0, 4094, "", "Its VLAN ID."},
    {T, "ports[].outer_vlan.pcp", K::kCount, "the inner tag's", 0, 7, "", "Its priority."},
    {T, "ports[].outer_vlan.tpid", K::kChoice, "0x88a8", 0, 0, "0x88a8 | 0x9100 | 0x8100",
     "802.1ad, what old switches use, or a second 802.1Q tag."},
    {T, "icrc_check", K::kChoice, "auto", 0, 0, "auto | all | none",
     "Of which received frames the ICRC is checked; auto: of all while the receiver keeps up, of "
     "one in 16 while frames "
     "wait. Only of kind dpdk."},
    {T, "hugepages", K::kChoice, "auto", 0, 0, "auto | required | none",
     "Memory of packet buffers; auto: hugepages where enough are free, else ordinary memory; "
     "required: a run without "
     "them is refused. Only of kind dpdk."},
    {T, "cores", K::kMap, "{}", 0, 0, "", "CPU cores. Only of kind dpdk."},
    {T, "cores.main", K::kCount, "the engine's choice", 0, 1023, "", "Core that waits."},
    {T, "cores.workers", K::kList, "the engine's choice", 0, 0, "", "Cores that send and receive."},
    {T, "cores.workers[]", K::kCount, "required", 0, 1023, "", "One core."},
});

}  // namespace

std::span<const Key> ports_keys() { return kKeys; }

}  // namespace rocegen
