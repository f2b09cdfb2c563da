#!/usr/bin/env python3
"""How evenly rocegen, trafgen and tcpreplay send at one rate over the same pair of virtual interfaces, stamped by one
receiver (the kernel's stamps, as tcpdump writes them): error of each gap against the wanted one (p50, p99, greatest, share
within 1 us), rate error, beside the machine's noise floor. The tools run in turn, several rounds; medians are printed.

usage: pacing.py [--rate PPS] [--seconds S] [--rounds N] [--cpu N] [--verdicts N] [--woken] [--json FILE]

Then rocegen sends --verdicts times for a second, alone and beside a busy loop on its core: how often the first line of its
report says that the plan was not kept.

The kernel wakes the receiver for blocks of frames; with --woken for each frame, which on a veth pair takes 1 to 10 us of the
sender's time, whoever sends.

Needs root (a network namespace of its own), tcpdump; trafgen and tcpreplay are left out where they are not installed. It
measures the whole: schedule, system calls and the kernel's path to the other end. On a machine that does other work, p99
and the greatest error are the machine's: compare them with the noise floor."""
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

FRAME = bytes.fromhex("020000000002" "020000000001" "0800") + struct.pack(
    ">BBHHHBBH4s4s", 0x45, 0, 316, 0, 0x4000, 64, 17, 0, bytes((198, 18, 0, 1)), bytes((198, 18, 0, 2))) + \
    struct.pack(">HHHH", 50000, 4791, 296, 0) + bytes(288)


def arguments_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--woken", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--verdicts", type=int, default=10)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def write(path, text, mode="w"):
    with open(path, mode) as out:
        out.write(text)
    return path


def commands_of(folder, a):
    frames = int(a.rate * a.seconds)
    profile = write(f"{folder}/p.yaml", f"""name: pacing
phases: {{measure: {a.seconds * 2 + 5}s, drain: 10ms}}
hosts: {{a: {{}}, b: {{}}}}
flows:
  - {{name: paced, from: a, to: b, message: 256B, rate: {a.rate}pps, packets: {frames}}}
""")
    testbed = write(f"{folder}/t.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: veth0, link_rate: 100Gbps, hosts: sources}}
  - {{name: p2, device: "net_null0,no-rx=1", link_rate: 100Gbps, hosts: rest}}
cores: {{workers: [{a.cpu}]}}
""")
    commands = {"rocegen": [ROCEGEN, "run", profile, "--testbed", testbed, "--json"]}
    pinned = ["taskset", "-c", str(a.cpu)]
    if shutil.which("trafgen"):
        conf = write(f"{folder}/t.cfg", "{ " + ", ".join(f"0x{b:02x}" for b in FRAME) + " }\n")
        commands["trafgen"] = [*pinned, "trafgen", "--dev", "veth0", "--conf", conf, "--num", str(frames), "--cpus", "1",
                               "--rate", f"{a.rate}pps", "--no-sock-mem"]
    if shutil.which("tcpreplay"):
        pcap = write(f"{folder}/one.pcap", struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) +
                     (struct.pack("<IIII", 1, 0, len(FRAME), len(FRAME)) + FRAME) * 1000, "wb")
        commands["tcpreplay"] = [*pinned, "tcpreplay", "-q", "-i", "veth0", "--preload-pcap", "--pps", str(a.rate),
                                 "--loop", str(frames // 1000), pcap]
    return commands


def measure(command, folder, a):
    with Tcpdump("veth1", f"{folder}/seen.pcap", "-s", "64", "udp", waking=a.woken) as capture:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: {done.stderr[-500:]}")
    times = [time for time, _ in packets(capture.path)]
    wanted = 1e9 / a.rate
    errors = sorted(abs(b - c - wanted) for c, b in zip(times, times[1:]))
    row = {"frames": len(times), "dropped_by_capture": capture.dropped,
           "p50_ns": errors[len(errors) // 2], "p99_ns": errors[int(len(errors) * 0.99)], "max_ns": errors[-1],
           "within_1us": sum(e <= 1000 for e in errors) / len(errors),
           "rate_error": (len(times) - 1) / (times[-1] - times[0]) * wanted - 1}
    noise = None
    if command[0] == ROCEGEN:
        generator = json.loads(done.stdout)["generator"]
        noise = {key: generator[key] for key in ("noise_gaps_per_sec", "noise_gap_max_ns", "on_plan", "gaps")}
    return row, noise


def not_kept(folder, a, hog):
    """In how many of the runs the first line says it."""
    one_second = argparse.Namespace(**{**vars(a), "seconds": 1})
    command = [word for word in commands_of(folder, one_second)["rocegen"] if word != "--json"]
    said = 0
    for _ in range(a.verdicts):
        busy = subprocess.Popen(["taskset", "-c", str(a.cpu), sys.executable, "-c", "while True: pass"]) if hog else None
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        finally:
            if busy:
                busy.kill()
                busy.wait()
        said += "PLAN NOT KEPT" in done.stdout.split("\n")[0]
    return said


def main():
    a = arguments_of()
    enter_own_namespace()
    pair(mtu=1500)
    rows, noises = {}, []
    with tempfile.TemporaryDirectory(prefix="rocegen_pacing_") as folder:
        os.chmod(folder, 0o755)  # tcpdump writes as another user
        commands = commands_of(folder, a)
        for _ in range(a.rounds):
            for name, command in commands.items():
                row, noise = measure(command, folder, a)
                rows.setdefault(name, []).append(row)
                if noise:
                    noises.append(noise)
        verdicts = {name: not_kept(folder, a, hog) for name, hog in (("alone", False), ("beside a busy loop", True))}
    medians = {name: {key: statistics.median(row[key] for row in all_rows) for key in all_rows[0]}
               for name, all_rows in rows.items()}
    print(f"{a.rate} frames/s of {len(FRAME)} bytes for {a.seconds:g} s on CPU {a.cpu}, medians of {a.rounds} rounds")
    print("tool        frames    p50 us    p99 us    max us  within 1 us  rate error")
    for name, m in medians.items():
        print(f"{name:9} {m['frames']:8.0f} {m['p50_ns'] / 1e3:9.3f} {m['p99_ns'] / 1e3:9.1f} {m['max_ns'] / 1e3:9.0f} "
              f"{m['within_1us']:11.1%} {m['rate_error']:+11.3%}")
    gaps = statistics.median(n["noise_gaps_per_sec"] for n in noises)
    longest = statistics.median(n["noise_gap_max_ns"] for n in noises)
    print(f"noise floor: {gaps:.0f} gaps over 10 us a second, longest {longest / 1e3:.0f} us; rocegen said that it kept "
          f"its plan in {sum(n['on_plan'] for n in noises)} of {len(noises)} runs")
    for name, said in verdicts.items():
        print(f"{name}: the report's first line says that the plan was not kept in {said} of {a.verdicts} runs")
    if a.json:
        write(a.json, json.dumps({"plan_not_kept": {**verdicts, "of": a.verdicts}, "rate": a.rate, "seconds": a.seconds, "medians": medians, "rounds": rows,
                                  "noise": noises}, indent=2))


main()
