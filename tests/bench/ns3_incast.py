#!/usr/bin/env python3
"""8:1 incast in rocegen's emulated fabric and in ns-3 (Debian's libns3-dev): do they agree, and how fast
is each. No PFC, no RED, one drop-tail queue of 1 MiB, 100G links, 1044 bytes of UDP payload, 5 ms.

usage: ns3_incast.py [--rounds N] [--json FILE] [--floor R]

Agreement: offered rates around 25G that have no common period (with equal ones the drop-tail queue locks to
the phase, and who starts first wins all: in both alike). Queue peak, drops and each flow's received packets must be
within 1 %. ns-3's queue counts packets, so both hold 1 MiB / 1090 B = 962 frames.
Speed: user + system time of the whole command, report written, median over the rounds; packets are those
that the senders sent. Second figure: the same senders with PFC, ECN, reliable RC (ACKs), DCQCN, cells and series.
The exit status is 1 when they do not agree, or with --floor when the first ratio is under it.
"""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(HERE, "../../build/release/rocegen"))
SENDERS, UDP_PAYLOAD, US = 8, 1044, 5000
PAYLOAD = UDP_PAYLOAD - 12 - 16 - 4  # BTH, RETH, ICRC
L2 = 14 + 20 + 8 + UDP_PAYLOAD + 4
QUEUE = 1024 * 1024
SPREAD = (24.1, 24.4, 24.7, 24.9, 25.1, 25.3, 25.6, 25.9)  # Gbit/s, sum 200
EQUAL = (25,) * SENDERS

PLAIN = f"""  cell: 1B
  buffer: 16MiB
  alpha: {{lossy: 128}}
  pfc: {{priorities: []}}
  queue_limit: {QUEUE}B
"""
FULL = """  cell: 256B
  buffer: 32MiB
  alpha: {lossless: 1/8, lossy: 1}
  pfc: {priorities: [3], xoff_threshold: dynamic, xon_offset: 16KiB, headroom: 64KiB, response: 1us}
  ecn: {priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2}
  scheduler: {strict: [6], dwrr: {0: 30, 3: 70}}
"""
REACTS = "congestion_control: {dcqcn: nvidia}, reliable: true, "


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as out:
        out.write(text)
    return path


def profile(folder, rates, reacts=""):
    flows = "".join(
        f"  - {{name: f{i}, from: \"s[{i}]\", to: r, message: {PAYLOAD}B, path_mtu: 1024, class: rdma, {reacts}"
        f"rate: {rate}Gbps, pattern: {{type: constant, sync: true}}}}\n" for i, rate in enumerate(rates))
    return write(folder, "profile.yaml", f"""name: incast
phases: {{measure: {US}us, drain: 1ms}}
classes: {{rdma: {{dscp: 26, pcp: 3, ecn: ect0}}}}
hosts: {{s: {{count: {SENDERS}}}, r: {{}}}}
flows:
{flows}""")


def timed(command):
    """Output, and user + system seconds of the child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{command}: status {done.returncode}\n{done.stderr}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rocegen(folder, rates, switch, reacts=""):
    testbed = write(folder, "testbed.yaml",
                    "kind: emulated\ntopology: {type: single}\n"
                    "link: {rate: 100Gbps, delay: 500ns}\nswitch:\n" + switch)
    out = os.path.join(folder, "out")
    _, seconds = timed([ROCEGEN, "run", profile(folder, rates, reacts), "--testbed", testbed, "--out", out])
    report = json.load(open(os.path.join(out, "report.json")))
    flows = report["flows"]
    return {"sent": sum(f["data_frames_tx"] for f in flows), "seconds": seconds,
            "frames": sum(n["tx_frames"] for n in report["fabric"]["nics"]),
            "dropped": report["fabric"]["drops"], "peak": report["fabric"]["queue_peak_bytes"] / L2,
            "received": [f["data_frames_rx"] for f in flows]}


def ns3(program, rates):
    text, seconds = timed([program, str(SENDERS), str(UDP_PAYLOAD), str(L2 + 20), str(QUEUE // L2), str(US)] +
                          [str(int(rate * 1e6)) for rate in rates])
    return json.loads(text) | {"seconds": seconds}


def differ(ours, theirs):
    """Relative differences by name."""
    pairs = {"queue peak": (ours["peak"], theirs["peak"]), "drops": (ours["dropped"], theirs["dropped"])}
    for i, both in enumerate(zip(ours["received"], theirs["received"])):
        pairs[f"received of {i}"] = both
    return {name: (a, b, abs(a - b) / b if b else float(a != b)) for name, (a, b) in pairs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float)
    args = parser.parse_args()
    if not os.path.isdir("/usr/include/ns3"):
        print("skipped: ns-3 is not installed (apt-get install libns3-dev)")
        return 77
    folder = tempfile.mkdtemp(prefix="rocegen_ns3_")
    try:
        program = os.path.join(folder, "ns3_incast")
        subprocess.run(["g++", "-O2", "-std=c++17", os.path.join(HERE, "ns3_incast.cc"), "-o", program] +
                       [f"-lns3-{m}" for m in ("core", "network", "internet", "point-to-point",
                                               "traffic-control")], check=True)
        agree = True
        for what, rates in (("rates without a common period", SPREAD), ("equal rates", EQUAL)):
            print(f"{what}: rocegen, ns-3, difference")
            for name, (a, b, share) in differ(rocegen(folder, rates, PLAIN), ns3(program, rates)).items():
                print(f"  {name:14} {a:10.0f} {b:10.0f} {share:8.3%}")
                agree &= share <= 0.01 or rates is EQUAL
        figures = {}
        for name, run in (("ns-3", lambda: ns3(program, EQUAL)),
                          ("rocegen", lambda: rocegen(folder, EQUAL, PLAIN)),
                          ("rocegen with PFC, ECN, ACKs, DCQCN, cells, series",
                           lambda: rocegen(folder, EQUAL, FULL, REACTS))):
            results = [run() for _ in range(args.rounds)]
            for what, key in ((name, "sent"), (f"{name}, replies too", "frames")):
                if key not in results[0]:
                    continue
                figures[what] = statistics.median(r[key] / r["seconds"] for r in results)
                ratio = figures[what] / figures["ns-3"]
                print(f"{what}: {figures[what] / 1e3:.0f} thousand packets a second of CPU, {ratio:.1f} x ns-3")
        if args.json:
            with open(args.json, "w") as out:
                json.dump({"agree": agree, "packets_per_sec": figures}, out, indent=2)
        slow = args.floor is not None and figures["rocegen"] < args.floor * figures["ns-3"]
        return 0 if agree and not slow else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
