#!/usr/bin/env python3
"""Frames of every opcode and kind, written by the unit tests' gallery, judged by tshark and by an ICRC checker that
shares no code with rocegen. Skipped (77) without tshark."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import _icrc_check  # noqa: E402

BUILD = os.environ.get("ROCEGEN_BUILD", "build/test")
# tshark 4.0 shows these as unknown, and prints no fields of them.
UNKNOWN_TO_TSHARK = {"CNP", "RC_FLUSH", "RC_ATOMIC_WRITE", "XRC_FLUSH", "XRC_ATOMIC_WRITE"}
PROTOCOLS = {"tcp": "tcp", "udp": "udp", "pfc": "macc", "pause": "macc", "arp": "arp", "icmpv6": "icmpv6"}
failures = []


def check(right, what):
    if not right:
        failures.append(what)


def tshark(path, *fields):
    """One list of values a frame."""
    command = ["tshark", "-r", path, "--disable-protocol", "tftp", "-o", "udp.check_checksum:TRUE", "-o",
               "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "occurrence=l"]
    for field in fields:
        command += ["-e", field]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t") for line in lines]


def opcode_names(path):
    """What tshark calls each frame's opcode: "Reliable Connection (RC) - SEND First"."""
    text = subprocess.run(["tshark", "-r", path, "-O", "infiniband"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^ +Opcode: (.*) \(\d+\)$", text, re.MULTILINE)


def name_fits(name, said):
    """Whether RC_WRITE_LAST_IMM is "Reliable Connection (RC) - RDMA WRITE Last with Immediate"."""
    service, *words = name.split("_")
    ours = "".join({"COMPARE": "Cmp", "IMM": "withImmediate", "INVALIDATE": "withInvalidate"}.get(word, word) for word in words)
    theirs = said.partition(" - ")[2].replace(" ", "").replace("RDMA", "")
    return f"({service})" in said and ours.lower() == theirs.lower()


def judge_roce(folder, stem, listed):
    path = f"{folder}/{stem}.pcap"
    rows = tshark(path, "_ws.malformed", "infiniband.bth.opcode", "udp.checksum.status", "ip.checksum.status", "vlan.id",
                  "infiniband.aeth.syndrome")
    names = opcode_names(path)
    check(len(rows) == len(names) == len(listed), f"{stem}: {len(rows)} frames, {len(listed)} listed")
    for (number, opcode, name), row, said in zip(listed, rows, names):
        malformed, seen, udp_status, ip_status, vlan, syndrome = row
        where = f"{stem} frame {number} ({name})"
        check(not malformed, f"{where}: tshark calls it malformed")
        check(seen == opcode, f"{where}: opcode {seen}, not {opcode}")
        if name in UNKNOWN_TO_TSHARK:
            check("Unknown" in said, f"{where}: tshark knows it by now: {said}")
        elif not name.isdigit():
            check(name_fits(name, said), f"{where}: tshark says {said}")
        if "ipv6" in stem:
            check(udp_status == "1", f"{where}: UDP checksum status {udp_status}")
        else:
            check(udp_status == "3", f"{where}: UDP checksum status {udp_status}")  # not present
            check(ip_status == "1", f"{where}: IP checksum status {ip_status}")
        check((vlan == "100") == (stem.endswith("vlan") or stem.endswith("qinq")), f"{where}: VLAN {vlan}")
        if stem == "syndromes":
            check(syndrome == name, f"{where}: syndrome {syndrome}")
    _, _, good, _, _ = _icrc_check.check(path)
    check(good == len(listed), f"{stem}: {good} right ICRCs")
    return len(listed)


def judge_others(folder, listed):
    path = f"{folder}/others.pcap"
    rows = tshark(path, "_ws.malformed", "frame.protocols", "tcp.checksum.status", "udp.checksum.status",
                  "icmpv6.checksum.status", "frame.len")
    check(len(rows) == len(listed), "others: frame count")
    for (number, _, name), (malformed, protocols, tcp, udp, icmp, length) in zip(listed, rows):
        where = f"others frame {number} ({name})"
        check(not malformed, f"{where}: tshark calls it malformed")
        check(PROTOCOLS[name] in protocols.split(":"), f"{where}: tshark says {protocols}")
        check(name != "tcp" or tcp == "1", f"{where}: TCP checksum status {tcp}")
        check(name != "udp" or udp in ("1", "3"), f"{where}: UDP checksum status {udp}")
        check(name != "icmpv6" or icmp == "1", f"{where}: ICMPv6 checksum status {icmp}")
        check(name not in ("pfc", "pause", "arp") or length == "60", f"{where}: {length} bytes")
    return len(listed)


def main():
    if not shutil.which("tshark"):
        print("skipped: tshark is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([f"{BUILD}/tests/rocegen_unit_tests", "--gtest_filter=Gallery.*", "--gtest_brief=1"], check=True,
                       env={**os.environ, "ROCEGEN_GALLERY": folder}, stdout=subprocess.DEVNULL)
        judged = 0
        stems = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".pcap"))
        check(len(stems) == 8, f"files: {stems}")
        for stem in stems:
            with open(f"{folder}/{stem}.tsv", encoding="ascii") as file:
                listed = [line.rstrip("\n").split("\t") for line in file]
            judged += judge_others(folder, listed) if stem == "others" else judge_roce(folder, stem, listed)
    for failure in failures[:40]:
        print("FAILED", failure)
    print(f"{judged} frames judged, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
