/// What a flow's ends do: congestion control, acknowledgements, retransmission.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto P = KeyDoc::File::kProfile;

constexpr std::array kKeys = std::to_array<Key>({
    {P, "flows[].congestion_control", K::kMapOrWord, "none", 0, 0, "none | reno",
     "What answers congestion: nothing; of RoCE `dcqcn` with the set that it begins with; of TCP "
     "`reno`. Only emulated NICs obey it."},
    {P, "flows[].congestion_control.reno", K::kMap, "none", 0, 0, "",
     "TCP NewReno (RFC 5681, 6582, 6298): windows, ACKs, fast retransmit, timeouts; ECN (RFC 3168) "
     "where the class is ECT. In the place of `dcqcn`; the word `reno` is this with its defaults."},
    {P, "flows[].congestion_control.reno.initial_window", K::kCount, "10", 1, 1 << 16, "",
     "Congestion window at the start, segments."},
    {P, "flows[].congestion_control.reno.slow_start_threshold", K::kCount, "1048576", 2, 1 << 20,
     "", "Window from which on it grows by one segment a round trip, segments."},
    {P, "flows[].congestion_control.reno.receive_window", K::kCount, "1024", 2, 1 << 16, "",
     "The most that is outstanding, segments."},
    {P, "flows[].congestion_control.reno.duplicate_acks", K::kCount, "3", 1, 255, "",
     "Duplicate ACKs that start a fast retransmit."},
    {P, "flows[].congestion_control.reno.rto_initial", K::kTime, "1s", kUs, 60 * kSecond, "",
     "Retransmission timeout before a round trip was measured."},
    {P, "flows[].congestion_control.reno.rto_min", K::kTime, "200ms", kUs, 60 * kSecond, "",
     "The least; RFC 6298 has 1 s, operating systems 200 ms, data centers less."},
    {P, "flows[].congestion_control.reno.rto_max", K::kTime, "60s", kUs, 60 * kSecond, "",
     "The most, after it doubled again and again."},
    {P, "flows[].congestion_control.reno.ack_every", K::kCount, "2", 1, 255, "",
     "The receiver acknowledges at the latest every so many segments, and out of order each."},
    {P, "flows[].congestion_control.reno.delayed_ack", K::kTime, "40ms", kNs, kSecond, "",
     "And at the latest so long after a segment."},
    {P, "flows[].congestion_control.dcqcn", K::kChoice, "none", 0, 0,
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
});

}  // namespace

std::span<const Key> endpoints_keys() { return kKeys; }

}  // namespace rocegen
