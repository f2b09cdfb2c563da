"""100,000 frames at 100 kpps over virtual interfaces: tcpdump at the far end sees per stream the same
first and last PSN, opcodes, DSCP and ports as report.json. Once through af_packet, once through af_xdp
with a bridge between two pairs, since a socket that XDP feeds is not seen by tcpdump."""
import subprocess

from _lab import Folder, expect, expect_equal, need, profile, run_json, skip
from _veth import Frame, Tcpdump, enter_own_namespace, packets, pair

enter_own_namespace()
need("tcpdump")

FLOWS = [
    {"message": "4KiB", "qps": 8, "rate": "60kpps", "packets": 60000},
    {"message": "300B", "qps": 4, "rate": "25kpps", "packets": 25000, "class": "bulk", "verb": "send"},
    {"message": "1500B", "qps": 16, "rate": "15kpps", "packets": 15000, "psn": 16777000},
]
CLASSES = """classes:
  rdma: {dscp: 26, ecn: ect0}
  bulk: {dscp: 10}"""


def testbed(folder, driver, a, b):
    return folder.file(f"{driver}.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: {a}, driver: {driver}, link_rate: 100Gbps, hosts: sources}}
  - {{name: p2, device: {b}, driver: {driver}, link_rate: 100Gbps, hosts: rest}}
""")


def compare(report, capture):
    dscp_of = {f["flow_name"]: d for f, d in zip(report["flows"], (26, 10, 26))}
    seen = {}
    for _, frame in packets(capture.path):
        read = Frame(frame)
        if not read.roce:
            continue
        one = seen.setdefault((read.source_port, read.dest_qp),
                              {"first": read.psn, "opcodes": {}, "dscp": set(), "pcp": set()})
        one["last"] = read.psn
        one["opcodes"][read.opcode] = one["opcodes"].get(read.opcode, 0) + 1
        one["dscp"].add(read.dscp)
        one["pcp"].add(read.pcp)
    expect_equal(capture.dropped, 0, "frames that the kernel dropped before tcpdump")
    expect_equal(len(seen), len(report["streams"]), "streams seen")
    total = 0
    for stream in report["streams"]:
        name = f"stream {stream['stream']}"
        one = seen[stream["udp_source_port"], stream["dest_qp"]]
        expect_equal(one["first"], stream["first_psn"], f"{name} first PSN")
        expect_equal(one["last"], stream["last_psn"], f"{name} last PSN")
        wanted = {entry["opcode"]: entry["frames"] for entry in stream["opcodes_tx"]} \
            if isinstance(stream["opcodes_tx"], list) else stream["opcodes_tx"]
        expect_equal(sum(one["opcodes"].values()), stream["data_frames_tx"], f"{name} frames")
        expect_equal(sorted(one["opcodes"].values()), sorted(wanted.values()), f"{name} opcodes")
        expect_equal(one["dscp"], {dscp_of[stream["flow_name"]]}, f"{name} DSCP")
        expect_equal(one["pcp"], {None}, f"{name} PCP")  # untagged
        total += stream["data_frames_tx"]
    return total


with Folder() as folder:
    path = folder.file("mixed.yaml", profile(FLOWS, measure="30s").replace(
        "classes:\n  rdma: {dscp: 26, pcp: 3, ecn: ect0}", CLASSES))
    pair("veth0", "veth1", 1500)
    for driver, ends, port in (("af_packet", ("veth0", "veth1"), "veth1"),
                               ("af_xdp", ("left0", "right0"), "left1")):
        if driver == "af_xdp":
            pair("left0", "left1", 1500)
            pair("right0", "right1", 1500)
            subprocess.run("ip link add bridge0 type bridge mcast_snooping 0 && ip link set bridge0 up"
                           " && ip link set left1 master bridge0 && ip link set right1 master bridge0",
                           shell=True, check=True)
        with Tcpdump(port, folder.file(f"{driver}.pcap"), "-s", "128", "udp port 4791") as capture:
            report = run_json(path, "--testbed", testbed(folder, driver, *ends))
        total = compare(report, capture)
        expect_equal(total, 100000, f"{driver}: frames sent")
        received = sum(flow["data_frames_rx"] for flow in report["flows"])
        bad = sum(flow["icrc_bad"] or 0 for flow in report["flows"])
        expect_equal((received, bad), (100000, 0), f"{driver}: received, wrong ICRC")
        expect_equal([p["driver"] for p in report["ports"]], [f"net_{driver}"] * 2, "drivers")
        expect_equal([p["device"] for p in report["ports"]], list(ends), "devices")
        print(f"{driver}: {total} frames, {len(report['streams'])} streams agree with tcpdump on {port}; "
              f"{capture.dropped} drops")
