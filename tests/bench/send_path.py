#!/usr/bin/env python3
"""Send path on net_null: rocegen beside dpdk-testpmd txonly, same core, same frame length, in turn.

usage: send_path.py [--rounds N] [--seconds S] [--cpu N] [--qps N...] [--copy 0|1...] [--json FILE] [--floor R] [--peer flowgen]

What is measured is the CPU cost of making and handing over frames, not a NIC's rate: net_null frees
what it is given (copy=1: copies it first). Neither tool polls the port: DPDK refuses no-rx with copy=1, and would make up 32 frames
at each poll. rocegen makes RC WRITE_ONLY frames with tag and valid ICRC,
QPs in shuffled order, with its real schedule at a rate no core reaches, and verifies every 4096th
frame whole during the run. testpmd sends prebuilt frames with --txonly-multi-flow, and plain.

A cost is the sending thread's processor time (the scheduler's account) over the frames of the same time, so that a machine
which does other things too changes it little. A ratio is testpmd's cost over rocegen's in the same round, 1.0 or more:
rocegen is as fast; the median over the rounds is printed. With --floor the exit status is 1 when one is under it.
Then rocegen is paced at half of what testpmd could send, and the rate error of each flow's account is printed.
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
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(HERE, "../../build/release/rocegen"))
HEADERS = 14 + 20 + 8 + 12 + 16 + 4  # Ethernet, IPv4, UDP, BTH, RETH, ICRC
PAYLOADS = (64, 1024, 4096)


class Share:
    """How much of a core the worker had, by the scheduler's account, in the middle of the time in which it ran: it is the
    thread that had most in all but the main one, which reads the profile and writes the report."""

    def __init__(self, pid):
        self.samples, self.pid, self.end = [], pid, False
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def sample(self):
        folder = f"/proc/{self.pid}/task"
        while not self.end:
            try:
                cpu = {task: int(open(f"{folder}/{task}/schedstat").read().split()[0])
                       for task in os.listdir(folder) if int(task) != self.pid}
            except (OSError, ValueError, IndexError):
                break
            self.samples.append((time.monotonic_ns(), cpu))
            time.sleep(0.05)

    def value(self):
        self.end = True
        self.thread.join()
        totals = {}
        for _, cpu in self.samples:
            totals.update(cpu)
        worker = max(totals, key=totals.get)
        spent = [(when, cpu[worker]) for when, cpu in self.samples if worker in cpu]
        ran = [i for i in range(1, len(spent)) if spent[i][1] - spent[i - 1][1] > (spent[i][0] - spent[i - 1][0]) / 4]
        kept = spent[ran[len(ran) // 5]:ran[len(ran) * 4 // 5] + 1]
        return (kept[-1][1] - kept[0][1]) / (kept[-1][0] - kept[0][0])


def run_rocegen(folder, payload, qps, copy, cpu, seconds, rate):
    """The report, and the worker's share of its core."""
    profile = os.path.join(folder, "profile.yaml")
    testbed = os.path.join(folder, "testbed.yaml")
    with open(profile, "w") as out:
        out.write(f"""name: send-path
phases: {{measure: {seconds}s, drain: 0ms}}
hosts: {{a: {{count: 1}}, b: {{count: 1}}}}
flows:
  - {{name: f, from: a, to: b, verb: write, message: {payload}B, path_mtu: 4096, qps: {qps}, rate: {rate},
     qp_order: shuffled}}
""")
    with open(testbed, "w") as out:
        out.write(f"""kind: dpdk
ports:
  - {{name: p1, device: "net_null0,{'copy=1' if copy else 'no-rx=1'}", receive: false, link_rate: 3.2Tbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: "net_null1,no-rx=1", link_rate: 3.2Tbps, mtu: 9000, hosts: rest}}
cores: {{workers: [{cpu}]}}
""")
    process = subprocess.Popen([ROCEGEN, "run", profile, "--testbed", testbed, "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    share = Share(process.pid)
    stdout, stderr = process.communicate()
    if process.returncode not in (0, 1):  # 1: the plan was not kept, as is meant
        raise SystemExit(f"rocegen failed: {stderr}")
    report = json.loads(stdout)
    checked, wrong = report["generator"]["self_checked"], report["generator"]["self_check_failed"]
    if wrong or not checked:
        raise SystemExit(f"rocegen verified {checked} frames, {wrong} were wrong")
    return report, share.value()


def rocegen_cost(*arguments):
    """ns a frame, and the number of frames verified."""
    report, share = run_rocegen(*arguments, rate="100%")
    return 1e9 * share / report["flows"][0]["tx_frames_per_sec"], report["generator"]["self_checked"]


def testpmd_cost(length, copy, cpu, seconds, mode):
    """ns a frame: the median over the seconds. mode: multi-flow, plain (both txonly) or flowgen."""
    command = ["stdbuf", "-oL", "dpdk-testpmd", f"--lcores=0@(0-{os.cpu_count() - 1}),1@{cpu}", "--no-huge",
               "-m", "512", "--no-pci", "--no-telemetry", f"--file-prefix=bench{os.getpid()}",
               f"--vdev=net_null0,copy={copy}" + (",no-rx=1" if mode == "flowgen" else ""), "--",
               f"--forward-mode={'flowgen' if mode == 'flowgen' else 'txonly'}", "--burst=32",
               f"--txpkts={length}", "--mbuf-size=8192", "--total-num-mbufs=16384", "--stats-period=1",
               "--nb-cores=1"]
    if mode == "multi-flow":
        command.insert(command.index("--burst=32"), "--txonly-multi-flow")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               stdin=subprocess.DEVNULL)

    def thread_ns():
        folder = f"/proc/{process.pid}/task"
        return {task: int(open(f"{folder}/{task}/schedstat").read().split()[0]) for task in os.listdir(folder)}

    points, end = [], time.time() + seconds + 10
    for line in process.stdout:
        found = re.search(r"TX-packets:\s+(\d+)", line)
        if found and int(found.group(1)) > 0:
            points.append((int(found.group(1)), thread_ns()))
        if time.time() > end or len(points) > seconds + 2:
            break
    process.terminate()
    process.communicate(timeout=20)
    # The first second is the start's.
    costs = [max(t1[task] - t0.get(task, 0) for task in t1) / (n1 - n0)
             for (n0, t0), (n1, t1) in zip(points[1:], points[2:]) if n1 > n0]
    if not costs:
        raise SystemExit("dpdk-testpmd printed no counts")
    return statistics.median(costs)


def measure(folder, args, payload, copy):
    """One payload: a row a number of queue pairs, and one paced."""
    length = HEADERS + payload
    ours, theirs, plain, paced = {q: [] for q in args.qps}, [], [], []
    checked = 0
    for _ in range(args.rounds):
        theirs.append(testpmd_cost(length, copy, args.cpu, args.seconds, args.peer))
        if args.peer == "multi-flow":
            plain.append(testpmd_cost(length, copy, args.cpu, args.seconds, "plain"))
        for qps in args.qps:
            cost, verified = rocegen_cost(folder, payload, qps, copy, args.cpu, args.seconds)
            ours[qps].append(cost)
            checked += verified
        half = int(0.5e9 / theirs[-1])
        report, _ = run_rocegen(folder, payload, args.qps[0], copy, args.cpu, args.seconds, f"{half}pps")
        paced.append((half, report["flows"][0]["rate_error"], report["generator"]["on_plan"]))
    median = statistics.median
    rows = []
    for qps in args.qps:
        ratios = [b / a for a, b in zip(ours[qps], theirs)]
        rows.append({"payload_bytes": payload, "frame_bytes": length, "copy": copy, "qps": qps,
                     "rocegen_ns": median(ours[qps]), "testpmd": args.peer, "testpmd_ns": median(theirs),
                     "testpmd_plain_ns": median(plain) if plain else None, "ratio": median(ratios), "ratios": ratios,
                     "to_first_qps": median(ours[qps]) / median(ours[args.qps[0]])})
        row = rows[-1]
        print(f"{payload:7}  {length:5}  {copy:4}  {qps:6}  {row['rocegen_ns']:10.2f}  "
              f"{row['testpmd_ns']:7.2f}{f', {median(plain):5.2f}' if plain else ''}  {row['ratio']:5.2f} "
              f"({min(ratios):.2f}..{max(ratios):.2f})  {row['to_first_qps']:5.2f}", flush=True)
    errors = [abs(error) for _, error, _ in paced]
    rows.append({"payload_bytes": payload, "copy": copy, "paced_pps": median(p[0] for p in paced),
                 "rate_error": median(errors), "rate_errors": [p[1] for p in paced],
                 "on_plan": sum(p[2] for p in paced), "frames_verified": checked})
    print(f"{payload:7}  {length:5}  {copy:4}  {args.qps[0]:6}  paced at {rows[-1]['paced_pps'] / 1e6:.2f} Mpps: rate error "
          f"{median(errors):.4%} (at most {max(errors):.4%}), on plan in {rows[-1]['on_plan']} of {args.rounds}; "
          f"{checked} frames verified", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float)
    parser.add_argument("--payload", type=int, nargs="*", default=PAYLOADS)
    parser.add_argument("--qps", type=int, nargs="*", default=[1000, 65536])
    parser.add_argument("--peer", choices=["multi-flow", "flowgen"], default="multi-flow")
    parser.add_argument("--copy", type=int, nargs="*", default=[0, 1])
    args = parser.parse_args()
    if shutil.which("dpdk-testpmd") is None:
        print("skipped: dpdk-testpmd is not installed (package dpdk)")
        sys.exit(77)
    print(f"ns of processor time a frame on CPU {args.cpu}, medians of {args.rounds} rounds")
    print(f"payload  frame  copy     QPs     rocegen  testpmd {args.peer}{', plain' if args.peer == 'multi-flow' else ''}  "
          "ratio (min..max)  to the first QPs", flush=True)
    with tempfile.TemporaryDirectory(prefix="rocegen_bench_") as folder:
        rows = [row for copy in args.copy for payload in args.payload for row in measure(folder, args, payload, copy)]
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"what": "CPU cost on net_null, not a NIC's rate: ns of processor time a frame", "rows": rows}, out,
                      indent=2)
    if args.floor is not None and any(row.get("ratio", args.floor) < args.floor for row in rows):
        print(f"a ratio is under {args.floor}")
        sys.exit(1)


if __name__ == "__main__":
    main()
