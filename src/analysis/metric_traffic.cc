#include "analysis/metric_rows.h"

namespace rocegen {
namespace {

using namespace unknown_when;

template <auto Member>
Value by_psn(const Traffic& traffic) {
    return traffic.by_psn ? number((*traffic.by_psn).*Member) : std::nullopt;
}
template <auto Member>
Value best(const Traffic& traffic) {
    return number(traffic.losses().*Member);
}

using Losses = Traffic::Losses;

constexpr Row<Traffic> kTraffic[] = {
    {"data_frames_tx", "frames", "data frames sent", "", counted<&Traffic::data_frames_tx>},
    {"data_frames_rx", "frames", "data frames received, duplicates too", "",
     counted<&Traffic::data_frames_rx>},
    {"frame_delta", "frames", "data frames sent - received", "",
     [](const Traffic& t) -> Value { return double(frame_delta(t)); }},
    {"tx_bytes", "bytes", "L2 bytes sent, FCS included", "", counted<&Traffic::tx_bytes>},
    {"rx_bytes", "bytes", "L2 bytes received, FCS included, duplicates too", "",
     counted<&Traffic::rx_bytes>},
    {"payload_bytes_rx", "bytes", "bytes behind the RDMA headers received, duplicates too", "",
     counted<&Traffic::payload_bytes_rx>},
    {"lost", "frames", "frames sent that never arrived: by tag where each has one, else by PSN", "",
     best<&Losses::lost>},
    {"reordered", "frames", "frames that arrived after a later one (RFC 4737): by tag, else by PSN",
     "", best<&Losses::reordered>},
    {"duplicated", "frames", "frames that had arrived before: by tag, else by PSN", "",
     best<&Losses::duplicated>},
    {"too_old", "frames", "frames over 1024 numbers late, not told apart: by tag, else by PSN", "",
     best<&Losses::too_old>},
    {"lost_by_psn", "frames", "as lost, by PSN", kNoPsn, by_psn<&Losses::lost>},
    {"reordered_by_psn", "frames", "as reordered, by PSN", kNoPsn, by_psn<&Losses::reordered>},
    {"duplicated_by_psn", "frames", "as duplicated, by PSN", kNoPsn, by_psn<&Losses::duplicated>},
    {"too_old_by_psn", "frames", "as too_old, by PSN", kNoPsn, by_psn<&Losses::too_old>},
    {"message_tx", "messages", "messages sent whole", "", counted<&Traffic::message_tx>},
    {"message_complete_rx", "messages", "messages whose last frame arrived, duplicates not counted",
     "", counted<&Traffic::message_complete_rx>},
    {"ecn_ce_rx", "frames", "frames received with ECN = CE", "", counted<&Traffic::ecn_ce_rx>},
    {"ect_rx", "frames", "frames received with ECN = ECT(0), ECT(1) or CE", "",
     counted<&Traffic::ect_rx>},
    {"ecn_ce_share", "1", "ecn_ce_rx / ect_rx", "no ECN-capable frame arrived", ecn_ce_share},
    {"remarked_rx", "frames", "frames received with another DSCP than was sent", "",
     counted<&Traffic::remarked_rx>},
    {"icrc_checked", "frames", "frames whose ICRC was checked", "",
     counted<&Traffic::icrc_checked>},
    {"icrc_bad", "frames", "frames among icrc_checked whose ICRC was wrong", "no ICRC was checked",
     [](const Traffic& t) { return t.icrc_checked ? number(t.icrc_bad) : std::nullopt; }},
    {"first_timestamp", "ns", "the first frame's reception, since the start", kNothingArrived,
     [](const Traffic& t) { return nanoseconds(t.first_timestamp); }},
    {"last_timestamp", "ns", "the last frame's reception, since the start", kNothingArrived,
     [](const Traffic& t) { return nanoseconds(t.last_timestamp); }},
};

template <auto Member>
Value responses(const Traffic& traffic) {
    return number(traffic.responses.*Member);
}
template <auto Member>
Value endpoint(const Traffic& traffic) {
    return traffic.endpoint ? number((*traffic.endpoint).*Member) : std::nullopt;
}
template <auto Member>
Value dcqcn_rate(const Traffic& traffic) {
    if (!traffic.endpoint) return std::nullopt;
    const std::optional<BitRate>& rate = (*traffic.endpoint).*Member;
    return rate ? number(rate->bits_per_sec) : std::nullopt;
}

template <auto Member>
Value tcp(const Traffic& traffic) {
    if (!traffic.endpoint || !traffic.endpoint->tcp) return std::nullopt;
    return double((*traffic.endpoint->tcp).*Member);
}

constexpr Row<Traffic> kReplies[] = {
    {"cnp_tx", "frames", "CNPs that the receivers sent", kNoEndpoint,
     endpoint<&EndpointCounts::cnp_tx>},
    {"cnp_rx", "frames", "CNPs that reached the senders", "", responses<&ResponsesRx::cnp>},
    {"ack_tx", "frames", "ACKs that the receivers sent, a READ's responses as one", kNoEndpoint,
     endpoint<&EndpointCounts::ack_tx>},
    {"ack_rx", "frames", "ACKs and atomic ACKs that reached the senders", "",
     responses<&ResponsesRx::ack>},
    {"nak_tx", "frames", "NAKs that the receivers sent, of all codes", kNoEndpoint,
     endpoint<&EndpointCounts::nak_tx>},
    {"nak_rx", "frames", "NAKs that reached the senders, of all codes but RNR", "",
     [](const Traffic& t) { return number(t.responses.naks()); }},
    {"nak_rx.sequence", "frames", "NAKs of code 0: a PSN was missing", "",
     responses<&ResponsesRx::nak_sequence>},
    {"nak_rx.invalid_request", "frames", "NAKs of code 1", "",
     responses<&ResponsesRx::nak_invalid_request>},
    {"nak_rx.remote_access", "frames", "NAKs of code 2", "",
     responses<&ResponsesRx::nak_remote_access>},
    {"nak_rx.remote_operation", "frames", "NAKs of code 3", "",
     responses<&ResponsesRx::nak_remote_operation>},
    {"nak_rx.other", "frames", "NAKs of other codes", "", responses<&ResponsesRx::nak_other>},
    {"rnr_tx", "frames", "RNR NAKs that the receivers sent", kNoEndpoint,
     endpoint<&EndpointCounts::rnr_tx>},
    {"rnr_rx", "frames", "RNR NAKs that reached the senders", "", responses<&ResponsesRx::rnr>},
    {"read_response_rx", "frames", "READ responses that reached the senders", "",
     responses<&ResponsesRx::read_frames>},
    {"data_frames_retransmitted", "frames", "frames among data_frames_tx that were sent again",
     kNoEndpoint, endpoint<&EndpointCounts::retransmitted>},
    {"timeouts", "timeouts", "acknowledge timeouts of the senders", kNoEndpoint,
     endpoint<&EndpointCounts::timeouts>},
    {"qp_errors", "streams", "queue pairs that gave up", kNoEndpoint,
     endpoint<&EndpointCounts::in_error>},
    {"dcqcn_rate.min", "bit/s", "the least rate that DCQCN allowed a stream at any time", kNoDcqcn,
     dcqcn_rate<&EndpointCounts::rate_least>},
    {"dcqcn_rate.last", "bit/s",
     "the rate that DCQCN allows at the end; of a flow the streams' mean", kNoDcqcn,
     dcqcn_rate<&EndpointCounts::rate_last>},
    {"tcp_window.last", "segments",
     "TCP's congestion window at the end; of a flow the streams' mean", kNoReno,
     tcp<&TcpCounts::window_last>},
    {"tcp_window.max", "segments", "the widest congestion window that a stream ever had", kNoReno,
     tcp<&TcpCounts::window_most>},
    {"fast_retransmits", "times", "times that duplicate ACKs made TCP send again", kNoReno,
     tcp<&TcpCounts::fast_retransmits>},
    {"ecn_cuts", "times", "times that ECN-Echo made TCP halve its window", kNoReno,
     tcp<&TcpCounts::ecn_cuts>},
};

constexpr Row<Traffic> kHosts[] = {
    {"data_frames_tx", "frames", "data frames that its hosts sent", "",
     counted<&Traffic::data_frames_tx>},
    {"data_frames_rx", "frames", "data frames that its hosts received, duplicates too", "",
     counted<&Traffic::data_frames_rx>},
    {"rx_bytes", "bytes", "L2 bytes that its hosts received, FCS included, duplicates too", "",
     counted<&Traffic::rx_bytes>},
    {"ecn_ce_rx", "frames", "data frames that its hosts received with ECN = CE", "",
     counted<&Traffic::ecn_ce_rx>},
    {"ect_rx", "frames", "data frames that its hosts received with ECN = ECT(0), ECT(1) or CE", "",
     counted<&Traffic::ect_rx>},
    {"ecn_ce_share", "1", "ecn_ce_rx / ect_rx", "no ECN-capable frame arrived", ecn_ce_share},
    {"cnp_tx", "frames", "CNPs that its hosts sent", kNoEndpoint,
     endpoint<&EndpointCounts::cnp_tx>},
    {"cnp_rx", "frames", "CNPs that reached its hosts", "", responses<&ResponsesRx::cnp>},
    {"ack_rx", "frames", "ACKs and atomic ACKs that reached its hosts", "",
     responses<&ResponsesRx::ack>},
    {"nak_rx", "frames", "NAKs that reached its hosts, of all codes but RNR", "",
     [](const Traffic& t) { return number(t.responses.naks()); }},
    {"rnr_rx", "frames", "RNR NAKs that reached its hosts", "", responses<&ResponsesRx::rnr>},
};

}  // namespace

Rows<Traffic> traffic_rows() { return kTraffic; }
Rows<Traffic> reply_rows() { return kReplies; }
Rows<Traffic> host_rows() { return kHosts; }

}  // namespace rocegen
