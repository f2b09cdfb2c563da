"""Tests on virtual interfaces run in a network namespace of their own: nothing is left behind, and
nothing else on the machine sees a frame of theirs."""
import ctypes
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from _lab import SOURCE, expect, need, skip


def enter_own_namespace():
    """Starts this script anew in a namespace; returns there."""
    if os.geteuid() != 0:
        skip("virtual interfaces need root")
    need("unshare", "ip")
    if os.environ.get("ROCEGEN_TEST_NAMESPACE") == "1":
        # sysfs shows the interfaces of the namespace in which it was mounted.
        subprocess.run(["mount", "-t", "sysfs", "none", "/sys"], check=False)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    probe = subprocess.run(["unshare", "--net", "--mount", "true"], stderr=subprocess.PIPE, text=True)
    if probe.returncode != 0:
        skip(f"no namespaces here: {probe.stderr.strip()}")
    os.execvpe("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv],
               {**os.environ, "ROCEGEN_TEST_NAMESPACE": "1"})


def pair(a="veth0", b="veth1", mtu=9000):
    done = subprocess.run([f"{SOURCE}/scripts/veth.sh", "up", a, b, str(mtu)],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        skip(f"no veth here: {done.stderr.strip()}")


class Tcpdump:
    """tcpdump of one interface into a file; ended at the end of the block, its drops counted. With `waking` the kernel
    wakes it for each frame, in the sender's time; without, for blocks of them, which disturbs the sender less."""

    def __init__(self, interface, path, *options, waking=True):
        self.wait = 0.3 if waking else 1.5  # what waits in the socket is written
        self.path = path
        self.command = ["tcpdump", "-i", interface, "-w", path, "-B", "65536", "-j", "host",
                        "--time-stamp-precision=nano", "-U", *(["--immediate-mode"] if waking else []), *options]

    def __enter__(self):
        need("tcpdump")
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        line = ""
        while "listening on" not in line:
            line = self.process.stderr.readline()
            expect(line != "", f"tcpdump did not start: {self.command}")
        return self

    def __exit__(self, *_):
        time.sleep(self.wait)
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.communicate(timeout=60)[1]
        dropped = re.search(r"(\d+) packets? dropped by kernel", self.said)
        self.dropped = int(dropped.group(1)) if dropped else None


def packets(path):
    """(nanoseconds, frame) of a pcap file of either precision."""
    with open(path, "rb") as file:
        head = file.read(24)
        magic = struct.unpack("<I", head[:4])[0]
        unit = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}[magic]
        while len(header := file.read(16)) == 16:
            seconds, fraction, length, _ = struct.unpack("<4I", header)
            yield seconds * 1_000_000_000 + fraction * unit, file.read(length)


class Frame:
    """What a RoCEv2 frame over IPv4 says, read with nothing of rocegen's."""

    def __init__(self, frame):
        at, self.pcp = 12, None
        (kind,) = struct.unpack_from(">H", frame, at)
        while kind in (0x8100, 0x88A8):
            self.pcp = struct.unpack_from(">H", frame, at + 2)[0] >> 13
            at += 4
            (kind,) = struct.unpack_from(">H", frame, at)
        self.roce = False
        if kind != 0x0800 or frame[at + 2 + 9] != 17:
            return
        ip = at + 2
        self.dscp, self.ecn = frame[ip + 1] >> 2, frame[ip + 1] & 3
        udp = ip + 4 * (frame[ip] & 15)
        self.source_port, destination_port = struct.unpack_from(">HH", frame, udp)
        if destination_port != 4791:
            return
        bth = udp + 8
        self.roce = True
        self.opcode = frame[bth]
        self.dest_qp = int.from_bytes(frame[bth + 5:bth + 8], "big")
        self.psn = int.from_bytes(frame[bth + 9:bth + 12], "big")
