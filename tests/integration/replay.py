"""rocegen replay sends what a capture holds: every frame, in order, byte for byte, or rewritten by map with right checksums
and ICRCs; at its own times, faster, at a rate, in loops; interfaces to their ports. DPDK's pcap port is the receiver."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _icrc_check import frames as frames_of, verdict  # noqa: E402
from _lab import SOURCE, Folder, expect, expect_equal, rocegen  # noqa: E402

CASES = os.path.join(SOURCE, "pcaps", "cases")
RXE = os.path.join(SOURCE, "pcaps", "rxe", "rc-send.pcap")


def read(path):
    return [frame for frame, _ in frames_of(path)]


def write(path, records, snaplen=1 << 16):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, snaplen, 1))
        for ns, data in records:
            out.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, min(len(data), snaplen), len(data)) + data[:snaplen])


with Folder() as folder:
    outs = [folder.file(f"out{i}.pcap") for i in range(2)]
    testbeds = []
    for ports in (1, 2):
        lines = "".join(f"  - {{name: p{i}, device: \"net_pcap{i},tx_pcap={outs[i]}\", link_rate: 100Gbps, mtu: 4200, "
                        f"hosts: {'sources' if i == 0 else 'rest'}}}\n" for i in range(ports))
        testbeds.append(folder.file(f"ports{ports}.yaml", "kind: dpdk\nports:\n" + lines))
    one, two = testbeds

    def replay(path, *options, testbed=one, status=0):
        for out in outs:
            if os.path.exists(out):
                os.remove(out)
        done = rocegen("replay", path, "--testbed", testbed, "--json", *options)
        expect_equal(done.returncode, status, f"status of {options}; stderr: {done.stderr}")
        return json.loads(done.stdout)

    # Byte for byte and in order, at its own times
    whole = read(RXE)
    report = replay(RXE)
    expect_equal(read(outs[0]), whole, "frames of rc-send.pcap")
    expect_equal((report["tx_frames"], report["not_sent"], report["rewritten"], report["cut"]), (len(whole), 0, 0, 0), "counts")

    # 2000 frames 20 us apart: what was planned is the capture's length; half of it at twice the speed; loops; a rate
    frame = whole[0]
    path = folder.file("even.pcap")
    base = [struct.pack(">HHI", 0x0202, 0x0303, i) + frame[8:] for i in range(2000)]
    write(path, [(1_700_000_000_000_000_000 + i * 20_000, data) for i, data in enumerate(base)])
    for options, planned, count in ((["--speed", "1"], 1999 * 20_000, 1), (["--speed", "2"], 1999 * 10_000, 1),
                                    (["--speed", "0.5"], 1999 * 40_000, 1), (["--loops", "3"], 5999 * 20_000, 3),
                                    (["--rate", "1Gbps"], 1999 * (max(60, len(frame)) + 24) * 8, 1)):
        report = replay(path, *options)
        expect_equal(report["planned_ns"], planned, f"planned with {options}")
        # On a busy machine the first frame may be late, and what is late is caught up.
        took = report["duration_ns"] + report["lateness_ns"]["max"]
        expect(planned < 10**7 or took > planned * 0.8, f"{options}: {took} ns, faster than planned")
        expect_equal(read(outs[0]), base * count, f"frames with {options}")
        expect_equal(report["lateness_ns"]["count"], 2000 * count, "lateness")
    report = replay(path, "--back-to-back")
    expect_equal((report["planned_ns"], report["duration_error_ppm"], len(read(outs[0]))), (None, None, 2000), "back to back")

    # Times that step back
    write(path, [(1_000_000_000 + t, data) for t, data in zip((0, 50_000, 20_000, 90_000), base)])
    expect_equal(replay(path)["stepped_back"], 1, "steps back")
    expect_equal(read(outs[0]), base[:4], "in the file's order")

    # Rewritten: the ICRC stays right, tshark sees right checksums
    o1 = read(os.path.join(CASES, "o1.pcap"))
    maps = folder.file("map.yaml", "ip:\n  10.0.0.1: 198.18.0.1\n  10.0.0.2: 198.18.0.2\nqp: {0x11: 0xabcdef}\ndscp: {26: 34}\n")
    report = replay(os.path.join(CASES, "o1.pcap"), "--map", maps, "--map", "mac:%s=02:aa:bb:cc:dd:ee" % ":".join(
        f"{b:02x}" for b in o1[0][:6]))
    sent = read(outs[0])
    expect_equal([verdict(f) for f in sent], [verdict(f) for f in o1], "ICRCs: right ones stay right, wrong ones wrong")
    expect_equal(report["rewritten"], 6, "rewritten: one frame has nothing that is mapped")
    expect(all(f[:6] == bytes.fromhex("02aabbccddee") for f, old in zip(sent, o1) if old[:6] == o1[0][:6]), "MACs")
    fields = subprocess.run(["tshark", "-r", outs[0], "-o", "ip.check_checksum:TRUE", "-T", "fields", "-e", "ip.src", "-e",
                             "ip.checksum.status", "-e", "infiniband.bth.destqp"], capture_output=True, text=True,
                            check=True).stdout.split("\n")[:-1]
    expect_equal({line.split("\t")[0] for line in fields}, {"192.168.0.7", "10.0.17.1", "198.18.0.1"}, "addresses")
    expect_equal({line.split("\t")[1] for line in fields}, {"1"}, "IP checksums")
    expect("0xabcdef" in {line.split("\t")[2] for line in fields}, f"QPs: {fields}")
    for name in ("o4.pcap", "o5.pcap"):  # IPv6, tags
        replay(os.path.join(CASES, name), "--map", "qp:0x11=0x77", "--map", "vlan:100=300", "--map", "dscp:26=10")
        expect_equal([verdict(f) for f in read(outs[0])], [verdict(f) for f in read(os.path.join(CASES, name))], name)
    expect(b"\x81\x00\x61\x2c" in read(outs[0])[1], "VLAN 100 became 300, its PCP stayed 3")

    # Cut frames are filled up, and said, or refused
    write(path, [(10**9 + i * 1000, data) for i, data in enumerate(whole[:20])], snaplen=80)
    report = replay(path)
    cut = sum(len(f) > 80 for f in whole[:20])
    expect(cut > 0, "some are longer than 80 bytes")
    expect_equal((report["cut"], report["tx_frames"]), (cut, 20), "cut")
    expect_equal([len(f) for f in read(outs[0])], [len(f) for f in whole[:20]], "lengths of cut frames")
    expect_equal([verdict(f) for f in read(outs[0])], ["good"] * 20, "ICRCs of cut frames")

    # Two interfaces: each to its port
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def interface(name):
        return block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HH", 2, len(name)) + name + bytes(-len(name) % 4))
    both = folder.file("two.pcapng")
    with open(both, "wb") as out:
        out.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + interface(b"swp1") + interface(b"swp2"))
        for i, data in enumerate(base[:10]):
            out.write(block(6, struct.pack("<IIIII", i % 2, 0, i * 10, len(data), len(data)) + data))
    replay(both, testbed=two)
    expect_equal([read(out) for out in outs], [base[0:10:2], base[1:10:2]], "interfaces to ports in order")
    replay(both, "--port", "swp1=p1", "--port", "1=p0", testbed=two)
    expect_equal([read(out) for out in outs], [base[1:10:2], base[0:10:2]], "interfaces to ports by name")

    # What is refused: before a port opens, with the reason
    write(path, [(10**9, whole[0] + bytes(5000))])
    for arguments, words in (([both], "--port"), ([path], "MTU"), ([os.path.join(CASES, "o22_sll.pcap")], "no Ethernet"),
                             ([RXE, "--speed", "fast"], "--speed"), ([RXE, "--speed", "2", "--rate", "1Gbps"], "exclude"),
                             ([RXE, "--map", "ip:10.0.0.1=fe80::1"], "version"), ([RXE, "--map", "colour:1=2"], "no kind"),
                             ([RXE, "--map", folder.file("none.yaml")], "none.yaml"), (["-"], "twice"),
                             ([RXE, "--port", "x=p9"], "--port")):
        done = rocegen("replay", *arguments, "--testbed", one)
        expect_equal(done.returncode, 2, f"status of {arguments}: {done.stderr}")
        expect(words in done.stderr, f"{arguments}: no {words!r} in {done.stderr!r}")
    write(path, [(10**9 + i * 1000, data) for i, data in enumerate(whole[:20])], snaplen=80)
    expect_equal(rocegen("replay", path, "--refuse-cut", "--testbed", one).returncode, 2, "cut frames refused")
