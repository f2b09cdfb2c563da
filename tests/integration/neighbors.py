"""What emulated hosts say on a wire: they announce themselves, find their gateway by ARP, answer who asks;
the link partner's LLDP is read and held against the classes. The other end of the cable is played here."""
import os
import socket
import struct
import threading
import time

from _lab import Folder, expect, expect_equal, rocegen, run_json
from _veth import enter_own_namespace, pair

enter_own_namespace()
ROUTER = bytes.fromhex("0200000000fe")
LLDP = (bytes.fromhex("0180c200000e" "0200000000fe" "88cc" "0207040200000000fe" "040405") + b"Et4" +
        bytes.fromhex("06020078" "0a03") + b"sw1" + bytes.fromhex("fe060080c20b0808" "0000"))


def arp(op, sender_mac, sender_ip, target_mac, target_ip, to):
    return to + sender_mac + struct.pack(">HHHBBH", 0x0806, 1, 0x0800, 6, 4, op) + sender_mac + \
        socket.inet_aton(sender_ip) + target_mac + socket.inet_aton(target_ip)


class Switch(threading.Thread):
    """Answers for the gateway, asks for a host, says LLDP, keeps what it hears."""

    def __init__(self, interface, answers=True):
        super().__init__()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))
        self.socket.settimeout(0.05)
        self.answers, self.done = answers, threading.Event()
        self.announced, self.data, self.replies, self.asked = set(), set(), [], 0

    def run(self):
        begin, questions = time.monotonic(), 0
        while not self.done.is_set():
            if self.answers and questions < 3 and time.monotonic() > begin + 1.2 + 0.1 * questions:
                questions += 1
                self.socket.send(LLDP)
                self.socket.send(arp(1, ROUTER, "198.18.1.1", bytes(6), "198.18.1.3", b"\xff" * 6))
            try:
                frame = self.socket.recv(2048)
            except socket.timeout:
                continue
            if frame[6:12] == ROUTER:
                continue
            if frame[12:14] == b"\x08\x06":
                op, sender, target = frame[21], socket.inet_ntoa(frame[28:32]), socket.inet_ntoa(frame[38:42])
                if sender == target:
                    self.announced.add((sender, frame[22:28]))
                elif op == 1 and target == "198.18.1.1":
                    self.asked += 1
                    if self.answers:
                        self.socket.send(arp(2, ROUTER, "198.18.1.1", frame[6:12], sender, frame[6:12]))
                elif op == 2:
                    self.replies.append((sender, frame[0:6]))
            elif frame[12:14] == b"\x08\x00":
                self.data.add(frame[0:6])

    def end(self):
        self.done.set()
        self.join()
        self.socket.close()


with Folder() as folder:
    pair("left0", "left1", 1500)
    pair("right0", "right1", 1500)
    profile = folder.file("p.yaml", """name: routed
phases: {measure: 1500ms, drain: 20ms}
classes:
  rdma: {dscp: 26, ecn: ect0}
hosts: {a: {count: 3}, b: {}}
flows:
  - {name: write, from: a, to: b, message: 256B, class: rdma, rate: 1kpps}
""")

    def testbed(more=""):
        return folder.file("t.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: left0, link_rate: 10Gbps, hosts: [a], prefix: 198.18.1.0/24, gateway: 198.18.1.1{more}}}
  - {{name: p2, device: right0, link_rate: 10Gbps, hosts: [b], prefix: 198.18.2.0/24, gateway: 198.18.2.1}}
""")

    switch = Switch("left1")
    switch.start()
    report = run_json(profile, "--testbed", testbed())
    switch.end()
    port = report["ports"][0]
    expect_equal(port["gateway_mac"], "02:00:00:00:00:fe", "gateway found")
    expect_equal(switch.data, {ROUTER}, "data frames go to the router")
    expect_equal({ip for ip, _ in switch.announced}, {f"198.18.1.{n}" for n in (2, 3, 4)}, "announced")
    expect(("198.18.1.3", ROUTER) in switch.replies, f"no answer for a host: {switch.replies}")
    partner = port["link_partner"]
    expect_equal((partner["system_name"], partner["port"], partner["pfc_priorities"]), ("sw1", "Et4", [3]),
                 "LLDP")
    expect(not any("lossy" in note for note in report["notes"]), f"priority 3 is paused: {report['notes']}")
    expect_equal(report["ports"][1]["link_partner"], None, "no LLDP on p2")
    expect(port["kernel_counters"]["net.tx_dropped"] == 0, "the kernel's counters")

    # A priority that the partner does not pause.
    text = open(profile).read().replace("dscp: 26", "dscp: 34")
    switch = Switch("left1")
    switch.start()
    report = run_json(folder.file("q.yaml", text), "--testbed", testbed())
    switch.end()
    expect(any("priority 4" in note and "lossy" in note for note in report["notes"]),
           f"priority 4 against DCBX: {report['notes']}")

    # Nobody answers; then the address is pinned.
    switch = Switch("left1", answers=False)
    switch.start()
    done = rocegen("run", profile, "--testbed", testbed())
    expect_equal(done.returncode, 3, f"without a gateway; {done.stderr}")
    expect("198.18.1.1 does not answer" in done.stderr, done.stderr)
    expect(switch.asked >= 2, f"asked {switch.asked} times")
    run_json(profile, "--testbed", testbed(', gateway_mac: "02:00:00:00:00:fd"'))
    switch.end()
    expect_equal(switch.data, {bytes.fromhex("0200000000fd")}, "pinned gateway")
print("announced, resolved, answered, LLDP read")
