"""What the send path's benchmark sends, over DPDK rings: RC WRITE of 1000 queue pairs in shuffled order, at more than a core can
do. Every frame is verified by the receiver, and a copy of each on its way by a checker that shares no code with rocegen: ICRC,
and per queue pair PSNs and tag sequences without a gap."""
import collections
import struct

from _icrc_check import frames, verdict
from _lab import Folder, expect, expect_equal, run_json

FRAMES, QPS, MAGIC = 30_000, 1000, b"RGT1"
TESTBED = """kind: dpdk
ports:
  - {name: p1, device: "ring:wire", link_rate: 3.2Tbps, mtu: 9000, hosts: sources}
  - {name: p2, device: "ring:wire", link_rate: 3.2Tbps, mtu: 9000, hosts: rest}
icrc_check: all
"""

with Folder() as folder:
    testbed = folder.file("t.yaml", TESTBED)
    for payload in (64, 1024, 4096):
        profile = folder.file("p.yaml", f"""name: send-path
phases: {{measure: 20s, drain: 20ms}}
hosts: {{a: {{}}, b: {{}}}}
flows:
  - {{name: f, from: a, to: b, verb: write, message: {payload}B, path_mtu: 4096, qps: {QPS}, rate: 100%,
     qp_order: shuffled, packets: {FRAMES}}}
""")
        report = run_json(profile, "--testbed", testbed)
        flow, generator = report["flows"][0], report["generator"]
        for key, wanted in (("data_frames_tx", FRAMES), ("data_frames_rx", FRAMES), ("icrc_checked", FRAMES),
                            ("icrc_bad", 0), ("lost", 0), ("reordered", 0), ("duplicated", 0)):
            expect_equal(flow[key], wanted, f"{payload} B: {key}")
        for stream in report["streams"]:
            expect_equal((stream["data_frames_rx"], stream["lost"]), (FRAMES // QPS, 0), f"{payload} B: a stream")
        expect(generator["self_checked"] > FRAMES // 4096, f"{payload} B: frames verified while sent")
        expect_equal(generator["self_check_failed"], 0, f"{payload} B: frames that were wrong while sent")

    # Once more slower, so that the capture's ring keeps up.
    with open(profile) as text:
        slower = text.read().replace("rate: 100%", "rate: 200kpps").replace("message: 4096B", "message: 1024B")
    copy = folder.file("copy.pcapng")
    report = run_json(folder.file("slow.yaml", slower), "--testbed", testbed, "--capture", copy)
    seen = collections.defaultdict(list)
    for frame, _ in frames(copy):
        expect_equal(verdict(frame), "good", "ICRC of a captured frame")
        qp, psn = struct.unpack_from(">I", frame, 46)[0] & 0xFFFFFF, struct.unpack_from(">I", frame, 50)[0] & 0xFFFFFF
        magic, stream, sequence = struct.unpack_from(">4sII", frame, 70)
        expect_equal(magic, MAGIC, "the tag")
        seen[qp, stream].append((psn, sequence))
    expect_equal(len(seen), QPS, "queue pairs in the capture")
    copies = sum(map(len, seen.values())) // FRAMES  # one where it is sent, one where it arrives
    expect_equal(sum(map(len, seen.values())), copies * FRAMES, "frames in the capture")
    for numbers in seen.values():
        start = numbers[0][0]
        wanted = [((start + i) & 0xFFFFFF, i) for i in range(FRAMES // QPS)]
        expect_equal(sorted(set(numbers), key=lambda n: n[1]), wanted, "PSNs and tag sequences of a queue pair")
print(f"3 x {FRAMES} frames verified whole at the receiver, {FRAMES} by zlib; no gap in {QPS} queue pairs")
