"""Frames and captures for the tests of analyze, written from the standards with struct and zlib alone: no code of rocegen."""
import json
import struct
import zlib

from _lab import expect, expect_equal, rocegen

T0 = 1_700_000_000_000_000_000
SEND_ONLY, ACK, CNP, READ_REQUEST = 0x04, 0x11, 0x81, 0x0C
PAUSE_DESTINATION = bytes.fromhex("0180c2000001")


def ip(text):
    return bytes(int(part) for part in text.split("."))


def mac(address):
    return b"\x02\x00" + ip(address)


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def roce(source, destination, qp, psn, opcode=SEND_ONLY, tos=0x6A, extension=b"", payload=bytes(range(64)), port=49153,
         becn=False, fecn=False, ttl=64, icrc=True, tags=b"", source_mac=None, destination_mac=None):
    """One RoCEv2 frame over IPv4 without FCS. `icrc` False: four wrong bytes."""
    pad = -len(payload) & 3
    bth = struct.pack("!BBHII", opcode, pad << 4 | (0 if opcode == CNP else 0x40), 0xFFFF,
                      (0x80000000 if fecn else 0) | (0x40000000 if becn else 0) | qp, psn & 0xFFFFFF)
    body = bth + extension + payload + bytes(pad)
    udp = struct.pack("!HHHH", port, 4791, 8 + len(body) + 4, 0)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + 8 + len(body) + 4, 0x1234, 0x4000, ttl, 17, 0,
                         ip(source), ip(destination))
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    masked = (b"\xff" * 8 + header[:1] + b"\xff" + header[2:8] + b"\xff" + header[9:10] + b"\xff\xff" + header[12:] +
              udp[:6] + b"\xff\xff" + body[:4] + b"\xff" + body[5:])
    crc = zlib.crc32(masked) ^ (0 if icrc else 0xFFFFFFFF)
    ethernet = (destination_mac or mac(destination)) + (source_mac or mac(source)) + tags + b"\x08\x00"
    return ethernet + header + udp + body + struct.pack("<I", crc)


def ack(source, destination, qp, psn, syndrome=0x1F, msn=1, tos=0x6A):
    return roce(source, destination, qp, psn, ACK, tos, struct.pack("!I", syndrome << 24 | msn), b"")


def nak(source, destination, qp, psn):
    return ack(source, destination, qp, psn, 0x60)


def cnp(source, destination, qp, tos=0xC0):
    return roce(source, destination, qp, 0, CNP, tos, bytes(16), b"", becn=True)


def pfc(source_mac, quanta, vector=None):
    """`quanta`: by priority. `vector`: of the classes, by default those named."""
    times = [quanta.get(priority, 0) for priority in range(8)]
    if vector is None:
        vector = sum(1 << priority for priority in quanta)
    return (PAUSE_DESTINATION + source_mac + struct.pack("!HHH8H", 0x8808, 0x0101, vector, *times)).ljust(60, b"\0")


def pause(source_mac, quanta):
    return (PAUSE_DESTINATION + source_mac + struct.pack("!HHH", 0x8808, 1, quanta)).ljust(60, b"\0")


def write_pcap(path, records):
    """Nanosecond pcap of (nanoseconds behind T0, frame) in the order given."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for when, frame in records:
            out.write(struct.pack("<IIII", (T0 + when) // 10**9, (T0 + when) % 10**9, len(frame), len(frame)))
            out.write(frame)
    return path


def analyze(*arguments, status=0, stderr=""):
    done = rocegen("analyze", "--json", *arguments)
    expect_equal(done.returncode, status, f"status of {arguments}; stderr: {done.stderr}")
    expect(stderr in done.stderr, f"{arguments}: no {stderr!r} in {done.stderr!r}")
    return json.loads(done.stdout)


def analyze_records(folder, records, *arguments, **wanted):
    return analyze(write_pcap(folder.file("records.pcap"), records), *arguments, **wanted)


def steps(frames, step=1000):
    """One frame every `step` ns."""
    return [(i * step, frame) for i, frame in enumerate(frames)]


def flow(report, qp, space="request"):
    found = [f for f in report["flows"] if f["dest_qp"] == qp and f["space"] == space]
    expect_equal(len(found), 1, f"flows to QP {qp:#x}")
    return found[0]


def equal(seen, what, **wanted):
    for key, value in wanted.items():
        expect_equal(seen[key], value, f"{what}: {key}")


def none_but(psn, what, **wanted):
    """An account in which all that is not named is 0."""
    for key, value in psn.items():
        if key not in ("data_frames", "unique", "stall_ns") or key in wanted:
            expect_equal(value, wanted.get(key, 0), f"{what}: {key}")
