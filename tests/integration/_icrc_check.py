#!/usr/bin/env python3
"""Checks the ICRC of every RoCE frame in captures. Written from the standard's text with zlib.crc32 alone: it shares no
code with rocegen, so that it can judge it.

usage: _icrc_check.py FILE...    pcap (either byte order, us or ns) and pcapng (Ethernet interfaces)
One line a file; exit status 1 when an ICRC is wrong or could not be checked, or when there is no RoCE frame at all."""
import struct
import sys
import zlib

ROCE_PORT = 4791
VLAN_TYPES = (0x8100, 0x88A8, 0x9100)


def pcap_frames(data):
    little = data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
    order = "<" if little else ">"
    at = 24
    while at + 16 <= len(data):
        captured, length = struct.unpack_from(order + "II", data, at + 8)
        yield data[at + 16:at + 16 + captured], length
        at += 16 + captured


def pcapng_frames(data):
    at, order, links = 0, "<", []
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":  # section header: byte order and interfaces begin anew
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < 12 or at + size > len(data):
            return
        body = data[at + 8:at + size - 4]
        if kind == 1:
            links.append(struct.unpack_from(order + "H", body)[0])
        elif kind == 6:  # enhanced packet
            interface, _, _, captured, length = struct.unpack_from(order + "IIIII", body)
            if links[interface] == 1:
                yield body[20:20 + captured], length
        elif kind == 3:  # simple packet
            length = struct.unpack_from(order + "I", body)[0]
            yield body[4:4 + min(length, len(body) - 4)], length
        at += size


def frames(path):
    """Pairs of captured bytes and length on the wire."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return pcapng_frames(data)
    if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d"):
        return pcap_frames(data)
    raise ValueError(f"{path}: neither pcap nor pcapng")


def verdict(frame):
    """'good', 'bad', 'cut' (not checkable), or None for what is no RoCE frame."""
    at = 12
    kind = int.from_bytes(frame[at:at + 2], "big")
    while kind in VLAN_TYPES:
        at += 4
        kind = int.from_bytes(frame[at:at + 2], "big")
    packet = bytearray(frame[at + 2:])
    if kind == 0x0800 and len(packet) >= 28:
        header = (packet[0] & 15) * 4
        if packet[9] != 17 or header != 20:
            return None
        end = int.from_bytes(packet[2:4], "big")
        for masked in (1, 8, 10, 11):  # type of service, time to live, header checksum
            packet[masked] = 0xFF
    elif kind in (0x86DD, 0x8915) and len(packet) >= 48:
        header = 40
        if packet[6] != (17 if kind == 0x86DD else 0x1B):
            return None
        end = 40 + int.from_bytes(packet[4:6], "big")
        packet[0] |= 0x0F  # traffic class, flow label, hop limit
        for masked in (1, 2, 3, 7):
            packet[masked] = 0xFF
    else:
        return None
    bth = header
    if kind != 0x8915:
        if int.from_bytes(packet[header + 2:header + 4], "big") != ROCE_PORT:
            return None
        packet[header + 6] = packet[header + 7] = 0xFF  # UDP checksum
        bth = header + 8
    if len(packet) < end or end < bth + 16:
        return "cut"
    packet[bth + 4] = 0xFF  # FECN, BECN, reserved
    computed = zlib.crc32(b"\xff" * 8 + bytes(packet[:end - 4]))
    return "good" if packet[end - 4:end] == computed.to_bytes(4, "little") else "bad"


def check(path):
    """Numbers of frames: all, RoCE, and of those good, bad and not checkable."""
    counts = {None: 0, "good": 0, "bad": 0, "cut": 0}
    for frame, _ in frames(path):
        counts[verdict(frame)] += 1
    total = sum(counts.values())
    return total, total - counts[None], counts["good"], counts["bad"], counts["cut"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    right = True
    for path in sys.argv[1:]:
        total, roce, good, bad, cut = check(path)
        print(f"{path}: {total} frames, {roce} RoCE, {good} valid, {bad} bad, {cut} not checkable")
        right = right and good == roce > 0
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
