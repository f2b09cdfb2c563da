#!/usr/bin/env python3
"""How large a fabric may be: 1024 hosts in a leaf-spine, each sends to one other at 50 % for 100 us; and
whether memory grows with time: the incast profile for 10 ms and for 100 ms.

usage: fabric_scale.py [--hosts N] [--check]

Prints seconds of CPU, peak memory, packets and hops a second. With --check the exit status is 1 when the large run takes
1 GB or 60 s, or when 100 ms take 5 % more memory than 10 ms.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "../..")
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(SOURCE, "build/release/rocegen"))


def measured(*arguments):
    """The report, seconds of CPU, and peak memory in MB of one run."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([ROCEGEN, "run", "--json", *arguments], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            raise SystemExit(f"{arguments}: status {child.returncode}")
        out.seek(0)
        return json.load(out), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def permutation(folder, hosts):
    """Host i sends to host i + half: never to its own leaf."""
    half = hosts // 2
    flows = "".join(f"  - {{name: f{i}, from: \"h[{i}]\", to: \"h[{(i + half) % hosts}]\", message: 64KiB,"
                    f" path_mtu: 1024, class: rdma, rate: 50%}}\n" for i in range(hosts))
    profile = os.path.join(folder, "permutation.yaml")
    with open(profile, "w") as out:
        out.write(f"name: permutation\nphases: {{measure: 100us, drain: 1ms}}\n"
                  f"classes: {{rdma: {{dscp: 26, pcp: 3, ecn: ect0}}}}\n"
                  f"hosts: {{h: {{count: {hosts}}}}}\nflows:\n{flows}")
    testbed = os.path.join(folder, "leaf-spine.yaml")
    with open(testbed, "w") as out:
        out.write(f"kind: emulated\n"
                  f"topology: {{type: leaf-spine, leaves: {max(2, hosts // 32)}, spines: 16, uplinks: 2}}\n"
                  "link: {rate: 100Gbps, delay: 500ns}\n"
                  "switch:\n  ecn: {priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2}\n")
    return profile, testbed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hosts", type=int, default=1024)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="rocegen_scale_")
    try:
        profile, testbed = permutation(folder, args.hosts)
        report, seconds, megabytes = measured(profile, "--testbed", testbed)
        frames = report["run"]["data_frames_tx"]
        print(f"{args.hosts} hosts, permutation at 50 % for 100 us: {frames} frames, "
              f"{report['run']['lost']} lost, {seconds:.1f} s of CPU, {megabytes:.0f} MB, "
              f"{frames / seconds / 1e3:.0f} thousand frames a second")
        good = megabytes < 1000 and seconds < 60
        memory = {}
        for time in ("10ms", "100ms"):
            _, seconds, memory[time] = measured(
                os.path.join(SOURCE, "profiles/incast.yaml"), "--testbed",
                os.path.join(SOURCE, "profiles/testbeds/emulated.yaml"), "--duration", time)
            print(f"incast for {time}: {memory[time]:.1f} MB, {seconds:.2f} s of CPU")
        print(f"100 ms take {memory['100ms'] / memory['10ms'] - 1:.1%} more memory than 10 ms")
        good &= memory["100ms"] <= 1.05 * memory["10ms"]
        return 0 if good or not args.check else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
