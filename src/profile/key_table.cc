#include "profile/key_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "rocegen/base/units.h"

namespace rocegen {
namespace {

constexpr auto P = KeyDoc::File::kProfile;
constexpr auto T = KeyDoc::File::kTestbed;
using K = KeyKind;

constexpr std::uint64_t kNs = 1'000, kUs = 1'000 * kNs, kSecond = 1'000'000 * kUs;
constexpr std::uint64_t kHours1000 = 3'600'000 * kSecond;
constexpr std::uint64_t kMax24 = 0xff'ffff, kMax32 = 0xffff'ffff, kMax64 = ~std::uint64_t{0};
constexpr std::uint64_t kGiB = 1u << 30, kOne = std::uint64_t{1} << 32;  // 1 in 2^-32
constexpr std::uint64_t kMbps = 1'000'000, kTbps = 1'000'000 * kMbps;

// file, path, kind, default, min, max, choices, what.
constexpr std::array kKeys = std::to_array<Key>({
    {P, "name", K::kName, "the file's name", 0, 0, "", "What the report calls the run."},
    {P, "description", K::kText, "empty", 0, 0, "", "A sentence for people."},
    {P, "seed", K::kCount, "1", 0, kMax64, "",
     "Starts every random choice: first PSNs, UDP source ports, shuffled orders."},
    {P, "phases", K::kMap, "{}", 0, 0, "", "How long the run takes."},
    {P, "phases.measure", K::kTime, "1s", kUs, kHours1000, "", "Packets due before this are sent."},
    {P, "phases.drain", K::kTime, "10ms", 0, 60 * kSecond, "",
     "How long the receivers listen on after that: tells late from lost."},
    {P, "classes", K::kMap, "{}", 0, 0, "", "Markings by name, for `flows[].class`."},
    {P, "classes.<name>", K::kMap, "{}", 0, 0, "", "One marking."},
    {P, "classes.<name>.dscp", K::kCount, "0", 0, 63, "",
     "DSCP of the IP header: the upper 6 bits of the ToS byte."},
    {P, "classes.<name>.pcp", K::kCount, "dscp >> 3", 0, 7, "",
     "PCP of the VLAN tag, and the priority that sends and is paused. On ports of a wire it needs "
     "a "
     "`vlan`; 0 is enough."},
    {P, "classes.<name>.ecn", K::kChoice, "not-ect", 0, 0, "not-ect | ect0 | ect1 | ce",
     "ECN field of the IP header."},
    {P, "hosts", K::kMap, "required", 0, 0, "", "Groups of emulated end hosts by name."},
    {P, "hosts.<name>", K::kMap, "required", 0, 0, "", "One group; `{}` is one host."},
    {P, "hosts.<name>.count", K::kCount, "1", 1, 65536, "", "Hosts in the group."},
    {P, "hosts.<name>.prefix", K::kPrefix, "the port's, else the testbed's", 0, 0, "",
     "Addresses of the group's hosts, from the first usable one on."},
    {P, "flows", K::kList, "required", 0, 0, "", "What is sent; at least one flow."},
    {P, "flows[]", K::kMap, "required", 0, 0, "", "One flow."},
    {P, "flows[].name", K::kName, "flow and its index", 0, 0, "",
     "What the report and `expect` call it."},
    {P, "flows[].from", K::kHosts, "required", 0, 0, "",
     "Hosts that send: a group, or `\"senders[0]\"`, `\"senders[0-3]\"`."},
    {P, "flows[].to", K::kHosts, "required", 0, 0, "",
     "Hosts that receive. Every host of `from` sends to every one of `to` but itself."},
    {P, "flows[].protocol", K::kChoice, "roce", 0, 0, "roce | tcp | udp | raw | pause",
     "RoCEv2; TCP segments whose sequence numbers advance and that nothing answers; UDP datagrams; "
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
    {P, "flows[].congestion_control", K::kMapOrWord, "none", 0, 0, "none",
     "What answers CE marks: nothing, or `dcqcn` with the set that it begins with. Only emulated "
     "NICs "
     "obey it."},
    {P, "flows[].congestion_control.dcqcn", K::kChoice, "required", 0, 0,
     "paper | nvidia | otg | spirent | hpcc",
     "The set of parameters that the keys below change. They differ by orders of magnitude."},
    {P, "flows[].congestion_control.cnp_per", K::kChoice, "qp", 0, 0,
     "qp | ip-pair | destination-ip | port",
     "What shares one CNP interval at the receiver: a queue pair, two hosts, the host that is "
     "slowed, or all that the port receives."},
    {P, "flows[].congestion_control.cnp_delay_timer", K::kTime, "the set's", 0, kSecond, "",
     "N: least time between two CNPs of a scope; 0 answers every CE mark."},
    {P, "flows[].congestion_control.alpha_update_period", K::kTime, "the set's", kUs / 10, kSecond,
     "", "K: period of alpha's update."},
    {P, "flows[].congestion_control.rate_reduction_time_period", K::kTime, "the set's", kUs / 10,
     kSecond, "", "D: how often a NIC looks whether a CNP came; set `paper` cuts at once."},
    {P, "flows[].congestion_control.rate_increment_time", K::kTime, "the set's", kUs, kSecond, "",
     "T: period of the rate increase timer."},
    {P, "flows[].congestion_control.rate_increment_byte_counter", K::kBytes, "the set's", 0,
     1'000'000'000, "", "B: bytes sent a step of the byte counter; 0: none."},
    {P, "flows[].congestion_control.rate_increment_threshold", K::kCount, "the set's", 1, 31, "",
     "F: steps of fast recovery."},
    {P, "flows[].congestion_control.alpha_g", K::kShare, "the set's", kOne / 4096, kOne, "",
     "g: weight of the newest period in alpha; a device's 1019 of 1024 is 5/1024 here."},
    {P, "flows[].congestion_control.initial_alpha", K::kShare, "the set's", 0, kOne, "",
     "alpha at a flow's first CNP."},
    {P, "flows[].congestion_control.cut_shift", K::kCount, "the set's", 1, 15, "",
     "A cut takes alpha / 2^cut_shift of the rate; RPG_GD less 10."},
    {P, "flows[].congestion_control.maximum_rate_decrement_at_time", K::kShare, "the set's", 1,
     kOne, "", "No cut takes more of the rate."},
    {P, "flows[].congestion_control.additive_increment_rate", K::kLineRate, "the set's", 0,
     2 * kTbps, "", "R_AI: what additive increase adds to the target."},
    {P, "flows[].congestion_control.hyper_increment_rate", K::kLineRate, "the set's", 0, 2 * kTbps,
     "", "R_HAI: what hyper increase adds to the target, each step the same."},
    {P, "flows[].congestion_control.minimum_rate_limit", K::kLineRate, "the set's", 10'000,
     2 * kTbps, "", "No cut goes below."},
    {P, "flows[].congestion_control.initial_rate_after_first_cnp", K::kLineRate, "the set's", 0,
     2 * kTbps, "", "The rate that a flow's first CNP sets; 0: as it is."},
    {P, "flows[].congestion_control.clamp_target_rate", K::kBool, "the set's", 0, 0, "",
     "The target becomes the current rate at every cut."},
    {P, "flows[].congestion_control.clamp_target_after_time_increment", K::kBool, "the set's", 0, 0,
     "", "And else where the timer had raised the rate, not only the byte counter."},
    {P, "flows[].cnp_class", K::kName, "dscp 48, pcp 6, not-ect", 0, 0, "",
     "How CNPs are marked: one of `classes`."},
    {P, "flows[].reliable", K::kMapOrWord, "false", 0, 0, "true | false",
     "RC as a NIC does it: ACKs, NAKs, go-back-N, timeouts. Without it frames leave open loop and "
     "nothing is acknowledged. Only emulated NICs obey it."},
    {P, "flows[].reliable.window", K::kCount, "256", 1, 1 << 22, "",
     "PSNs that may be outstanding."},
    {P, "flows[].reliable.timeout", K::kCount, "14", 0, 31, "",
     "Acknowledge timeout, 4.096 us x 2^n; 14 is 67 ms, 0 is none."},
    {P, "flows[].reliable.retry_count", K::kCount, "7", 0, 7, "",
     "Timeouts and sequence NAKs in a row until the queue pair gives up."},
    {P, "flows[].reliable.rnr_retry", K::kCount, "7", 0, 7, "", "RNR NAKs in a row; 7: no end."},
    {P, "flows[].reliable.max_reads", K::kCount, "16", 1, 16, "", "READs and atomics outstanding."},
    {P, "flows[].reliable.ack_every", K::kCount, "16", 0, 65535, "",
     "The receiver acknowledges at the latest every so many packets; 0: only messages."},
    {P, "flows[].reliable.ack_message_end", K::kBool, "true", 0, 0, "",
     "And at the end of each message; else when AckReq asks for it."},
    {P, "flows[].reliable.receives", K::kCount, "always ready", 1, 65535, "",
     "Receives posted at the start, for SENDs and immediates; without one an RNR NAK is sent."},
    {P, "flows[].reliable.repost", K::kTime, "never", kNs, kSecond, "",
     "The application posts each receive again so long after it was used, one after the other."},
    {P, "flows[].reliable.rnr_timer", K::kCount, "14", 0, 31, "",
     "RNR timer code: how long the sender is to wait; 14 is 1.28 ms."},
    {P, "flows[].ack_class", K::kName, "the flow's class", 0, 0, "",
     "How ACKs, NAKs and READ responses are marked: one of `classes`."},
    {P, "flows[].rate", K::kRate, "required", 0, 0, "",
     "Rate of each source host on the wire (L1), inside a burst; % is of its port's link."},
    {P, "flows[].pattern", K::kMap, "{}", 0, 0, "", "When packets are due."},
    {P, "flows[].pattern.type", K::kChoice, "constant", 0, 0,
     "constant | burst | incast | microburst | poisson | on-off | ramp | trace",
     "Evenly spaced; a burst every period; the same in step from all sources, apart by `skew`; one "
     "at a random place in each period; packets, or bursts, at random times; on and off in turn; a "
     "rate that changes evenly; what a file says."},
    {P, "flows[].pattern.burst", K::kBurst, "required for burst, incast, microburst", 1,
     std::uint64_t{1} << 40, "",
     "What is sent at a time; it ends with the packet that reaches it. Bytes are payload."},
    {P, "flows[].pattern.per", K::kChoice, "host", 0, 0, "host | qp | flow",
     "Whose burst it is: each source host's, each of its queue pairs', or shared evenly by all "
     "source hosts. With `qp` each queue pair paces itself, at its part of the rate."},
    {P, "flows[].pattern.period", K::kTime, "required for burst, incast, microburst", 100 * kNs,
     3600 * kSecond, "",
     "From a burst's start to the next one's; of poisson the mean; of trace when it begins again."},
    {P, "flows[].pattern.sync", K::kBool, "true for burst and on-off, false for constant and ramp",
     0, 0, "",
     "Whether all sources start together; else they spread over a period or a packet's interval."},
    {P, "flows[].pattern.skew", K::kTime, "0s", 0, 3600 * kSecond, "",
     "Of incast: each source starts each burst up to this much later, drawn from the seed."},
    {P, "flows[].pattern.on", K::kTime, "required for on-off", 100 * kNs, 3600 * kSecond, "",
     "How long it sends at the rate."},
    {P, "flows[].pattern.off", K::kTime, "required for on-off", 100 * kNs, 3600 * kSecond, "",
     "How long it is silent then."},
    {P, "flows[].pattern.spans", K::kChoice, "fixed", 0, 0, "fixed | exponential",
     "Of on-off: whether each time on and off is that long, or drawn with that mean."},
    {P, "flows[].pattern.from", K::kRate, "required for ramp", 0, 0, "",
     "The rate at the start; it changes evenly to `rate`, up or down, and stays there."},
    {P, "flows[].pattern.over", K::kTime, "required for ramp", kUs, kHours1000, "",
     "How long the change takes."},
    {P, "flows[].pattern.file", K::kText, "required for trace", 0, 0, "",
     "CSV beside the profile: times since the flow's start and what each source sends then."},
    {P, "flows[].packets", K::kCount, "no limit", 1, std::uint64_t{1} << 63, "",
     "Packets of the whole flow, shared evenly by its source hosts."},
    {P, "flows[].messages", K::kCount, "no limit", 1, std::uint64_t{1} << 63, "",
     "Messages of the whole flow, all of them whole."},
    {P, "flows[].bytes", K::kBytes, "no limit", 1, std::uint64_t{1} << 63, "",
     "Payload bytes of the whole flow; each source ends with the packet that reaches its part."},
    {P, "flows[].message_sizes", K::kText, "none", 0, 0, "",
     "CSV beside the profile: the distribution that message sizes are drawn from, in the place of "
     "`message`. A source sends a whole message before its next queue pair's."},
    {P, "flows[].start", K::kTime, "0s", 0, kHours1000, "", "When the flow begins."},
    {P, "flows[].duration", K::kTime, "until the run ends", kNs, kHours1000, "",
     "How long the flow sends."},
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
    {P, "flows[pause].name", K::kName, "flow and its index", 0, 0, "",
     "What the report and `expect` call it."},
    {P, "flows[pause].protocol", K::kChoice, "required", 0, 0, "pause", "A pause storm."},
    {P, "flows[pause].from", K::kHosts, "required", 0, 0, "",
     "The host whose link partner is paused: one."},
    {P, "flows[pause].kind", K::kChoice, "pfc", 0, 0, "pfc | 802.3x",
     "Of priorities (802.1Qbb), or of the whole link."},
    {P, "flows[pause].priorities", K::kList, "required for pfc", 0, 0, "",
     "Priorities to pause; []: frames whose class-enable vector is zero."},
    {P, "flows[pause].priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {P, "flows[pause].frames", K::kChoice, "together", 0, 0, "together | each",
     "All priorities in one frame, or one frame each, spread over the refresh."},
    {P, "flows[pause].quanta", K::kCount, "65535", 0, 65535, "",
     "Pause time of an XOFF in 512 bit times of the port's link; 0: a storm of XONs."},
    {P, "flows[pause].refresh", K::kTime, "a third of the quanta's time", kNs * 100, kSecond, "",
     "From one XOFF of a priority to its next. Longer than the quanta is refused."},
    {P, "flows[pause].on", K::kTime, "always", kUs, 60 * kSecond, "",
     "Duty cycle: so long it holds and ends with XON, then `off`."},
    {P, "flows[pause].off", K::kTime, "0s", 0, 60 * kSecond, "",
     "The other part of the duty cycle."},
    {P, "flows[pause].numbered", K::kBool, "false", 0, 0, "",
     "Frames carry their number, from 1, in their padding at octet 36, for an independent audit."},
    {P, "flows[pause].start", K::kTime, "0s", 0, kHours1000, "", "When it begins."},
    {P, "flows[pause].duration", K::kTime, "required", kUs, kHours1000, "",
     "How long it holds. A storm has a bounded duration."},
    {P, "capture", K::kMap, "{}", 0, 0, "", "What `run --capture FILE` writes."},
    {P, "capture.on", K::kList, "all hosts", 0, 0, "",
     "Hosts whose NICs are watched. Of one end each frame is there once; of both, twice."},
    {P, "capture.on[]", K::kHosts, "required", 0, 0, "", "A group, or part of one."},
    {P, "expect", K::kList, "[]", 0, 0, "", "What must hold for the run to succeed."},
    {P, "expect[]", K::kText, "required", 0, 0, "",
     "`flows.NAME.METRIC`, `hosts.GROUP.METRIC`, `ports.NAME.METRIC`, `generator.METRIC`, "
     "`fabric.METRIC` or "
     "`run.METRIC`, then ==, !=, <, <=, > or >=, then a value; then `needs` and what a testbed "
     "must have to be asked: "
     "`switch`, `fabric`, `live`."},

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
    {T, "ports[].link_rate", K::kBitRate, "required", kMbps, kTbps * 16 / 10, "",
     "Rate of the link (L1). It wins over what the driver says."},
    {T, "ports[].mtu", K::kCount, "1500", 256, 9600, "", "Longest IP datagram in bytes."},
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
    {T, "cores", K::kMap, "{}", 0, 0, "", "CPU cores. Only of kind dpdk."},
    {T, "cores.main", K::kCount, "the engine's choice", 0, 1023, "", "Core that waits."},
    {T, "cores.workers", K::kList, "the engine's choice", 0, 0, "", "Cores that send and receive."},
    {T, "cores.workers[]", K::kCount, "required", 0, 1023, "", "One core."},
    {T, "qos", K::kMapOrWord, "identity", 0, 0, "identity | sonic-azure | nvidia",
     "From a frame's mark to traffic class, queue and priority group, as the network's switches "
     "have "
     "it: a preset, or a map of the keys below. Given in kind dpdk it says that there is a "
     "switch."},
    {T, "qos.base", K::kChoice, "identity", 0, 0, "identity | sonic-azure | nvidia",
     "Preset that the other keys change."},
    {T, "qos.trust", K::kChoice, "the base's", 0, 0, "priority | dscp | pcp",
     "What gives the traffic class: the class's priority (PCP, else DSCP >> 3), DSCP alone, or PCP "
     "alone."},
    {T, "qos.dscp_to_tc", K::kMap, "the base's", 0, 0, "",
     "Traffic classes by DSCP: `{26: 3, 48: 6}`; others keep the base's."},
    {T, "qos.dscp_to_tc.<dscp>", K::kCount, "the base's", 0, 7, "", "Of DSCP 0 to 63."},
    {T, "qos.pcp_to_tc", K::kMap, "the base's", 0, 0, "", "Likewise by PCP."},
    {T, "qos.pcp_to_tc.<pcp>", K::kCount, "the base's", 0, 7, "", "Of PCP 0 to 7."},
    {T, "qos.tc_to_queue", K::kMap, "the base's", 0, 0, "", "Queues by traffic class."},
    {T, "qos.tc_to_queue.<tc>", K::kCount, "the base's", 0, 7, "", "Of traffic class 0 to 7."},
    {T, "qos.tc_to_pg", K::kMap, "the base's", 0, 0, "", "Priority groups by traffic class."},
    {T, "qos.tc_to_pg.<tc>", K::kCount, "the base's", 0, 7, "", "Of traffic class 0 to 7."},
    {T, "qos.lossless", K::kList, "the base's", 0, 0, "",
     "Priority groups that pause instead of dropping; on an emulated testbed "
     "`switch.pfc.priorities` "
     "wins."},
    {T, "qos.lossless[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "topology", K::kMap, "{}", 0, 0, "", "Only of kind emulated."},
    {T, "topology.type", K::kChoice, "link", 0, 0, "link | single | leaf-spine | rail | explicit",
     "Two NICs and one link; or every host with a port of its own: on one switch, on leaves that "
     "are filled in order, or host n on leaf n mod `rails`."},
    {T, "topology.leaves", K::kCount, "2", 1, 4096, "", "Of leaf-spine."},
    {T, "topology.spines", K::kCount, "2", 1, 4096, "", "Of leaf-spine and rail."},
    {T, "topology.hosts_per_leaf", K::kCount, "hosts / leaves, rounded up", 1, 65536, "",
     "Of leaf-spine."},
    {T, "topology.rails", K::kCount, "8", 1, 4096, "", "Leaves of rail."},
    {T, "topology.uplinks", K::kCount, "1", 1, 256, "", "Links of each leaf to each spine."},
    {T, "topology.uplink_rate", K::kBitRate, "link.rate", kMbps, kTbps * 16 / 10, "",
     "Rate of a link between leaf and spine (L1)."},
    {T, "topology.uplink_delay", K::kTime, "500ns", 0, kSecond, "", "One way."},
    {T, "topology.reroute", K::kTime, "0s", 0, 60 * kSecond, "",
     "From a change of links or switches to new routes at all switches; until then frames go where "
     "they went. Not of link."},
    {T, "topology.switches", K::kList, "required for explicit", 0, 0, "",
     "Switches of an explicit topology, by name."},
    {T, "topology.switches[]", K::kName, "required", 0, 0, "", "One of them."},
    {T, "topology.links", K::kList, "required for explicit", 0, 0, "",
     "Links of an explicit topology; each host has one."},
    {T, "topology.links[]", K::kMap, "required", 0, 0, "", "One link."},
    {T, "topology.links[].ends", K::kList, "required", 0, 0, "", "What it joins: two names."},
    {T, "topology.links[].ends[]", K::kText, "required", 0, 0, "",
     "A switch, or a host: `\"senders[0]\"`, or the group's name where it has one host."},
    {T, "topology.links[].rate", K::kBitRate, "link.rate", kMbps, kTbps * 16 / 10, "",
     "Rate of the link (L1)."},
    {T, "topology.links[].delay", K::kTime, "link.delay", 0, kSecond, "", "One way."},
    {T, "topology.oversubscription", K::kShare, "none", kOne / 8, 1000 * kOne, "",
     "Rates of a leaf's hosts over those of its uplinks, to three decimals, instead of "
     "`uplink_rate`: 2 is 2:1."},
    {T, "link", K::kMap, "{}", 0, 0, "", "Each host's link. Only of kind emulated."},
    {T, "link.rate", K::kBitRate, "100Gbps", kMbps, kTbps * 16 / 10, "", "Rate of the link (L1)."},
    {T, "link.delay", K::kTime, "500ns", 0, kSecond, "", "One way."},
    {T, "link.mtu", K::kCount, "1500", 256, 9600, "", "Longest IP datagram in bytes."},
    {T, "switch", K::kMap, "{}", 0, 0, "", "What every switch is. Not of type link."},
    {T, "switch.architecture", K::kChoice, "output-queued", 0, 0, "output-queued | voq",
     "One FIFO a queue; or one an ingress port, served in turn, each with depth and limits of its "
     "own."},
    {T, "switch.cell", K::kBytes, "256B", 1, 65535, "", "A frame takes whole cells of the buffer."},
    {T, "switch.buffer", K::kBytes, "32MiB", 1, 4 * kGiB, "",
     "Headroom is taken from it, the rest is shared."},
    {T, "switch.reserve", K::kMap, "{}", 0, 0, "", "Buffer that is nobody else's."},
    {T, "switch.reserve.group", K::kBytes, "0B", 0, 4 * kGiB, "",
     "At ingress, of each port and priority group."},
    {T, "switch.reserve.queue", K::kBytes, "0B", 0, 4 * kGiB, "", "At egress, of each queue."},
    {T, "switch.queue_limit", K::kBytes, "none", 1, 4 * kGiB, "",
     "Fixed limit of a lossy queue, beside its dynamic threshold."},
    {T, "switch.alpha", K::kMap, "{}", 0, 0, "", "Dynamic thresholds: alpha x free shared buffer."},
    {T, "switch.alpha.lossless", K::kShare, "1/8", kOne / 256, 128 * kOne, "",
     "XOFF of a lossless priority group at ingress."},
    {T, "switch.alpha.lossy", K::kShare, "1", kOne / 256, 128 * kOne, "",
     "Where a lossy queue drops."},
    {T, "switch.pfc", K::kMap, "{}", 0, 0, "", "When a lossless priority group pauses its sender."},
    {T, "switch.pfc.priorities", K::kList, "[3]; with sonic-azure [3, 4]", 0, 0, "",
     "Lossless priorities; [] for none: then nothing pauses."},
    {T, "switch.pfc.priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.pfc.xoff_threshold", K::kThreshold, "dynamic", 1, 4 * kGiB, "dynamic",
     "XOFF at alpha.lossless x free shared buffer, or at a size."},
    {T, "switch.pfc.xon_offset", K::kBytes, "16KiB", 0, 4 * kGiB, "",
     "XON that much below the threshold."},
    {T, "switch.pfc.headroom", K::kBytes, "64KiB", 0, 4 * kGiB, "",
     "Room of each port and lossless group for what comes after XOFF."},
    {T, "switch.pfc.headroom_pool", K::kBytes, "none", 1, 4 * kGiB, "",
     "All groups share this much; `headroom` is what one may take of it."},
    {T, "switch.pfc.response", K::kTime, "1us", 0, kSecond, "",
     "Of switches and NICs: from a pause frame's last bit to the last frame that may begin."},
    {T, "switch.pfc.quanta", K::kCount, "65535", 1, 65535, "",
     "Of an XOFF, in units of 512 bit times of the link."},
    {T, "switch.pfc.refresh", K::kShare, "50%", 0, kOne, "",
     "XOFF is sent again after this share of its quanta; 0: never, so that it lapses."},
    {T, "switch.ecn", K::kMap, "none: nothing is marked", 0, 0, "",
     "RED on the depth that a frame finds or leaves, itself not counted."},
    {T, "switch.ecn.priorities", K::kList, "required", 0, 0, "", "Queues that mark."},
    {T, "switch.ecn.priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.ecn.kmin", K::kBytes, "100KiB", 0, 4 * kGiB, "",
     "Up to it nothing is marked. Rounded up to cells."},
    {T, "switch.ecn.kmax", K::kBytes, "400KiB", 0, 4 * kGiB, "",
     "From it on all is marked. Rounded up to cells."},
    {T, "switch.ecn.pmax", K::kShare, "0.2", 0, kOne, "", "Chance of a mark just below `kmax`."},
    {T, "switch.ecn.average_shift", K::kCount, "0", 0, 15, "",
     "0: the depth itself counts. N: an average that each frame moves by 2^-N of the difference."},
    {T, "switch.ecn.mark_at", K::kChoice, "enqueue", 0, 0, "enqueue | dequeue",
     "When the depth is looked at."},
    {T, "switch.ecn.not_ect", K::kChoice, "drop", 0, 0, "drop | pass",
     "What happens to a Not-ECT frame that would be marked."},
    {T, "switch.scheduler", K::kMap, "{}", 0, 0, "", "Which queue of a port sends next."},
    {T, "switch.scheduler.strict", K::kList, "[]", 0, 0, "",
     "Queues that are served first, the highest before all."},
    {T, "switch.scheduler.strict[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.scheduler.dwrr", K::kMap, "{}", 0, 0, "",
     "Weights of the other queues by number: `{0: 30, 3: 70}`."},
    {T, "switch.scheduler.dwrr.<queue>", K::kCount, "1", 1, 65535, "", "Weight of queue 0 to 7."},
    {T, "switch.scheduler.quantum", K::kBytes, "1600B", 1, 64 * 1024 * 1024, "",
     "What the smallest weight may send a round, in bytes on the wire."},
    {T, "switch.watchdog", K::kMap, "none", 0, 0, "",
     "Acts on a queue that is paused, holds frames and sends none; `{}` takes the defaults."},
    {T, "switch.watchdog.detection", K::kTime, "200ms", kUs, 3600 * kSecond, "",
     "Paused and silent for so long is a storm."},
    {T, "switch.watchdog.poll", K::kTime, "100ms", kUs, 3600 * kSecond, "",
     "How often it looks: a storm is found up to two polls late."},
    {T, "switch.watchdog.restoration", K::kTime, "200ms", kUs, 3600 * kSecond, "",
     "No pause for so long ends the action."},
    {T, "switch.watchdog.action", K::kChoice, "drop", 0, 0, "drop | forward",
     "drop: frames of the queue are dropped; forward: its pause is ignored."},
    {T, "switches", K::kMap, "{}", 0, 0, "", "Switches that differ, by name: `leaf0`, `spine1`."},
    {T, "switches.<name>", K::kMap, "{}", 0, 0, "",
     "Keys of `switch`, for this one; what it leaves out is as there. Not `pfc.priorities`."},
    {T, "nic", K::kMap, "{}", 0, 0, "", "The hosts' receiving side. Not of type link."},
    {T, "nic.rx_rate", K::kBitRate, "the link's", kMbps, kTbps * 16 / 10, "",
     "A slower one fills `rx_buffer` (L2 bits)."},
    {T, "nic.rx_buffer", K::kBytes, "1MiB", 1, 4 * kGiB, "", "Beyond it frames are dropped."},
    {T, "nic.rx_xoff", K::kBytes, "512KiB", 1, 4 * kGiB, "",
     "From so much on it pauses the lossless priorities."},
    {T, "nic.rx_xon", K::kBytes, "256KiB", 0, 4 * kGiB, "", "Down there it lets them go on."},
    {T, "ecmp", K::kMap, "{}", 0, 0, "",
     "Which of several shortest paths a frame takes: by a hash of addresses and ports."},
    {T, "ecmp.hash", K::kChoice, "per-switch", 0, 0, "per-switch | same",
     "Every switch has a seed of its own; or all hash alike, so that one tier repeats what the "
     "other chose (polarization)."},
    {T, "ecmp.seed", K::kCount, "0", 0, ~std::uint64_t{0}, "", "Other seeds choose other paths."},
    {T, "faults", K::kList, "[]", 0, 0, "", "What goes wrong, and when. Not of type link."},
    {T, "faults[]", K::kMap, "required", 0, 0, "", "One fault."},
    {T, "faults[].type", K::kChoice, "required", 0, 0,
     "link-down | link-up | switch-restart | route-withdrawn | link-rate | bit-errors | "
     "slow-receiver | pause-storm",
     "link-down, link-up, link-rate and bit-errors are of a link; switch-restart and "
     "route-withdrawn of a switch; slow-receiver and pause-storm of a host."},
    {T, "faults[].at", K::kTime, "required", 0, 3600 * kSecond, "", "When, from the run's start."},
    {T, "faults[].for", K::kTime,
     "for ever; required for switch-restart, route-withdrawn and pause-storm", 1, 3600 * kSecond,
     "", "For how long; then it is as before."},
    {T, "faults[].between", K::kList, "required for a link", 0, 0, "",
     "The link's two ends by name."},
    {T, "faults[].between[]", K::kText, "required", 0, 0, "", "A switch or a host."},
    {T, "faults[].parallel", K::kCount, "0", 0, 255, "", "Which of several links between them."},
    {T, "faults[].switch", K::kText, "required for a switch", 0, 0, "", "Its name."},
    {T, "faults[].host", K::kText, "required for a host and route-withdrawn", 0, 0, "",
     "Whose NIC it is, or to whom the route leads."},
    {T, "faults[].rate", K::kBitRate, "required for link-rate and slow-receiver", kMbps,
     kTbps * 16 / 10, "", "What the link, or the receiver, is slowed to."},
    {T, "faults[].bits_per_error", K::kCount, "required for bit-errors", 1000,
     std::uint64_t{1} << 60, "",
     "One bit of so many is wrong, at random: 1000000000 is a bit error rate of 1e-9."},
    {T, "faults[].priorities", K::kList, "required for pause-storm", 0, 0, "", "What it pauses."},
    {T, "faults[].priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "ends", K::kList, "[{hosts: sources}, {hosts: rest}]", 0, 0, "",
     "The link's two ends: ports a and b. Only of kind emulated and type link."},
    {T, "ends[]", K::kMap, "required", 0, 0, "", "One end."},
    {T, "ends[].hosts", K::kHostSet, "required", 0, 0, "", "As of `ports[]`."},
});

std::string_view type_text(K kind) {
    switch (kind) {
        case K::kMap:
            return "map";
        case K::kList:
            return "list";
        case K::kName:
            return "name";
        case K::kText:
            return "text";
        case K::kHosts:
            return "hosts";
        case K::kHostSet:
            return "hosts, list of hosts, or word";
        case K::kChoice:
            return "choice";
        case K::kBool:
            return "true or false";
        case K::kCount:
            return "whole number";
        case K::kTime:
            return "time";
        case K::kBytes:
            return "size";
        case K::kBitRate:
        case K::kRate:
            return "rate";
        case K::kBurst:
            return "amount";
        case K::kPrefix:
            return "prefix";
        case K::kAddress:
            return "IP address";
        case K::kMac:
            return "MAC address";
        case K::kShare:
            return "ratio";
        case K::kThreshold:
            return "size or word";
        case K::kMapOrWord:
            return "map or word";
        case K::kLineRate:
            return "rate";
    }
    return "";
}

std::string_view unit_text(K kind) {
    switch (kind) {
        case K::kTime:
            return "ps, ns, us, ms, s, min, h";
        case K::kBytes:
        case K::kThreshold:
            return "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB";
        case K::kBitRate:
            return "bps, kbps, Mbps, Gbps, Tbps";
        case K::kRate:
            return "bps, kbps, Mbps, Gbps, Tbps, %, pps, kpps, Mpps";
        case K::kBurst:
            return "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, packets, messages";
        case K::kLineRate:
            return "bps, kbps, Mbps, Gbps, Tbps, %";
        case K::kShare:
            return "%";
        default:
            return "";
    }
}

/// "1/256", "128".
std::string share_text(std::uint64_t q32) {
    if (q32 % kOne == 0) return fmt::format("{}", q32 / kOne);
    return fmt::format("1/{}", kOne / q32);
}

/// Whole hours shorter than to_text(Picoseconds) has them.
std::string time_text(std::uint64_t picos) {
    if (picos >= 3600 * kSecond) return fmt::format("{}h", picos / (3600 * kSecond));
    return to_text(Picoseconds{std::int64_t(picos)});
}

std::string_view parent(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

/// A list's elements and a map's free names are entries of the table, no keys of a map.
bool is_key(const Key& key) { return !key.path.ends_with("[]") && !key.name().starts_with('<'); }

}  // namespace

std::span<const Key> key_table() { return kKeys; }

const std::vector<const Key*>& keys_of_map(KeyDoc::File file, std::string_view pattern) {
    using Maps = std::map<std::pair<KeyDoc::File, std::string_view>, std::vector<const Key*>>;
    static const Maps maps = [] {
        Maps all;
        for (const Key& key : kKeys) {
            if (is_key(key)) all[{key.file, parent(key.path)}].push_back(&key);
        }
        return all;
    }();
    return maps.at({file, pattern});
}

const Key* find_key(KeyDoc::File file, std::string_view pattern) {
    const auto found = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) {
        return key.file == file && key.path == pattern;
    });
    return found == kKeys.end() ? nullptr : &*found;
}

std::vector<std::string> choices_of(const Key& key) {
    std::vector<std::string> all;
    std::string_view rest = key.choices;
    while (!rest.empty()) {
        const std::size_t bar = rest.find(" | ");
        all.emplace_back(rest.substr(0, bar));
        rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 3);
    }
    return all;
}

std::string range_text(const Key& key) {
    switch (key.kind) {
        case K::kCount:
            return fmt::format("{} to {}", key.min, key.max);
        case K::kTime:
            return fmt::format("{} to {}", time_text(key.min), time_text(key.max));
        case K::kBytes:
            return fmt::format("{} to {}", bytes_text(key.min), bytes_text(key.max));
        case K::kBurst:
            return fmt::format("1 to {} packets or messages; 1B to {}", key.max,
                               bytes_text(key.max));
        case K::kBitRate:
            return fmt::format("{} to {}", to_text(BitRate{key.min}), to_text(BitRate{key.max}));
        case K::kRate:
            return "2kbps to the link's rate; at most 100%";
        case K::kLineRate:
            return fmt::format("{} to {}; at most 100%", to_text(BitRate{key.min}),
                               to_text(BitRate{key.max}));
        case K::kChoice:
        case K::kMapOrWord:
            return std::string{key.choices};
        case K::kBool:
            return "true | false";
        case K::kName:
            return "letters, digits, _ and -; at most 64";
        case K::kHosts:
            return "a group of the profile";
        case K::kHostSet:
            return "groups of the profile; sources | rest";
        case K::kPrefix:
            return "IPv4 or IPv6, with room for all hosts";
        case K::kAddress:
            return "IPv4 or IPv6";
        case K::kMac:
            return "like 02:00:00:00:00:01";
        case K::kShare:
            return fmt::format("{} to {}", share_text(key.min), share_text(key.max));
        case K::kThreshold:
            return fmt::format("{} to {}; {}", bytes_text(key.min), bytes_text(key.max),
                               key.choices);
        case K::kMap:
        case K::kList:
        case K::kText:
            return "";
    }
    return "";
}

std::vector<KeyDoc> known_keys() {
    std::vector<KeyDoc> docs;
    for (const Key& key : kKeys) {
        docs.push_back({.file = key.file,
                        .path = std::string{key.path},
                        .type = std::string{type_text(key.kind)},
                        .unit = std::string{unit_text(key.kind)},
                        .default_value = std::string{key.default_value},
                        .range = range_text(key),
                        .what = std::string{key.what}});
    }
    return docs;
}

std::string markdown_row(const KeyDoc& key) {
    const auto cell = [](std::string text) {  // a bar would end the cell
        for (std::size_t at = 0; (at = text.find(" | ", at)) != std::string::npos; ++at) {
            text.replace(at, 3, ", ");
        }
        return text;
    };
    return fmt::format("| `{}` | {} | {} | {} | {} | {} |", key.path, key.type, key.unit,
                       key.default_value, cell(key.range), cell(key.what));
}

}  // namespace rocegen
