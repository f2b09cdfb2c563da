#!/usr/bin/env python3
"""Replay beside tcpreplay: 100,000 packets 10 us apart over veth, both in one run, stamped by one receiver.

usage: replay.py [--rounds N] [--packets N] [--gap US] [--json FILE] [--floor]

The receiver is an AF_PACKET socket on the far end with the kernel's nanosecond stamps. A gap error is |stamped gap - gap of
the file|, of neighbours in sequence (each packet carries its number); the duration is that from the first packet to the last
one. Medians over the rounds. The noise floor is what an idle polling loop saw right before (gaps over 10 us a second). Needs
root; runs in a network namespace of its own and leaves nothing behind. With --floor the exit status is 1 unless rocegen's p50
is a tenth of tcpreplay's or better and its duration within 0.1 %."""
import argparse
import json
import os
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROCEGEN = os.path.abspath(os.environ.get("ROCEGEN", os.path.join(HERE, "../../build/release/rocegen")))
SO_TIMESTAMPNS = 35
MARK = 0x88B5  # EtherType for local experiments


def write_capture(path, packets, gap_ns):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for i in range(packets):
            data = bytes.fromhex("020000000002020000000001") + struct.pack(">HI", MARK, i) + bytes(82)
            ns = 1_700_000_000_000_000_000 + i * gap_ns
            out.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), len(data)) + data)


class Receiver(threading.Thread):
    """Stamps of the numbered packets that arrive on an interface."""

    def __init__(self, interface):
        super().__init__()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(MARK))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE: read at leisure
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind((interface, MARK))
        self.socket.settimeout(1.5)
        self.stamps = {}

    def run(self):
        got = 0
        while True:
            try:
                data, control, _, _ = self.socket.recvmsg(64, 128)
            except socket.timeout:
                if got:
                    break
                continue
            got += 1
            for level, kind, value in control:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("qq", value[:16])
                    self.stamps[struct.unpack_from(">I", data, 14)[0]] = seconds * 10**9 + nanoseconds
        self.socket.close()


def figures(stamps, packets, gap_ns):
    errors = sorted(abs(stamps[i + 1] - stamps[i] - gap_ns) for i in range(packets - 1) if i in stamps and i + 1 in stamps)
    planned = gap_ns * (packets - 1)
    duration = stamps[packets - 1] - stamps[0] if 0 in stamps and packets - 1 in stamps else None
    return {"received": len(stamps), "p50_ns": errors[len(errors) // 2], "p90_ns": errors[len(errors) * 9 // 10],
            "p99_ns": errors[len(errors) * 99 // 100], "max_ns": errors[-1], "duration_ns": duration,
            "duration_error": None if duration is None else duration / planned - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--gap", type=float, default=10, help="us")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--floor", action="store_true")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("needs root: it makes virtual interfaces")
    if os.environ.get("ROCEGEN_REPLAY_NAMESPACE") != "1":
        os.execvpe("unshare", ["unshare", "--net", sys.executable, *sys.argv],
                   {**os.environ, "ROCEGEN_REPLAY_NAMESPACE": "1"})
    run = lambda *command: subprocess.run(command, check=True)  # noqa: E731
    run("ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
    for interface in ("veth0", "veth1"):
        run("sysctl", "-qw", f"net.ipv6.conf.{interface}.disable_ipv6=1")
        run("ip", "link", "set", interface, "mtu", "1500", "up")
    gap_ns = int(arguments.gap * 1000)
    with tempfile.TemporaryDirectory(prefix="rocegen_replay_") as folder:
        path = os.path.join(folder, "even.pcap")
        write_capture(path, arguments.packets, gap_ns)
        testbed = os.path.join(folder, "veth.yaml")
        with open(testbed, "w") as out:
            out.write("kind: dpdk\nports:\n  - {name: p1, device: veth0, driver: af_packet, "
                      "link_rate: 10Gbps, hosts: sources}\n")
        tools = {"rocegen": [ROCEGEN, "replay", path, "--testbed", testbed, "--json"]}
        if shutil.which("tcpreplay"):
            tools["tcpreplay"] = ["tcpreplay", "-q", "-i", "veth0", path]
        rounds = {name: [] for name in tools}
        noise = []
        for _ in range(arguments.rounds):
            for name, command in tools.items():
                receiver = Receiver("veth1")
                receiver.start()
                done = subprocess.run(command, capture_output=True, text=True)
                receiver.join()
                if done.returncode != 0:
                    raise SystemExit(f"{name} failed: {done.stderr}")
                rounds[name].append(figures(receiver.stamps, arguments.packets, gap_ns))
                if name == "rocegen":
                    report = json.loads(done.stdout)
                    noise.append(report["noise_gaps"] * 1e9 / report["noise_ns"])
                time.sleep(0.2)

    result = {"packets": arguments.packets, "gap_ns": gap_ns, "rounds": arguments.rounds,
              "noise_gaps_per_sec": statistics.median(noise)}
    print(f"{arguments.packets} packets, {arguments.gap} us apart, over veth; {arguments.rounds} rounds; an idle loop saw "
          f"{result['noise_gaps_per_sec']:.0f} gaps over 10 us a second")
    print(f"{'':10}{'received':>9}{'p50 us':>9}{'p90 us':>9}{'p99 us':>9}{'max us':>10}{'duration s':>12}{'error':>10}")
    for name, all_rounds in rounds.items():
        middle = {key: statistics.median(r[key] for r in all_rounds) for key in all_rounds[0]
                  if all(r[key] is not None for r in all_rounds)}
        result[name] = middle
        print(f"{name:10}{middle['received']:>9.0f}" + "".join(f"{middle[k] / 1000:>9.2f}" for k in ("p50_ns", "p90_ns", "p99_ns")) +
              f"{middle['max_ns'] / 1000:>10.1f}{middle['duration_ns'] / 1e9:>12.6f}{middle['duration_error']:>+10.4%}")
    wanted = abs(result["rocegen"]["duration_error"]) <= 0.001 and result["rocegen"]["received"] == arguments.packets
    if "tcpreplay" in result:
        result["p50_ratio"] = result["rocegen"]["p50_ns"] / result["tcpreplay"]["p50_ns"]
        print(f"p50: rocegen's is {result['p50_ratio']:.3f} of tcpreplay's")
        wanted = wanted and result["p50_ratio"] <= 0.1
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump(result, out, indent=2)
    return 1 if arguments.floor and not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
