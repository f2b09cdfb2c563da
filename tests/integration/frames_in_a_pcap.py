"""Frames that left through net_pcap: tshark finds none malformed, an ICRC checker with none of
rocegen's code finds all valid, and opcodes, lengths and PSNs are those of the profile."""
import collections
import subprocess

import _icrc_check
from _lab import Folder, expect, expect_equal, need, profile, run_json

need("tshark")

FLOWS = [
    {"message": "4096B", "qps": 4, "rate": "20kpps", "packets": 4000, "psn": 16777200},
    {"message": "61B", "qps": 2, "rate": "20kpps", "packets": 1000},
    {"message": "3B", "qps": 1, "rate": "20kpps", "packets": 500, "verb": "send"},
    {"message": "0B", "qps": 1, "rate": "20kpps", "packets": 100, "verb": "send"},
    {"message": "5001B", "qps": 3, "rate": "20kpps", "packets": 1002, "verb": "send"},
]
TOTAL = sum(f["packets"] for f in FLOWS)

with Folder() as folder:
    pcap = folder.file("out.pcap")
    testbed = folder.file("pcap.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: "net_pcap0,tx_pcap={pcap}", link_rate: 10Gbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: "net_null1,no-rx=1", link_rate: 10Gbps, mtu: 9000, hosts: rest}}
""")
    report = run_json(folder.file("p.yaml", profile(FLOWS).replace("pcp: 3, ", "")), "--testbed", testbed)
    expect_equal(sum(f["data_frames_tx"] for f in report["flows"]), TOTAL, "sent")

    total, roce, valid, bad, cut = _icrc_check.check(pcap)
    expect_equal((total, roce, valid, bad, cut), (TOTAL, TOTAL, TOTAL, 0, 0), "ICRCs of the pcap")

    fields = ("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "frame.len",
              "ip.len", "udp.length", "infiniband.bth.padcnt", "ip.dsfield.dscp", "ip.dsfield.ecn",
              "ip.checksum.status", "_ws.malformed")
    out = subprocess.run(
        ["tshark", "-r", pcap, "--disable-protocol", "tftp",
         # It guesses RPC in any SEND payload.
         "--disable-protocol", "rpcordma", "-o", "ip.check_checksum:TRUE", "-T",
         "fields", *(x for f in fields for x in ("-e", f))],
        check=True, capture_output=True, text=True).stdout.splitlines()
    expect_equal(len(out), TOTAL, "frames that tshark reads")
    opcodes, psns = collections.Counter(), collections.defaultdict(list)
    for line in out:
        op, psn, qp, length, ip, udp, pad, dscp, ecn, ip_sum, malformed = line.split("\t")
        opcodes[int(op)] += 1
        psns[int(qp, 16)].append(int(psn))
        expect(malformed == "", f"tshark calls a frame malformed: {line}")
        expect_equal((dscp, ecn, ip_sum), ("26", "2", "1"), "DSCP, ECN, IP checksum good")
        expect_equal(int(ip), int(length) - 14, "IP length covers all but Ethernet")
        expect_equal(int(udp), int(ip) - 20, "UDP length covers all but IP")
    # 4096 at 1024: FIRST MIDDLE MIDDLE LAST; 5001: FIRST, 3 MIDDLE, LAST, of which 334 packets a QP
    # are 66 messages and 4 packets.
    expect_equal(dict(opcodes), {0x06: 1000, 0x07: 2000, 0x08: 1000, 0x0A: 1000, 0x04: 600,
                                 0x00: 201, 0x01: 603, 0x02: 198}, "opcodes")
    for qp, seen in psns.items():
        steps = {(b - a) % 2**24 for a, b in zip(seen, seen[1:])}
        expect_equal(steps, {1}, f"PSN steps of QP {qp}")
print(f"{TOTAL} frames agree")
