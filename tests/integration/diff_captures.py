"""rocegen diff tells apart what was done to traffic between two captures of it: frames lost, delayed, reordered, marked,
remarked, duplicated, corrupted, and sent again. Both captures are made here, with zlib's CRC and known differences."""
import json
import os
import random
import struct
import zlib

from _lab import SOURCE, Folder, expect, expect_equal, rocegen

T0 = 1_700_000_000_000_000_000
CE, ECT0 = 3, 2


def frame(qp, psn, size=256, dscp=26, ecn=ECT0, ttl=64, vlan=None, mac=1, fill=None):
    """An RC SEND_ONLY frame with a valid ICRC."""
    payload = bytes((fill if fill is not None else psn + i) & 0xff for i in range(size))
    ip_bytes = 20 + 8 + 12 + size + 4
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, dscp << 2 | ecn, ip_bytes, 0, 0x4000, ttl, 17, 0, bytes((10, 0, 0, 1)),
                     bytes((10, 0, 0, 2)))
    udp = struct.pack(">HHHH", 0xc000 + qp, 4791, ip_bytes - 20, 0)
    bth = struct.pack(">BBHII", 0x04, 0x40, 0xffff, qp, psn & 0xffffff)
    masked = bytearray(b"\xff" * 8 + ip + udp + bth + payload)
    for at in (9, 16, 18, 19, 34, 35, 40):
        masked[at] = 0xff
    ethernet = bytes((2, 0, 0, 0, 0, mac, 2, 0, 0, 0, 0, mac + 1))
    tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan[0] << 13 | vlan[1])
    return ethernet + tag + b"\x08\x00" + ip + udp + bth + payload + struct.pack("<I", zlib.crc32(bytes(masked)))


def write(path, frames, snaplen=65535):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, snaplen, 1))
        for ns, data in sorted(frames, key=lambda f: f[0]):
            out.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, min(len(data), snaplen), len(data)) + data[:snaplen])


def diff(*arguments, status=0):
    done = rocegen("diff", "--json", *arguments)
    expect_equal(done.returncode, status, f"status of {arguments}; stderr: {done.stderr}")
    return json.loads(done.stdout)


def equal(seen, what, **wanted):
    for key, value in wanted.items():
        expect_equal(seen[key], value, f"{what}: {key}")


with Folder() as folder:
    before_path, after_path = folder.file("before.pcap"), folder.file("after.pcap")

    # 3000 frames of two queue pairs, 1 us apart, 2 us through the switch; the second clock is 1 h and 7 ns ahead
    offset = 3600 * 10**9 + 7
    before, after = [], []
    lost, late, marked, reordered, corrupted, again = set(range(300, 340)), {500: 90_000, 1500: 40_000}, set(range(700, 733)), \
        {1000, 1100}, {1200}, {1300}
    for i in range(3000):
        qp, psn, sent = 0x11 + i % 2, 0xfffd00 + i // 2, T0 + i * 1000
        before.append((sent, frame(qp, psn)))
        if i in again:  # sent again 50 us later; both arrive
            before.append((sent + 50_500, frame(qp, psn)))
            after.append((sent + 50_500 + 2000 + offset, frame(qp, psn, ttl=63, mac=7)))
        if i in lost:
            continue
        took = 2000 + late.get(i, 0) + (5_000 if i in reordered else 0)
        data = frame(qp, psn, ttl=63, mac=7, ecn=CE if i in marked else ECT0, dscp=0 if 2000 <= i < 2010 else 26)
        if i in corrupted:
            data = data[:100] + bytes((data[100] ^ 1,)) + data[101:]
        after.append((sent + took + offset, data))
        if i == 2500:  # the switch doubles one
            after.append((sent + took + offset + 300, data))
    after.append((T0 + 1_000_500 + offset, frame(0x11, 0x5000)))  # and one came from elsewhere
    write(before_path, before)
    write(after_path, after)
    report = diff(before_path, after_path)
    # Late ones are behind those that were sent after them, as the two that are held up by 5 us
    equal(report["frames"], "all", before=3001, after=2963, matched=2961, lost=40, duplicated=1, appeared=1, outside=0,
          sent_again=1, newly_ce=33, ce_cleared=0, ecn_changed=0, dscp_changed=10, pcp_changed=0, vlan_changed=0,
          ttl_changed=2961, corrupted=1, reordered=4)  # what was sent again left later, too
    equal(report, "all", clock_offset_ns=None, least_difference_ns=offset + 2000, matched_by="flow, PSN and ICRC",
          dscp_changes=[{"before": 26, "after": 0, "frames": 10}], ttl_changes=[{"before": 64, "after": 63, "frames": 2961}])
    equal(report["delay_ns"], "all", count=2961, relative=True, min=0, p50=0, p99=0, max=90_000)
    expect_equal([f["lost"] for f in report["flows"] if f["before"]], [20, 20], "lost by flow")
    expect("--same-clock" in " ".join(report["remarks"]), "the clocks' doubt is said")

    # The same with one clock: delays are absolute
    write(after_path, [(ns - offset, data) for ns, data in after])
    report = diff(before_path, after_path, "--same-clock")
    equal(report["delay_ns"], "one clock", relative=False, min=2000, p50=2000, max=92_000)
    equal(report, "one clock", clock_offset_ns=0)
    equal(report["frames"], "one clock", lost=40, matched=2961)

    # Cut frames: by flow and PSN; a frame's own ICRC is not there to be checked
    write(before_path, before, snaplen=64)
    report = diff(before_path, after_path, "--same-clock")
    equal(report, "cut", matched_by="flow and PSN")
    equal(report["frames"], "cut", lost=40, matched=2961, corrupted=0, newly_ce=33)

    # Captures that begin and end at different times: what one did not watch is no loss
    write(before_path, before[:2000])
    write(after_path, [(ns, data) for ns, data in after if ns - offset > T0 + 1_000_000])
    report = diff(before_path, after_path)
    equal(report["frames"], "parts", lost=0, appeared=1, duplicated=0)
    expect(report["frames"]["matched"] > 950 and report["frames"]["outside"] > 1900, f"parts: {report['frames']}")

    # Copies: three departures of one frame, one of them lost. The latest that fits is each arrival's
    copies = [(T0 + t, frame(0x11, 5, fill=1)) for t in (0, 100_000, 200_000)]
    others = [(T0 + t, frame(0x12, t, fill=2)) for t in range(0, 400_000, 1000)]
    write(before_path, copies + others)
    write(after_path, [(ns + 3000, data) for ns, data in copies[1:] + others])
    report = diff(before_path, after_path, "--same-clock")
    equal(report["frames"], "copies", lost=1, matched=402, sent_again=2, reordered=0)
    equal(report["delay_ns"], "copies", min=3000, max=3000)

    # Tags: PCP remarked, VLAN moved
    write(before_path, [(T0 + i * 1000, frame(0x11, i, vlan=(3, 100))) for i in range(100)])
    write(after_path, [(T0 + i * 1000 + 900, frame(0x11, i, vlan=(0, 100) if i < 30 else (3, 200))) for i in range(100)])
    equal(diff(before_path, after_path, "--same-clock")["frames"], "tags", pcp_changed=30, vlan_changed=70, lost=0)

    # Random losses, delays and marks against the plain count
    draw = random.Random(5)
    before, after, count, marks, top = [], [], 0, 0, 0
    for i in range(20_000):
        sent = T0 + i * 500
        before.append((sent, frame(0x20 + i % 7, i // 7, size=64)))
        if draw.random() < 0.01:
            count += 1
            continue
        ce = draw.random() < 0.2
        marks += ce
        took = 1000 + draw.randrange(2_000_000 if i % 1000 == 0 else 3000)
        top = max(top, took)
        after.append((sent + took, frame(0x20 + i % 7, i // 7, size=64, ecn=CE if ce else ECT0)))
    latest, late = {}, 0
    for _, data in sorted(after, key=lambda f: f[0]):
        qp, psn = struct.unpack_from(">II", data, 14 + 20 + 8 + 4)
        late += psn < latest.get(qp, -1)
        latest[qp] = max(psn, latest.get(qp, -1))
    write(before_path, before)
    write(after_path, after)
    report = diff(before_path, after_path, "--same-clock")
    equal(report["frames"], "random", lost=count, newly_ce=marks, reordered=late, matched=20_000 - count)
    expect_equal(report["delay_ns"]["max"], top, "random: longest delay")
    text = rocegen("diff", "--same-clock", before_path, after_path).stdout
    for words in (f"lost                          {count}\n", f"newly CE                      {marks}\n", f"max {top} ns"):
        expect(words in text, f"no {words!r} in {text}")

    # A capture of other traffic; what cannot be compared
    other = diff(before_path, os.path.join(SOURCE, "pcaps", "cases", "o16.pcap"), status=1)
    expect_equal(other["frames"]["matched"], 0, "other traffic")
    expect("no frame of the first capture" in " ".join(other["remarks"]), "other traffic: it is said")
    for arguments in (["-", after_path], [before_path, folder.file("missing")], ["--window", "0s", before_path, after_path]):
        done = rocegen("diff", *arguments)
        expect_equal(done.returncode, 2, f"status of {arguments}: {done.stderr}")
