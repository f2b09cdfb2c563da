#!/usr/bin/env python3
"""`rocegen craft`: every opcode over IPv4, IPv6, VLAN and QinQ judged by tshark and the ICRC checker; one frame held
against a stated one byte by byte; the shipped profiles' frames seen with tshark's eyes. Skipped (77) without tshark."""
import collections
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import _icrc_check  # noqa: E402
from frames_by_tshark import UNKNOWN_TO_TSHARK, name_fits, opcode_names  # noqa: E402
from _lab import ROCEGEN, SOURCE, Folder, expect, need  # noqa: E402

# ORDER: RC SEND_ONLY of 64 bytes, PSN 100, as other tools make it; the ICRC in wire order.
STATED = ("0200000000020200000000010800456a006c12344000401113e10a0000010a000002c00112b7005800000440ffff0000001100000064" +
          bytes(range(64)).hex() + "c572945f")
STATED_PROFILE = """
classes: {rdma: {dscp: 26, ecn: ect0}}
hosts: {a: {prefix: 10.0.0.0/24, count: 2}}
flows:
  - {from: "a[0]", to: "a[1]", verb: send, message: 64B, class: rdma, rate: 1Gbps, packets: 1, tag: false, psn: 100,
     udp_source_port: 49153, ip_id: 0x1234, mig_req: true, ack_req: none, dest_qp: 0x11}
"""
STATED_TESTBED = """
kind: dpdk
ports:
  - {name: p1, device: "ring:x", link_rate: 100Gbps, hosts: ["a[0]"]}
  - {name: p2, device: "ring:x", link_rate: 100Gbps, hosts: ["a[1]"]}
"""


def craft(lab, profile, output, *more):
    run = subprocess.run([ROCEGEN, "craft", profile, "-o", output, *more], capture_output=True, text=True)
    expect(run.returncode == 0, f"craft {profile}: status {run.returncode}: {run.stderr}")
    return output


def fields(path, *names, occurrence="a"):
    command = ["tshark", "-r", path, "--disable-protocol", "tftp", "-o", "udp.check_checksum:TRUE", "-o",
               "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", f"occurrence={occurrence}"]
    for name in names:
        command += ["-e", name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def standard_names():
    """Opcode numbers and names as the unit tests' gallery lists them are the code's own: these are the standard's."""
    names = {}
    rc = {0: "SEND_FIRST", 1: "SEND_MIDDLE", 2: "SEND_LAST", 3: "SEND_LAST_IMM", 4: "SEND_ONLY", 5: "SEND_ONLY_IMM",
          6: "WRITE_FIRST", 7: "WRITE_MIDDLE", 8: "WRITE_LAST", 9: "WRITE_LAST_IMM", 10: "WRITE_ONLY",
          11: "WRITE_ONLY_IMM", 12: "READ_REQUEST", 13: "READ_RESPONSE_FIRST", 14: "READ_RESPONSE_MIDDLE",
          15: "READ_RESPONSE_LAST", 16: "READ_RESPONSE_ONLY", 17: "ACKNOWLEDGE", 18: "ATOMIC_ACKNOWLEDGE",
          19: "COMPARE_SWAP", 20: "FETCH_ADD", 22: "SEND_LAST_INVALIDATE", 23: "SEND_ONLY_INVALIDATE", 28: "FLUSH",
          29: "ATOMIC_WRITE"}
    for operation, name in rc.items():
        names[operation] = f"RC_{name}"
        names[0xA0 + operation] = f"XRC_{name}"
        if operation < 12:
            names[0x20 + operation] = f"UC_{name}"
    return {**names, 0x64: "UD_SEND_ONLY", 0x65: "UD_SEND_ONLY_IMM", 0x81: "CNP"}


def judge_all_opcodes(lab):
    for ending in ("pcap", "pcapng"):
        path = craft(lab, f"{SOURCE}/profiles/all-opcodes.yaml", f"{lab.path}/all.{ending}")
        total, roce, good, _, _ = _icrc_check.check(path)
        expect(total == roce == good > 400, f"{ending}: {total} frames, {roce} RoCE, {good} right ICRCs")
    rows = fields(path, "_ws.malformed", "ip.version", "ipv6.version", "vlan.id", "ieee8021ad.id", "eth.type",
                  "infiniband.bth.opcode", "udp.checksum.status", "ip.checksum.status")
    said = opcode_names(path)
    expect(len(said) == len(rows), f"{len(rows)} frames, {len(said)} opcodes named")
    wanted, seen = standard_names(), collections.Counter()
    for (malformed, v4, v6, vlan, service, kind, opcode, udp, ip), name in zip(rows, said):
        number = int(opcode)
        where = f"opcode {number:#04x}"
        expect(not malformed, f"{where}: malformed")
        ours = wanted.get(number, "?")
        expect("Unknown" in name if ours in UNKNOWN_TO_TSHARK else name_fits(ours, name), f"{where}: tshark says {name}")
        expect(udp == ("1" if v6 else "3"), f"{where}: UDP checksum status {udp}")
        expect(v6 or ip == "1", f"{where}: IP checksum status {ip}")
        tags = {"0x0800": "", "0x86dd": "", "0x8100": "vlan", "0x88a8": "qinq", "0x9100": "old"}[kind.split(",")[0]]
        expect(("100" in vlan.split(",")) == bool(tags), f"{where}: tags {tags}, VLAN {vlan}")
        seen[("6" if v6 else "4", tags, number)] += 1
    for family, tags in (("4", ""), ("6", ""), ("4", "vlan"), ("6", "qinq"), ("4", "old")):
        missing = [name for number, name in wanted.items() if not seen[(family, tags, number)]]
        expect(not missing, f"IPv{family} {tags}: missing {missing}")
    print(f"{len(rows)} frames of {len(wanted)} opcodes judged")


def judge_stated_frame(lab):
    for name, text in (("stated.yaml", STATED_PROFILE), ("bed.yaml", STATED_TESTBED)):
        with open(f"{lab.path}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    path = craft(lab, f"{lab.path}/stated.yaml", f"{lab.path}/stated.pcap", "--testbed", f"{lab.path}/bed.yaml")
    with open(path, "rb") as file:
        data = file.read()
    expect(struct.unpack("<I", data[:4])[0] == 0xA1B23C4D, "not a pcap with nanoseconds")
    expect(data[40:].hex() == STATED, f"frame {data[40:].hex()}\n  stated {STATED}")


def judge_profiles(lab):
    path = craft(lab, f"{SOURCE}/profiles/mixed.yaml", f"{lab.path}/mixed.pcapng", "--duration", "1ms")
    kinds = collections.Counter("tcp" if row[1] else "roce" for row in fields(path, "infiniband.bth.opcode", "tcp.seq"))
    expect(kinds["roce"] > 0 and kinds["tcp"] > 0, f"mixed: {kinds}")
    path = craft(lab, f"{SOURCE}/profiles/tcp.yaml", f"{lab.path}/tcp.pcap", "--duration", "20ms")
    rows = fields(path, "_ws.malformed", "tcp.checksum.status", "tcp.analysis.lost_segment", "tcp.analysis.retransmission",
                  "tcp.options.timestamp.tsval", "tcp.stream", "tcp.seq_raw", "tcp.len", "tcp.flags.push")
    expect(len(rows) > 1000, f"tcp: {len(rows)} frames")
    following = {}
    for malformed, status, lost, again, stamp, stream, sequence, length, push in rows:
        expect(not malformed and status == "1" and not lost and not again, "tcp: tshark complains")
        expect(following.get(stream, int(sequence)) == int(sequence), f"tcp stream {stream}: sequence {sequence}")
        following[stream] = (int(sequence) + int(length)) % 2**32
        expect(bool(stamp) == (length != "100"), f"tcp: timestamps {stamp} in a segment of {length}")
        expect(length != "100" or push == "1", "tcp: a message's only segment without PSH")
    path = craft(lab, f"{SOURCE}/profiles/ipv6-vlan.yaml", f"{lab.path}/v6.pcap", "--duration", "5ms")
    tags = collections.Counter()
    for malformed, dst, vlan, pcp, service, outer, udp in fields(
            path, "_ws.malformed", "ipv6.dst", "vlan.id", "vlan.priority", "ieee8021ad.id", "ieee8021ad.priority",
            "udp.checksum.status"):
        expect(not malformed and udp == "1" and dst == "2001:db8:0:1::1", f"ipv6-vlan: {dst}, checksum {udp}")
        tags[(vlan, pcp, service, outer)] += 1
    expect(tags == {("100", "3", "", ""): 100, ("100", "3", "200", "1"): 100, ("0", "3", "", ""): 100},
              f"ipv6-vlan: {tags}")
    path = craft(lab, f"{SOURCE}/profiles/cnp.yaml", f"{lab.path}/cnp.pcap", "--duration", "5ms")
    cnps = [row for row in fields(path, "infiniband.bth.opcode", "frame.len", "ip.dsfield.dscp") if row[0] == "129"]
    expect(len(cnps) == 100 and all(row[1:] == ["74", "48"] for row in cnps), f"cnp: {cnps[:3]}")


def judge_refusals(lab):
    for output, word in (("x.txt", ".pcapng"), ("/nowhere/x.pcap", "/nowhere/x.pcap")):
        run = subprocess.run([ROCEGEN, "craft", f"{SOURCE}/profiles/cnp.yaml", "-o", output, "--duration", "1ms"],
                             capture_output=True, text=True)
        expect(run.returncode in (2, 3) and word in run.stderr, f"-o {output}: {run.returncode} {run.stderr}")


def main():
    need("tshark")
    with Folder() as lab:
        judge_stated_frame(lab)
        judge_all_opcodes(lab)
        judge_profiles(lab)
        judge_refusals(lab)
        for name in ("tcp", "ipv6-vlan", "cnp", "all-opcodes"):
            run = subprocess.run([ROCEGEN, "run", f"{SOURCE}/profiles/{name}.yaml", "--testbed",
                                  f"{SOURCE}/profiles/testbeds/link.yaml", "--duration", "20ms"],
                                 capture_output=True, text=True)
            expect(run.returncode == 0, f"run {name}: status {run.returncode}\n{run.stdout}{run.stderr}")


if __name__ == "__main__":
    main()
