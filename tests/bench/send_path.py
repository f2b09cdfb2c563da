#!/usr/bin/env python3
"""Send path on net_null: rocegen beside dpdk-testpmd txonly, same core, same frame length, in turn.

usage: send_path.py [--rounds N] [--seconds S] [--cpu N] [--json FILE] [--floor R] [--testpmd-cost]

What is measured is the CPU cost of making and handing over frames, not a NIC's rate: net_null frees
what it is given (copy=1: copies it first; DPDK refuses no-rx then, so rocegen also receives the 32 frames that such a
port makes up at each poll, which testpmd txonly does not). rocegen makes RC WRITE_ONLY frames with tag and valid ICRC,
QPs in shuffled order, with its real schedule at a rate no core reaches, and verifies every 4096th
frame whole during the run. testpmd sends prebuilt frames with --txonly-multi-flow. A ratio is the median
over the rounds of rocegen's frames per second over testpmd's in the same round. With --floor the exit
status is 1 when a ratio is under it.

On a machine that does other work, rates say little. --testpmd-cost prints what a packet costs testpmd's thread in
processor time, by the scheduler's account over its own count of packets: hold it beside what send_cost_test prints.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(HERE, "../../build/release/rocegen"))
HEADERS = 14 + 20 + 8 + 12 + 16 + 4  # Ethernet, IPv4, UDP, BTH, RETH, ICRC
PAYLOADS = (64, 1024, 4096)


def rocegen_rate(folder, payload, qps, copy, cpu, seconds):
    """Frames per second, and the number of frames verified."""
    profile = os.path.join(folder, "profile.yaml")
    testbed = os.path.join(folder, "testbed.yaml")
    with open(profile, "w") as out:
        out.write(f"""name: send-path
phases: {{measure: {seconds}s, drain: 0ms}}
hosts: {{a: {{count: 1}}, b: {{count: 1}}}}
flows:
  - {{name: f, from: a, to: b, verb: write, message: {payload}B, path_mtu: 4096, qps: {qps}, rate: 100%,
     qp_order: shuffled}}
""")
    with open(testbed, "w") as out:
        out.write(f"""kind: dpdk
ports:
  - {{name: p1, device: "net_null0,{'copy=1' if copy else 'no-rx=1'}", link_rate: 1.6Tbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: "net_null1,no-rx=1", link_rate: 1.6Tbps, mtu: 9000, hosts: rest}}
cores: {{workers: [{cpu}]}}
""")
    done = subprocess.run([ROCEGEN, "run", profile, "--testbed", testbed, "--json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"rocegen failed: {done.stderr}")
    report = json.loads(done.stdout)
    checked, wrong = report["generator"]["self_checked"], report["generator"]["self_check_failed"]
    if wrong or not checked:
        raise SystemExit(f"rocegen verified {checked} frames, {wrong} were wrong")
    return report["flows"][0]["tx_frames_per_sec"], checked


def start_testpmd(length, copy, cpu, multi_flow):
    command = ["stdbuf", "-oL", "dpdk-testpmd", f"--lcores=0@(0-{os.cpu_count() - 1}),1@{cpu}", "--no-huge",
               "-m", "512", "--no-pci", "--no-telemetry", f"--file-prefix=bench{os.getpid()}",
               f"--vdev=net_null0,copy={copy}", "--", "--forward-mode=txonly", "--burst=32",
               f"--txpkts={length}", "--mbuf-size=8192", "--total-num-mbufs=16384", "--stats-period=1",
               "--nb-cores=1"]
    if multi_flow:
        command.insert(command.index("--burst=32"), "--txonly-multi-flow")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            stdin=subprocess.DEVNULL)


def testpmd_rate(length, copy, cpu, seconds, multi_flow=True):
    """Median frames per second over the seconds of the run but the first and the last."""
    process = start_testpmd(length, copy, cpu, multi_flow)
    time.sleep(seconds + 3)
    process.terminate()
    out = process.communicate(timeout=20)[0]
    rates = [int(r) for r in re.findall(r"Tx-pps:\s+(\d+)", out) if int(r) > 0]
    if len(rates) < 2:
        raise SystemExit(f"dpdk-testpmd printed no rates: {out[-500:]}")
    return statistics.median(rates[1:-1] or rates)


def testpmd_cost(length, copy, cpu, seconds, multi_flow=True):
    """Median over the seconds of processor time a packet, ns."""
    process = start_testpmd(length, copy, cpu, multi_flow)

    def busiest_ns():
        folder = f"/proc/{process.pid}/task"
        return max(int(open(f"{folder}/{task}/schedstat").read().split()[0]) for task in os.listdir(folder))

    points, end = [], time.time() + seconds + 3
    for line in process.stdout:
        found = re.search(r"TX-packets:\s+(\d+)", line)
        if found and int(found.group(1)) > 0:
            points.append((int(found.group(1)), busiest_ns()))
        if time.time() > end:
            break
    process.terminate()
    process.communicate(timeout=20)
    costs = [(t1 - t0) / (n1 - n0) for (n0, t0), (n1, t1) in zip(points, points[1:]) if n1 > n0]
    if not costs:
        raise SystemExit("dpdk-testpmd printed no counts")
    return statistics.median(costs)


def print_testpmd_costs(args):
    for copy in (0, 1):
        for payload in PAYLOADS:
            length = HEADERS + payload
            print(f"testpmd txonly, copy={copy}, frame {length} B: multi-flow "
                  f"{testpmd_cost(length, copy, args.cpu, args.seconds):.2f} ns a packet, plain "
                  f"{testpmd_cost(length, copy, args.cpu, args.seconds, False):.2f} ns", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float)
    parser.add_argument("--testpmd-cost", action="store_true")
    parser.add_argument("--qps", type=int, nargs="*", default=[1, 1000])
    parser.add_argument("--copy", type=int, nargs="*", default=[0])
    args = parser.parse_args()
    if shutil.which("dpdk-testpmd") is None:
        print("skipped: dpdk-testpmd is not installed (package dpdk)")
        sys.exit(77)
    if args.testpmd_cost:
        print_testpmd_costs(args)
        return

    rows = []
    print("payload  frame  copy   QPs  rocegen Mpps  testpmd Mpps  ratio (min..max)  verified", flush=True)
    with tempfile.TemporaryDirectory(prefix="rocegen_bench_") as folder:
        for payload in PAYLOADS:
            for copy in args.copy:
                cells = {q: {"ours": [], "theirs": [], "checked": 0} for q in args.qps}
                for _ in range(args.rounds):
                    for qps, cell in cells.items():
                        ours, checked = rocegen_rate(folder, payload, qps, copy, args.cpu, args.seconds)
                        cell["ours"].append(ours)
                        cell["theirs"].append(
                            testpmd_rate(HEADERS + payload, copy, args.cpu, args.seconds))
                        cell["checked"] += checked
                for qps, cell in cells.items():
                    ratios = [a / b for a, b in zip(cell["ours"], cell["theirs"])]
                    row = {"payload_bytes": payload, "frame_bytes": HEADERS + payload, "copy": copy,
                           "qps": qps, "rocegen_pps": statistics.median(cell["ours"]),
                           "testpmd_pps": statistics.median(cell["theirs"]),
                           "ratio": statistics.median(ratios), "ratios": ratios,
                           "frames_verified": cell["checked"]}
                    rows.append(row)
                    print(f"{payload:7}  {row['frame_bytes']:5}  {copy:4}  {qps:4}"
                          f"  {row['rocegen_pps'] / 1e6:12.2f}  {row['testpmd_pps'] / 1e6:12.2f}"
                          f"  {row['ratio']:5.2f} ({min(ratios):.2f}..{max(ratios):.2f})"
                          f"  {cell['checked']:8}", flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"what": "CPU cost on net_null, frames per second on one core", "rows": rows}, out,
                      indent=2)
    if args.floor is not None and any(r["ratio"] < args.floor for r in rows):
        print(f"a ratio is under {args.floor}")
        sys.exit(1)


if __name__ == "__main__":
    main()
