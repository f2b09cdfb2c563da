#!/usr/bin/env python3
"""Linux's own RoCEv2 endpoint (rdma_rxe, in a QEMU guest behind a tap) judges frames that rocegen makes and sends by
af_packet and by af_xdp, over IPv4 and IPv6: what it must accept it counts and answers, defects it drops.
The guest is made from Debian's kernel and kept in the build folder. Skipped (77) with the reason where QEMU, root or the
kernel's package are not to be had."""
import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../rxe"))
from _lab import ROCEGEN, Folder, expect_held, need, skip  # noqa: E402
import cases  # noqa: E402
import guest as rxe_guest  # noqa: E402

BUILD = os.environ.get("ROCEGEN_BUILD", "build/test")
TAP = "tap0"
DRIVERS = {
    # 4 KiB of payload fit.
    "af_packet": ("net_af_packet0,iface=tap0,qdisc_bypass=0,framesz=8192,blocksz=8192,framecnt=256", 4096),
    "af_xdp": ("net_af_xdp0,iface=tap0,force_copy=1", 2048),  # a frame has one page, headroom within
}
PREFIXES = {"v4": "10.9.1", "v6": "fd09:1::", "v4vlan": "10.9.7", "v6vlan": "fd09:7::"}
counts = {"passed": 0, "failed": 0}


def verdict(holds, name, why=""):
    counts["passed" if holds else "failed"] += 1
    print(f"{'ok  ' if holds else 'FAIL'} {name}" + ("" if holds else f": {why}"), flush=True)


def address(net, host):
    return f"{PREFIXES[net]}{host}" if "v6" in net else f"{PREFIXES[net]}.{host}"


def parse(frame):
    """Opcode, PSN and what follows the BTH of a RoCEv2 frame; the tag was taken off by the kernel."""
    kind = frame[12:14]
    if kind == b"\x08\x00" and frame[23] == 17:
        end, udp = 14 + int.from_bytes(frame[16:18], "big"), 34
    elif kind == b"\x86\xdd" and frame[20] == 17:
        end, udp = 54 + int.from_bytes(frame[18:20], "big"), 54
    else:
        return None
    if frame[udp + 2:udp + 4] != b"\x12\xb7":
        return None
    bth = frame[udp + 8:end]
    return {"opcode": bth[0], "psn": int.from_bytes(bth[9:12], "big"), "body": bth[12:-4]}


def name_of(answer):
    if answer["opcode"] not in (17, 18):
        return f"op{answer['opcode']}@{answer['psn']:x}"
    syndrome = answer["body"][0]
    kind = "ACK" if syndrome < 32 else f"RNR({syndrome & 31})" if syndrome >> 5 == 1 else f"NAK({syndrome & 31})"
    return f"{kind}{' atomic' if answer['opcode'] == 18 else ''}@{answer['psn']:x}"


class Tap:
    """What crosses the tap, beside whoever sends: answers are only seen while no XDP program takes them."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((TAP, 0))
        self.socket.setblocking(False)

    def answers(self, seconds=0.0, wanted=0):
        out, end = [], time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self.socket], [], [], max(0.0, end - time.monotonic()) if len(out) < wanted else 0)
            if not ready:
                return out
            frame, (_, _, direction, *_) = self.socket.recvfrom(9000)
            if direction != 4:  # not sent by this machine
                answer = parse(frame)
                out += [answer] if answer else []

    @staticmethod
    def sent():
        with open(f"/sys/class/net/{TAP}/statistics/tx_packets", encoding="ascii") as file:
            return int(file.read())


def write_files(folder, net, driver, flows, length):
    """A profile of these flows, over `length` ms, and the testbed that sends them to the guest."""
    device, longest = DRIVERS[driver]
    bits = "/64" if "v6" in net else ".0/24"
    other = "fd09:2::/64" if "v6" in net else "10.9.2.0/24"
    profile = folder.file("profile.yaml", f"""
phases: {{measure: {length}ms, drain: 0ms}}
classes: {{marked: {{dscp: 26, ecn: ect0}}, ce: {{ecn: ce}}}}
hosts: {{a: {{}}, b: {{}}, c: {{count: 2, prefix: '{PREFIXES[net]}{bits}'}}, d: {{prefix: '{other}'}}}}
flows:
""" + "".join("  - {" + ", ".join(f"{key}: {value}" for key, value in flow.items()) + "}\n" for flow in flows))
    testbed = folder.file("testbed.yaml", f"""
kind: dpdk
prefix: {PREFIXES[net]}{bits}
ports:
  - {{name: p1, device: '{device}', link_rate: 1Gbps, mtu: {longest + 100}, hosts: a, gateway: '{address(net, 9)}', gateway_mac: '{rxe_guest.MAC}'}}
  - {{name: p2, device: 'net_null0,no-rx=1', link_rate: 1Gbps, mtu: 4200, hosts: rest}}
""")
    return profile, testbed


def flows_of(batch):
    flows = []
    for case in batch:
        for flow in case.flows:
            flows.append({"from": "a", "to": "b", "rate": "1kpps", "packets": 1, "tag": "false", "shared_qp": "true",
                          "start": f"{10 + 10 * len(flows)}ms", **flow})
    return flows


def batches_of(listed):
    """Cases in order, cut where acceptance changes: then a batch's sum says it of each case."""
    batches = []
    for case in listed:
        if not batches or (batches[-1][0].accepted == 0) != (case.accepted == 0):
            batches.append([])
        batches[-1].append(case)
    return batches


def send(folder, net, driver, batch):
    flows = flows_of(batch)
    profile, testbed = write_files(folder, net, driver, flows, 10 * (len(flows) + 2))
    run = subprocess.run([ROCEGEN, "run", profile, "--testbed", testbed, "--json"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, timeout=120)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"rocegen does not run over {driver}: {run.stderr}")
    expect_held(run.returncode, json.loads(run.stdout), f"a batch over {driver}")


def judge(lab, tap, batch, send_batch, hears):
    """Sends a batch; the answers by case."""
    before, sent = lab.counters(), tap.sent()
    tap.answers()
    send_batch()
    wanted = {name: sum(case.counters[name] for case in batch) for name in batch[0].counters}
    end = time.monotonic() + 3
    while True:  # the guest may be behind
        time.sleep(0.2)
        after = lab.counters()
        moved = {name: after[name] - before[name] for name in wanted}
        if moved == wanted or time.monotonic() > end:
            break
    heard = tap.answers()
    names, expected = [name_of(answer) for answer in heard], [name for case in batch for name in case.answers]
    left = tap.sent() - sent
    holds = moved == wanted and left == sum(case.frames for case in batch) and (not hears or names == expected)
    for case in batch:
        verdict(holds, case.name, "one of these")
    if not holds:
        print(f"     wanted {wanted} {expected}, saw {moved} {names}; {left} frames left")
    return [[heard.pop(0) for _ in case.answers if heard] for case in batch]


def judged(folder, lab, tap, net, driver, kind, make):
    """A fresh queue pair for the cases that `make` lists; the cases, and their answers."""
    peer_net = net + "vlan" if kind == "vlan" else net
    qp, va, rkey = lab.peer(f"{kind}-{driver}-{net}", "rc" if kind == "vlan" else kind, lab.gids[peer_net],
                            address(peer_net, 1))
    listed, answers = make(qp, va, rkey), []
    for batch in batches_of(listed):
        answers += judge(lab, tap, batch, lambda: send(folder, peer_net, driver, batch), driver == "af_packet")
    lab.end_peer()
    return listed, answers


def judge_contents(listed, answers):
    """What was written is what a READ returns, and what an atomic found."""
    by_name = {case.name: answer for case, answer in zip(listed, answers)}
    pattern = bytes(n % 256 for n in range(1024))
    read = b"".join(a["body"][0 if a["opcode"] == 14 else 4:] for a in by_name["rc read 2500"])
    verdict(read == (pattern[:64] + pattern + pattern + pattern[:452])[:2500], "rc read returns what was written", read[:80].hex())
    atomic = by_name["rc fetch&add"]
    verdict(bool(atomic) and atomic[0]["body"][4:] == struct.pack(">Q", 0x1111), "atomic ack carries the earlier value")


def judge_altered(folder, lab, tap):
    """Frames of rocegen that no NIC would send: padded, and cut."""
    qp, _, _ = lab.peer("altered", "ud", lab.gids["v4"], address("v4", 1))
    profile, testbed = write_files(folder, "v4", "af_packet", flows_of(cases.ud_cases(qp, False, 1024)[:1]), 30)
    subprocess.run([ROCEGEN, "craft", profile, "--testbed", testbed, "-o", f"{folder.path}/one.pcap"], check=True,
                   stderr=subprocess.DEVNULL)
    with open(f"{folder.path}/one.pcap", "rb") as file:
        frame = file.read()[40:]
    for name, altered, accepted in (("crafted frame from a file", frame, 1),
                                    ("octets behind the datagram (Ethernet padding)", frame + bytes(18), 1),
                                    ("frame cut by 4 octets", frame[:-4], 0)):
        before = lab.counters()["rcvd_pkts"]
        tap.socket.send(altered)
        time.sleep(0.2)
        moved = lab.counters()["rcvd_pkts"] - before
        verdict(moved == accepted, name, f"accepted {moved}")
    lab.end_peer()


def judge_all(build):
    lab = rxe_guest.Guest(build, TAP)
    print(f"guest up under {lab.kind}", flush=True)
    try:
        with Folder() as folder:
            tap = Tap()
            judge_altered(folder, lab, tap)
            for driver, (_, longest) in DRIVERS.items():
                for net in ("v4", "v6"):
                    print(f"-- {driver}, IP{net}", flush=True)
                    args = (folder, lab, tap, net, driver)
                    judged(*args, "ud", lambda qp, va, rkey: cases.ud_cases(qp, net == "v6", longest))
                    rc = judged(*args, "rc", cases.rc_cases)
                    if driver == "af_packet":
                        judge_contents(*rc)
                    judged(*args, "uc", cases.uc_cases)
                    judged(*args, "vlan", lambda qp, va, rkey: cases.vlan_cases(qp))
    finally:
        lab.stop()


def in_namespace(build):
    """Makes a namespace with a tap and runs this file in it; both go with it."""
    name = f"rocegen-rxe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        skip(f"no network namespace: {made.stderr.strip()}")
    inside = ["ip", "netns", "exec", name]
    try:
        for command in (["ip", "tuntap", "add", "dev", TAP, "mode", "tap"],
                        ["sysctl", "-qw", f"net.ipv6.conf.{TAP}.disable_ipv6=1"],
                        ["ip", "link", "set", "lo", "up"],
                        ["ip", "link", "set", TAP, "mtu", "4200", "txqueuelen", "10000", "up"]):
            done = subprocess.run(inside + command, capture_output=True, text=True)
            if done.returncode:
                skip(f"no tap: {done.stderr.strip()}")
        return subprocess.run(inside + [sys.executable, __file__, "--inside", build]).returncode
    finally:
        subprocess.run(["ip", "netns", "del", name])


def main():
    if sys.argv[1:2] == ["--inside"]:
        start = time.monotonic()
        judge_all(sys.argv[2])
        print(f"{counts['passed']} passed, {counts['failed']} failed, {time.monotonic() - start:.0f} s")
        sys.exit(1 if counts["failed"] else 0)
    need("qemu-system-x86_64", "ip", "sysctl")
    if os.geteuid() != 0:
        skip("a tap needs root")
    if not os.path.exists("/dev/net/tun"):
        skip("no /dev/net/tun")
    build = os.path.abspath(os.path.join(BUILD, "rxe_guest"))
    if not os.path.exists(f"{build}/initrd.gz"):
        made = subprocess.run(["bash", os.path.join(HERE, "../rxe/build_guest.sh"), build], capture_output=True, text=True)
        if made.returncode == 77:
            skip(made.stdout.strip().removeprefix("skipped: "))
        if made.returncode:
            shutil.rmtree(build, ignore_errors=True)
            skip(f"the guest cannot be made: {made.stderr.strip()[-300:]}")
    sys.exit(in_namespace(build))


if __name__ == "__main__":
    main()
