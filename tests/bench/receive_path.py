#!/usr/bin/env python3
"""Receive path: rocegen's full analysis beside dpdk-testpmd rxonly. Both poll the port net_ring0 on the same core, in turn;
the same sender, ring_sender.cc, feeds it from another core: prebuilt frames of 1000 queue pairs with the next PSN, tag and
ICRC in each. The rate is what the pair of cores sustains. Frames that the sender leaves out must be counted exactly.

usage: receive_path.py [--rounds N] [--seconds S] [--cpu RECEIVER] [--sender-cpu N] [--qps N] [--json FILE] [--floor R]

Needs two cores that do nothing else. Environment: ROCEGEN, RING_SENDER (libring_sender.so).
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "../../build/bench")
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(BUILD, "rocegen"))
SENDER = os.environ.get("RING_SENDER", os.path.join(BUILD, "tests/libring_sender.so"))
REMOVE = 997


def environment(folder, args, learn, remove):
    return {**os.environ, "LD_PRELOAD": SENDER, "RING_SENDER_CPU": str(args.sender_cpu),
            "RING_SENDER_FRAMES": f"{folder}/frames", "RING_SENDER_QPS": str(args.qps),
            "RING_SENDER_SECONDS": str(args.seconds), "RING_SENDER_REMOVE": str(remove),
            "RING_SENDER_RESULT": f"{folder}/result", **({"RING_SENDER_LEARN": "1"} if learn else {})}


def result_of(folder, who, stderr):
    path = f"{folder}/result"
    if not os.path.exists(path):
        raise SystemExit(f"{who}: the sender did not end: {stderr[-800:]}")
    with open(path) as text:
        result = json.load(text)
    os.remove(path)
    return result


def rocegen(folder, args, payload, icrc, remove=REMOVE):
    """What the sender says, and rocegen's flow."""
    with open(f"{folder}/p.yaml", "w") as out:
        out.write(f"""name: receive-path
phases: {{measure: {args.seconds + 4}s, drain: 1s}}
hosts: {{a: {{}}, b: {{}}}}
flows:
  - {{name: f, from: a, to: b, verb: write, message: {payload}B, path_mtu: 4096, qps: {args.qps}, rate: {20 * args.qps}pps}}
""")
    with open(f"{folder}/t.yaml", "w") as out:
        out.write(f"""kind: dpdk
ports:
  - {{name: p1, device: "net_null0,no-rx=1", link_rate: 400Gbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: net_ring0, link_rate: 400Gbps, mtu: 9000, hosts: rest}}
cores: {{workers: [{args.cpu}]}}
icrc_check: {icrc}
""")
    done = subprocess.run([ROCEGEN, "run", f"{folder}/p.yaml", "--testbed", f"{folder}/t.yaml", "--json"],
                          capture_output=True, text=True, env=environment(folder, args, True, remove))
    if done.returncode not in (0, 1):
        raise SystemExit(f"rocegen: {done.stderr[-800:]}")
    return result_of(folder, "rocegen", done.stderr), json.loads(done.stdout)


def testpmd(folder, args):
    command = ["dpdk-testpmd", f"--lcores=0@(0-{os.cpu_count() - 1}),1@{args.cpu}", "--no-huge", "-m", "512", "--no-pci",
               "--no-telemetry", "--no-shconf", "--iova-mode=va", f"--file-prefix=receive{os.getpid()}", "--vdev=net_ring0", "--",
               "--forward-mode=rxonly", "--burst=32", "--nb-cores=1", "--total-num-mbufs=8192", "--stats-period=1"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, env=environment(folder, args, False, 0))
    end = time.time() + args.seconds + 15
    while not os.path.exists(f"{folder}/result") and time.time() < end and process.poll() is None:
        time.sleep(0.1)
    time.sleep(0.1)
    process.terminate()
    stderr = process.communicate(timeout=20)[1]
    return result_of(folder, "dpdk-testpmd", stderr)


def check_counts(said, report, payload):
    """Every frame that was sent arrived, and those left out, no more, are missing."""
    flow = report["flows"][0]
    lost = flow["lost"], sum(stream["lost"] for stream in report["streams"])
    if lost != (said["removed"], said["removed"]):
        raise SystemExit(f"payload {payload}: {said['removed']} frames were left out, {lost} are reported lost")
    if flow["data_frames_rx"] != said["sent"]:
        raise SystemExit(f"payload {payload}: {said['sent']} frames sent, {flow['data_frames_rx']} received")
    if flow["icrc_bad"]:
        raise SystemExit(f"payload {payload}: {flow['icrc_bad']} wrong ICRCs")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cpus = sorted(os.sched_getaffinity(0))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--cpu", type=int, default=cpus[-1])
    parser.add_argument("--sender-cpu", type=int, default=cpus[0])
    parser.add_argument("--qps", type=int, default=1000)
    parser.add_argument("--payload", type=int, nargs="*", default=[64, 1024, 4096])
    parser.add_argument("--json")
    parser.add_argument("--floor", type=float)
    args = parser.parse_args()
    if shutil.which("dpdk-testpmd") is None or len(cpus) < 2 or not os.path.exists(SENDER):
        print("skipped: needs dpdk-testpmd (package dpdk), two cores and libring_sender.so (RING_SENDER)")
        sys.exit(77)
    print(f"rocegen and dpdk-testpmd rxonly poll net_ring0 on CPU {args.cpu}, the sender is on CPU {args.sender_cpu}, "
          f"{args.qps} queue pairs; millions of frames a second, medians of {args.rounds} rounds")
    print("payload  rxonly  analysis (no ICRC)  ratio (min..max)  sampled ICRCs  every ICRC  removed, counted", flush=True)
    rows = []
    with tempfile.TemporaryDirectory(prefix="rocegen_bench_") as folder:
        for payload in args.payload:
            rates, removed = {"none": [], "auto": [], "all": [], "rxonly": []}, 0
            for _ in range(args.rounds):
                for icrc in ("none", "auto", "all"):
                    said, report = rocegen(folder, args, payload, icrc)
                    check_counts(said, report, payload)
                    removed += said["removed"]
                    rates[icrc].append(said["sent"] / said["seconds"])
                said = testpmd(folder, args)
                rates["rxonly"].append(said["sent"] / said["seconds"])
            ratios = [a / b for a, b in zip(rates["none"], rates["rxonly"])]
            row = {"payload_bytes": payload, "queue_pairs": args.qps, "ratio": statistics.median(ratios),
                   "ratios": ratios, "removed": removed, **{f"{k}_pps": statistics.median(v) for k, v in rates.items()}}
            rows.append(row)
            print(f"{payload:7}  {row['rxonly_pps'] / 1e6:6.2f}  {row['none_pps'] / 1e6:18.2f}  {row['ratio']:5.2f} "
                  f"({min(ratios):.2f}..{max(ratios):.2f})  {row['auto_pps'] / 1e6:13.2f}  {row['all_pps'] / 1e6:10.2f}  "
                  f"{removed}", flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"what": "frames per second that a receiving core sustains over net_ring", "rows": rows}, out, indent=2)
    if args.floor is not None and any(row["ratio"] < args.floor for row in rows):
        print(f"a ratio is under {args.floor}")
        sys.exit(1)


if __name__ == "__main__":
    main()
