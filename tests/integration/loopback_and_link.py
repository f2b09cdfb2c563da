"""The same profile, limited by packets, gives per stream the same frames on the loopback (DPDK rings,
real time) and on the link in virtual time; on both, everything sent arrives once and in order."""
from _lab import SOURCE, Folder, expect_equal, profile, run_json

LINK = f"{SOURCE}/profiles/testbeds/link.yaml"
LOOPBACK = f"{SOURCE}/profiles/testbeds/loopback.yaml"
FLOWS = [
    {"message": "4096B", "qps": 16, "rate": "100kpps", "packets": 10001},
    {"message": "1025B", "qps": 3, "rate": "50kpps", "packets": 5000, "psn": 16777210},
    {"message": "700B", "qps": 5, "rate": "30kpps", "packets": 3000, "qp_order": "shuffled"},
    {"message": "10B", "qps": 2, "rate": "20kpps", "packets": 1000, "verb": "send",
     "pattern": "{type: burst, burst: 10 packets, period: 1ms}"},
]

with Folder() as folder:
    path = folder.file("same.yaml", profile(FLOWS))
    live = run_json(path, "--testbed", LOOPBACK)
    virtual = run_json(path, "--testbed", LINK)
    same = ("first_psn", "last_psn", "opcodes_tx", "data_frames_tx", "tx_bytes_l2", "message_tx",
            "src_qp", "dest_qp", "udp_source_port", "data_frames_rx", "rx_bytes_l2",
            "payload_bytes_rx", "message_complete_rx")
    expect_equal(len(live["streams"]), 26, "streams")
    for a, b in zip(live["streams"], virtual["streams"]):
        for key in same:
            expect_equal(a[key], b[key], f"stream {a['stream']} {key}, loopback against link")
    for report in (live, virtual):
        for flow, wanted in zip(report["flows"], (10001, 5000, 3000, 1000)):
            expect_equal(flow["data_frames_tx"], wanted, f"{flow['flow_name']} sent")
            expect_equal(flow["data_frames_rx"], wanted, f"{flow['flow_name']} received")
            for key in ("lost", "reordered", "duplicated", "icrc_bad"):
                expect_equal(flow[key] or 0, 0, f"{flow['flow_name']} {key}")
    # 10 bytes have no room for the tag: counted by PSN alone.
    expect_equal([f["counted_by"] for f in live["flows"]], ["tag", "psn", "tag", "psn"], "counted by")
print("26 streams agree")
