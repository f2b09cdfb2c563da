#!/usr/bin/env python3
"""Replay beside tcpreplay: 100,000 packets 10 us apart over veth, both in one run, stamped by one receiver.

usage: replay.py [--rounds N] [--packets N] [--gap US] [--woken] [--json FILE] [--floor]

The receiver is tcpdump on the far end, with the kernel's nanosecond stamps. The kernel wakes it for blocks of packets; with
--woken for each, which on a veth pair takes 1 to 10 us of the sender's time, whoever sends. A gap error is |stamped gap - gap of
the file|, of neighbours in sequence (each packet carries its number); the duration is that from the first packet to the last
one. Medians over the rounds. The noise floor is what an idle polling loop saw right before (gaps over 10 us a second). Needs
root; runs in a network namespace of its own and leaves nothing behind. With --floor the exit status is 1 unless rocegen's p50
is a tenth of tcpreplay's or better and its duration within 0.1 %."""
import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
os.environ.setdefault("ROCEGEN", os.path.join(ROOT, "build/release/rocegen"))
os.environ.setdefault("ROCEGEN_SOURCE", ROOT)
sys.path.insert(0, os.path.join(HERE, "../integration"))
from _lab import ROCEGEN  # noqa: E402
from _veth import Tcpdump, enter_own_namespace, packets, pair  # noqa: E402

MARK = 0x88B5  # EtherType for local experiments


def write_capture(path, count, gap_ns):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHIIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for i in range(count):
            data = bytes.fromhex("020000000002020000000001") + struct.pack(">HI", MARK, i) + bytes(82)
            ns = 1_700_000_000_000_000_000 + i * gap_ns
            out.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), len(data)) + data)


def stamps_of(path):
    """When each numbered packet arrived."""
    return {struct.unpack_from(">I", data, 14)[0]: when for when, data in packets(path)}


def figures(stamps, count, gap_ns):
    errors = sorted(abs(stamps[i + 1] - stamps[i] - gap_ns) for i in range(count - 1) if i in stamps and i + 1 in stamps)
    planned = gap_ns * (count - 1)
    duration = stamps[count - 1] - stamps[0] if 0 in stamps and count - 1 in stamps else None
    return {"received": len(stamps), "p50_ns": errors[len(errors) // 2], "p90_ns": errors[len(errors) * 9 // 10],
            "p99_ns": errors[len(errors) * 99 // 100], "max_ns": errors[-1], "duration_ns": duration,
            "duration_error": None if duration is None else duration / planned - 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--gap", type=float, default=10, help="us")
    parser.add_argument("--woken", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--floor", action="store_true")
    arguments = parser.parse_args()
    enter_own_namespace()
    pair(mtu=1500)
    gap_ns = int(arguments.gap * 1000)
    with tempfile.TemporaryDirectory(prefix="rocegen_replay_") as folder:
        os.chmod(folder, 0o755)  # tcpdump writes as another user
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
                seen = os.path.join(folder, "seen.pcap")
                with Tcpdump("veth1", seen, "-s", "64", "ether", "proto", str(MARK), waking=arguments.woken):
                    done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    raise SystemExit(f"{name} failed: {done.stderr}")
                rounds[name].append(figures(stamps_of(seen), arguments.packets, gap_ns))
                if name == "rocegen":
                    report = json.loads(done.stdout)
                    noise.append(report["noise_gaps"] * 1e9 / report["noise_ns"])

    result = {"packets": arguments.packets, "gap_ns": gap_ns, "rounds": arguments.rounds,
              "noise_gaps_per_sec": statistics.median(noise)}
    print(f"{arguments.packets} packets, {arguments.gap} us apart, over veth; {arguments.rounds} rounds; an idle loop saw "
          f"{result['noise_gaps_per_sec']:.0f} gaps over 10 us a second")
    print(f"{'':10}{'received':>9}{'p50 us':>9}{'p90 us':>9}{'p99 us':>9}{'max us':>10}{'duration s':>12}{'error':>10}")
    for name, all_rounds in rounds.items():
        middle = {key: statistics.median(r[key] for r in all_rounds) for key in all_rounds[0]
                  if all(r[key] is not None for r in all_rounds)}
        result[name] = middle
        print(f"{name:10}{middle['received']:>9.0f}" + "".join(f"{middle[k] / 1000:>9.3f}" for k in ("p50_ns", "p90_ns", "p99_ns")) +
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
