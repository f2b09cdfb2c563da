"""An incast of 8 hosts, on the loopback and over virtual interfaces: each burst has a frame of every host; what
`--capture` stamps at departure and at arrival gives the skew between the hosts' first frames, beside the planned one (0); the report says all three."""
import statistics
import struct

from _lab import SOURCE, Folder, expect, expect_equal, run_json
from _veth import enter_own_namespace, pair

enter_own_namespace()
HOSTS, BURSTS, FRAMES = 8, 50, 16  # frames of a host in a burst
ROCE = struct.pack(">H", 4791)  # UDP port


def blocks(path):
    """(port, direction, nanoseconds, frame) of a pcapng file of ours."""
    data, at, ports = open(path, "rb").read(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            ports.append("p1" if b"p1" in data[at:at + length] else "p2")
        elif kind == 6:
            port, high, low, kept = struct.unpack_from("<4I", data, at + 8)
            options = at + 28 + (kept + 3) // 4 * 4
            direction = 0
            while options + 4 <= at + length - 4:
                code, size = struct.unpack_from("<HH", data, options)
                if code == 2:
                    direction = struct.unpack_from("<I", data, options + 4)[0] & 3
                if code == 0:
                    break
                options += 4 + (size + 3) // 4 * 4
            yield ports[port], direction, (high << 32) + low, data[at + 28:at + 28 + kept]
        at += length


def skews(path, port, direction):
    """Of each burst: first frame of the last host less that of the first, ns."""
    firsts, seen = {}, {}
    for where, way, when, frame in blocks(path):
        if (where, way) != (port, direction) or frame[12:14] != b"\x08\x00" or frame[36:38] != ROCE:
            continue  # frames of the learning phase
        host = frame[26:30]
        burst, place = divmod(seen.get(host, 0), FRAMES)
        seen[host] = seen.get(host, 0) + 1
        if place == 0:
            firsts.setdefault(burst, []).append(when)
    return [max(times) - min(times) for times in firsts.values() if len(times) == HOSTS]


with Folder() as folder:
    pair()
    profile = folder.file("incast.yaml", f"""name: incast
phases: {{measure: 3s, drain: 50ms}}
classes:
  rdma: {{dscp: 26, ecn: ect0}}
hosts: {{senders: {{count: {HOSTS}}}, receiver: {{}}}}
flows:
  - name: incast
    from: senders
    to: receiver
    message: 4KiB
    class: rdma
    rate: 200Mbps
    packets: {HOSTS * BURSTS * FRAMES}
    pattern: {{type: burst, burst: 16KiB, period: 2ms}}
""")
    veth = folder.file("veth.yaml", """kind: dpdk
ports:
  - {name: p1, device: veth0, link_rate: 100Gbps, hosts: sources}
  - {name: p2, device: veth1, link_rate: 100Gbps, hosts: rest}
""")
    for name, testbed in (("loopback", f"{SOURCE}/profiles/testbeds/loopback.yaml"), ("veth", veth)):
        own = folder.file(f"{name}.pcapng")
        report = run_json(profile, "--testbed", testbed, "--capture", own)
        (flow,) = report["flows"]
        expect(flow["lost"] == 0, f"{name}: {flow['lost']} lost")
        expect_equal(flow["data_frames_rx"], HOSTS * BURSTS * FRAMES, f"{name}: frames")
        # The report's own three, each over all bursts; a host whose plan slipped begins in another burst's time.
        expect_equal(flow["burst_skew_planned_ns"]["max"], 0, f"{name}: planned skew")
        for where in ("planned", "departure", "arrival"):
            count = flow[f"burst_skew_{where}_ns"]["count"]
            expect(count == BURSTS or (report["generator"]["slips"] > 0 and count > 0),
                   f"{name}: {count} bursts with a skew {where}, of {BURSTS}")
        departure, arrival = skews(own, "p1", 2), skews(own, "p2", 1)
        expect_equal((len(departure), len(arrival)), (BURSTS, BURSTS), f"{name}: bursts of all hosts")
        # A capture stamps the same turns of the same loop; without slips its skews are the report's.
        if report["generator"]["slips"] == 0:
            for where, seen in (("departure", departure), ("arrival", arrival)):
                own_median = flow[f"burst_skew_{where}_ns"]["p50"]
                expect(abs(statistics.median(seen) - own_median) <= 1000 + own_median // 4,
                       f"{name}: {where} skew in the capture {statistics.median(seen)}, in the report {own_median} ns")
        print(f"{name}: skew of {HOSTS} hosts, median of {len(departure)} bursts: planned 0, at departure "
              f"{statistics.median(departure) / 1e3:.2f} us, at arrival {statistics.median(arrival) / 1e3:.2f} us; "
              f"worst {max(departure) / 1e3:.0f} and {max(arrival) / 1e3:.0f} us; the report has "
              f"{flow['burst_skew_departure_ns']['p50'] / 1e3:.2f} and {flow['burst_skew_arrival_ns']['p50'] / 1e3:.2f} us; "
              f"{report['generator']['slips']} slips, after which a host is out of step")
