#!/usr/bin/env python3
"""Checks the ICRC of every RoCEv2 frame of captures, with zlib.crc32 and none of rocegen's code.

usage: _icrc_check.py FILE...      prints "FILE: N frames, N RoCEv2, N valid, N bad, N not checkable"
                                   and exits with 1 if any is bad
Reads classic pcap (both byte orders, us and ns) of Ethernet; IPv4 and IPv6, any number of VLAN tags.
The sum covers eight 0xff, the IP header with its mutable fields masked, UDP with its checksum masked,
BTH with byte 4 masked, and all the rest up to the ICRC (IBTA Annex A17), low byte first on the wire.
"""
import struct
import sys
import zlib

ROCE_PORT = 4791
VLAN_TYPES = (0x8100, 0x88A8, 0x9100)


def records(path):
    """(captured bytes, length on the wire) of each record."""
    data = open(path, "rb").read()
    magic = data[:4]
    order = {"d4c3b2a1": "<", "4d3cb2a1": "<", "a1b2c3d4": ">", "a1b23c4d": ">"}.get(magic.hex())
    if order is None:
        raise SystemExit(f"{path}: no classic pcap (magic {magic.hex()})")
    at = 24
    while at + 16 <= len(data):
        captured, length = struct.unpack(order + "II", data[at + 8 : at + 16])
        yield data[at + 16 : at + 16 + captured], length
        at += 16 + captured


def roce_datagram(frame):
    """The IP datagram of a RoCEv2 frame up to the ICRC and the ICRC; None if it is none."""
    at, ether_type = 12, int.from_bytes(frame[12:14], "big")
    while ether_type in VLAN_TYPES:
        at += 4
        ether_type = int.from_bytes(frame[at : at + 2], "big")
    ip = frame[at + 2 :]
    if ether_type == 0x0800 and len(ip) >= 28 and ip[0] == 0x45 and ip[9] == 17:
        length, header = int.from_bytes(ip[2:4], "big"), 20
    elif ether_type == 0x86DD and len(ip) >= 48 and ip[6] == 17:
        length, header = 40 + int.from_bytes(ip[4:6], "big"), 40
    else:
        return None
    if int.from_bytes(ip[header + 2 : header + 4], "big") != ROCE_PORT:
        return None
    return ip[:length], length, header


def icrc(datagram, header):
    masked = bytearray(datagram)
    if header == 20:
        masked[1] = masked[8] = masked[10] = masked[11] = 0xFF
    else:
        masked[0] |= 0x0F
        masked[1] = masked[2] = masked[3] = masked[7] = 0xFF
    masked[header + 6] = masked[header + 7] = 0xFF
    masked[header + 8 + 4] = 0xFF
    return zlib.crc32(b"\xff" * 8 + bytes(masked))


def check(path):
    total = roce = valid = bad = cut = 0
    for frame, _ in records(path):
        total += 1
        found = roce_datagram(frame)
        if not found:
            continue
        roce += 1
        datagram, length, header = found
        if len(datagram) < length:
            cut += 1
        elif icrc(datagram[:-4], header) == int.from_bytes(datagram[-4:], "little"):
            valid += 1
        else:
            bad += 1
    return total, roce, valid, bad, cut


if __name__ == "__main__":
    failed = False
    for name in sys.argv[1:]:
        total, roce, valid, bad, cut = check(name)
        print(f"{name}: {total} frames, {roce} RoCEv2, {valid} valid, {bad} bad, {cut} not checkable")
        failed |= bad > 0
    sys.exit(1 if failed else 0)
