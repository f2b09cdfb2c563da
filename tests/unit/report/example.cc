#include "unit/report/example.h"

#include "rocegen/wire/opcode.h"

namespace rocegen::test {

Plan example_plan() {
    Plan plan;
    plan.name = "incast";
    plan.seed = 7;
    plan.measure = 20ms;
    plan.drain = 2ms;
    plan.ports = {{"p1", 100_gbps, 9000}, {"p2", 100_gbps, 9000}};
    HostPlan sender{"senders[0]", "senders", 0, {}, IpAddress::v4(0xc612'0001)};
    HostPlan receiver{"receiver", "receiver", 1, {}, IpAddress::v4(0xc612'0101)};
    HostPlan six = receiver;
    six.name = "six";
    six.ip = parse_ip("2001:db8::1").value();
    plan.hosts = {sender, receiver, six};
    plan.flows.resize(2);
    plan.flows[0].name = "incast";
    plan.flows[1].name = "small";
    StreamPlan stream;
    stream.destination_host = 1;
    stream.source_qp = 0x11;
    stream.dest_qp = 0x22;
    stream.source_port = 0xc001;
    plan.streams = {stream, stream};
    plan.streams[1].flow = 1;
    plan.streams[1].destination_host = 2;
    return plan;
}

namespace {

StreamResult tagged_stream() {
    StreamResult s;
    s.stream = 0;
    s.data_frames_tx = 1000;
    s.data_frames_rx = 997;
    s.tx_bytes = 1'100'000;
    s.rx_bytes = 1'096'700;
    s.payload_bytes_rx = 1'020'928;
    s.by_tag = Traffic::Losses{3, 5, 2, 1};
    s.by_psn = Traffic::Losses{4, 6, 7, 0};
    s.message_tx = 250;
    s.message_complete_rx = 249;
    s.ecn_ce_rx = 100;
    s.ect_rx = 400;
    s.remarked_rx = 8;
    s.icrc_checked = 500;
    s.icrc_bad = 9;
    s.min_latency_ns = 900;
    s.max_latency_ns = 400'001;
    s.avg_latency_ns = 1500.5;
    s.first_timestamp = 1us;
    s.last_timestamp = 101us;
    s.first_psn = Psn{0xff'fff0};
    s.last_psn = Psn{0x0003'd7};
    s.shapes_tx = {0, 250, 500, 250};
    s.frame_names = {"", "RC_WRITE_FIRST", "RC_WRITE_MIDDLE", "RC_WRITE_LAST"};
    return s;
}

}  // namespace

Result example_result() {
    Result r;
    r.profile_name = "incast";
    r.testbed_kind = "dpdk";
    r.testbed_name = "lab";
    r.clock = "TSC at the poll";
    r.duration = 20ms;
    r.streams.push_back(tagged_stream());
    r.streams.emplace_back().stream = 1;  // nothing was sent

    FlowResult& flow = r.flows.emplace_back();
    static_cast<Traffic&>(flow) = r.streams[0];
    flow.wanted_l1_bits_per_sec = 25e9;
    flow.tx = {24.5e9, 24e9, 2.5e6};
    flow.rx = {24.25e9, 23.75e9, 2.25e6};
    flow.rate_error = -0.02;
    flow.latency_ns = {997, 900, 1200, 2000, 300'000, 390'000, 400'001, 1500.5};
    flow.goodput_bits_per_sec = 22.5e9;
    r.flows.emplace_back().flow = 1;

    PortResult& p1 = r.ports.emplace_back();
    p1.name = "p1";
    p1.driver = "net_ring";
    p1.link_rate = 100_gbps;
    p1.tx_frames = 1000;
    p1.tx_errors = 0;
    PortResult& p2 = r.ports.emplace_back();
    p2.name = "p2";
    p2.rx_frames = 1010;
    p2.rx_missed = 3;
    p2.pfc_rx = 6;
    p2.malformed_rx = 2;
    p2.malformed_reasons = {{"truncated", 2}};
    p2.paused[3] = 1500ns;

    r.generator.lateness_ns = {1000, 10, 120, 200, 800, 900, 5000, 130.25};
    r.generator.gaps = 12;
    r.generator.gap_max_ns = 80'000;
    r.notes = {"Receivers stamp at the poll."};
    return r;
}

}  // namespace rocegen::test
