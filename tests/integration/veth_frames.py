"""profiles/mixed.yaml over virtual interfaces: 100,000 frames at 100 kpps, path MTU 1024, priority-tagged. tcpdump at the
far end sees per stream the same first and last PSN, opcodes, DSCP, PCP and ports as report.json. Once through
af_packet, once through af_xdp with a bridge between two pairs, since a socket that XDP feeds is not seen by tcpdump."""
import struct
import subprocess

from _lab import SOURCE, Folder, expect_equal, need, run_json
from _veth import Frame, Tcpdump, enter_own_namespace, packets, pair

enter_own_namespace()
need("tcpdump")

MARKS = {"rdma": (26, 3), "tcp": (0, 0)}  # DSCP and PCP: the profile's classes have no pcp, so it is DSCP >> 3
OPCODES = {"First": 6, "Middle": 7, "Last": 8, "Only": 10}  # of RC RDMA WRITE
LIMITS = ("--set", "flows.rdma.packets=80000", "--set", "flows.tcp.packets=20000", "--duration", "100s")


def testbed(folder, driver, a, b):
    return folder.file(f"{driver}.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: {a}, driver: {driver}, link_rate: 100Gbps, vlan: 0, hosts: sources}}
  - {{name: p2, device: {b}, driver: {driver}, link_rate: 100Gbps, vlan: 0, hosts: rest}}
""")


def tcp_of(frame):
    """(source port, destination port, DSCP, PCP) of a tagged TCP segment over IPv4; None of what is none."""
    kind, tci, inner = struct.unpack_from(">HHH", frame, 12)
    if kind != 0x8100 or inner != 0x0800 or frame[18 + 9] != 6:
        return None
    return (*struct.unpack_from(">HH", frame, 18 + 4 * (frame[18] & 15)), frame[19] >> 2, tci >> 13)


def compare(report, capture):
    expect_equal(capture.dropped, 0, "frames that the kernel dropped before tcpdump")
    roce, tcp = {}, {}
    for _, frame in packets(capture.path):
        read = Frame(frame)
        if read.roce:
            one = roce.setdefault((frame[30:34], read.source_port, read.dest_qp),
                                  {"first": read.psn, "opcodes": {}, "marks": set()})
            one["last"] = read.psn
            one["opcodes"][read.opcode] = one["opcodes"].get(read.opcode, 0) + 1
            one["marks"].add((read.dscp, read.pcp))
        elif segment := tcp_of(frame):
            one = tcp.setdefault((frame[30:34], segment[0]), {"frames": 0, "marks": set(), "to": set()})
            one["frames"] += 1
            one["to"].add(segment[1])
            one["marks"].add(segment[2:])
    expect_equal(len(roce) + len(tcp), len(report["streams"]), "streams seen")
    total = 0
    for stream in report["streams"]:
        name, flow = f"stream {stream['stream']}", stream["flow_name"]
        source = bytes(int(byte) for byte in stream["src_ipv4"].split("."))
        if flow == "tcp":
            one = tcp[source, stream["udp_source_port"]]
            expect_equal((one["frames"], one["to"]), (stream["data_frames_tx"], {5001}), f"{name} frames, port")
        else:
            one = roce[source, stream["udp_source_port"], stream["dest_qp"]]
            expect_equal(one["first"], stream["first_psn"], f"{name} first PSN")
            expect_equal(one["last"], stream["last_psn"], f"{name} last PSN")
            wanted = {OPCODES[what.split("_")[-1].capitalize()]: n for what, n in stream["opcodes_tx"].items()}
            expect_equal(one["opcodes"], wanted, f"{name} opcodes")
        expect_equal(one["marks"], {MARKS[flow]}, f"{name} DSCP and PCP")
        total += stream["data_frames_tx"]
    return total


with Folder() as folder:
    pair("veth0", "veth1", 1500)
    for driver, ends, port in (("af_packet", ("veth0", "veth1"), "veth1"),
                               ("af_xdp", ("left0", "right0"), "left1")):
        if driver == "af_xdp":
            pair("left0", "left1", 1500)
            pair("right0", "right1", 1500)
            subprocess.run("ip link add bridge0 type bridge mcast_snooping 0 && ip link set bridge0 up"
                           " && ip link set left1 master bridge0 && ip link set right1 master bridge0",
                           shell=True, check=True)
        with Tcpdump(port, folder.file(f"{driver}.pcap"), "-s", "128", "-Q", "in") as capture:
            report = run_json(f"{SOURCE}/profiles/mixed.yaml", "--testbed", testbed(folder, driver, *ends), *LIMITS)
        total = compare(report, capture)
        expect_equal(total, 100000, f"{driver}: frames sent")
        received = sum(flow["data_frames_rx"] for flow in report["flows"])
        bad = sum(flow["icrc_bad"] or 0 for flow in report["flows"])
        expect_equal((received, bad), (100000, 0), f"{driver}: received, wrong ICRC")
        expect_equal([p["driver"] for p in report["ports"]], [f"net_{driver}"] * 2, "drivers")
        expect_equal([p["device"] for p in report["ports"]], list(ends), "devices")
        print(f"{driver}: {total} frames, {len(report['streams'])} streams agree with tcpdump on {port}, DSCP and PCP too; "
              f"{capture.dropped} drops")
