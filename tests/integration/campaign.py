"""Profiles with `repeat` and `sweep`: one report over all runs, whose numbers are those of the runs; what any step
would refuse is refused before the first; a signal ends it with a report of what was done."""
import json
import math
import os
import signal
import statistics
import subprocess

from _lab import Folder, ROCEGEN, SOURCE, expect, expect_equal, rocegen

PROFILE = """name: small
HEAD
phases: {warmup: 100us, measure: 1ms, drain: 1ms}
hosts: {senders: {count: 2}, receiver: {}}
flows:
  - {name: load, from: senders, to: receiver, message: 1KiB, rate: 40%, pattern: {type: poisson}}
expect:
  - flows.load.lost == 0
  - flows.load.latency.max < LIMIT
"""


def report(folder):
    with open(os.path.join(folder, "report.json")) as file:
        return json.load(file)


def near(seen, wanted):
    return math.isclose(seen, wanted, rel_tol=1e-9, abs_tol=1e-12)


with Folder() as lab:
    # Repeated: the seeds differ, and the spread is that of the runs' own reports.
    path = lab.file("repeat.yaml", PROFILE.replace("HEAD", "seed: 7\nrepeat: 4").replace("LIMIT", "1ms"))
    done = rocegen("run", path, "--out", lab.file("repeat"))
    expect_equal(done.returncode, 0, f"status; {done.stderr}")
    whole = report(lab.file("repeat"))
    expect_equal((whole["kind"], len(whole["steps"]), whole["holds"]), ("campaign", 1, True), "what it is")
    step = whole["steps"][0]
    expect_equal([r["seed"] for r in step["runs"]], [7, 8, 9, 10], "seeds")
    runs = [report(os.path.join(lab.file("repeat"), r["folder"])) for r in step["runs"]]
    values = [r["flows"][0]["latency_ns"]["max"] for r in runs]
    expect(len(set(values)) > 1, f"all seeds gave {values}")
    seen = step["metrics"]["flows.load.latency.max"]
    wanted = {"median": statistics.median(values), "min": min(values), "max": max(values),
              "mean": statistics.mean(values), "cv": statistics.stdev(values) / statistics.mean(values)}
    for name, value in wanted.items():
        expect(near(seen[name], value), f"{name} of {values}: {seen[name]}, not {value}")
    expect("CV" in done.stdout and "flows.load.latency.max" in done.stdout, f"the text shows it: {done.stdout}")
    html = open(os.path.join(lab.file("repeat"), "report.html")).read()
    expect(all(f'{r["folder"]}/report.html' in html for r in step["runs"]), "the page leads to each run")

    # Swept over two keys: a row for each combination, the same as a run with --set, judged each.
    path = lab.file("sweep.yaml", PROFILE.replace(
        "HEAD", "sweep: {flows.load.rate: [10%, 90%], testbed.link.delay: [1us, 9us]}").replace("LIMIT", "9us"))
    done = rocegen("run", path, "--out", lab.file("sweep"))
    expect_equal(done.returncode, 1, f"status where 9 us of delay break the limit; {done.stderr}")
    whole = report(lab.file("sweep"))
    expect_equal([list(s["set"].values()) for s in whole["steps"]],
                 [["10%", "1us"], ["10%", "9us"], ["90%", "1us"], ["90%", "9us"]], "steps")
    held = [s["runs_that_hold"] for s in whole["steps"]]
    expect_equal((held[0], held[1], held[3]), (1, 0, 0), "steps that hold")
    for step in whole["steps"]:
        settings = [x for key, value in step["set"].items() for x in ("--set", f"{key}={value}")]
        alone = rocegen("run", path, "--single-run", "--out", lab.file("alone"), *settings)
        expect(alone.returncode in (0, 1), alone.stderr)
        own = open(os.path.join(lab.file("sweep"), step["runs"][0]["folder"], "report.json")).read()
        expect_equal(own, open(os.path.join(lab.file("alone"), "report.json")).read(), "a step and a run with --set")
        # The report shows the values in force.
        evidence = json.loads(own)["evidence"]
        expect(f'rate: {step["set"]["flows.load.rate"]}' in evidence["profile_text"], evidence["profile_text"])
        expect(f'delay: {step["set"]["testbed.link.delay"]}' in evidence["testbed_text"], evidence["testbed_text"])
    listed = rocegen("check", path)
    expect("4 runs: 4 steps" in listed.stdout, listed.stdout)

    # The shipped one: the queue holds what N - 1 of N senders sent, 32 frames of 5 cells each.
    done = rocegen("run", f"{SOURCE}/profiles/incast-sweep.yaml", "--json")
    expect_equal(done.returncode, 0, f"incast-sweep; {done.stderr}")
    for step in json.loads(done.stdout)["steps"]:
        senders = int(step["set"]["hosts.senders.count"])
        peak = step["metrics"]["fabric.queue_peak"]["median"] / 1280
        # While a frame arrives others leave; a sender's frames come one by one.
        expect(abs(peak - (senders - 1) * 32) <= senders, f"queue peak of {senders} senders: {peak} frames")

    # In real time, each run with an EAL of its own. A busy machine may not keep the rate.
    done = rocegen("run", f"{SOURCE}/profiles/first.yaml", "--testbed", f"{SOURCE}/profiles/testbeds/loopback.yaml",
                   "--duration", "1s", "--set", "repeat=2", "--json")
    expect(done.returncode in (0, 1), f"live runs: {done.stderr}")
    (step,) = json.loads(done.stdout)["steps"]
    expect_equal([r["exit_status"] in (0, 1) for r in step["runs"]], [True, True], f"live runs: {done.stderr}")
    for one in step["expectations"]:
        expect_equal(one["hold"] + one["skipped"], 2, f"live runs that hold {one['text']}")

    # Wrong values are refused before anything runs, at the place where they stand.
    path = lab.file("wrong.yaml", PROFILE.replace("HEAD", "sweep: {flows.load.rate: [10%, 300%]}").replace("LIMIT", "1ms"))
    for command in ("run", "check"):
        done = rocegen(command, path)
        expect_equal(done.returncode, 2, f"status of {command} with a wrong step")
        expect("--set flows.load.rate=300%" in done.stderr and ":1:1" not in done.stderr, done.stderr)
        expect("step-" not in done.stderr, "a run was made")
    done = rocegen("check", path, "--set", "flows.load.message=1KB/s")
    expect(done.stderr.startswith("--set flows.load.message=1KB/s: "), done.stderr)

    # A signal: the run under way ends, the report has those before it.
    path = lab.file("long.yaml", PROFILE.replace("HEAD", "repeat: 500").replace("measure: 1ms", "measure: 20ms")
                    .replace("LIMIT", "1ms"))
    with subprocess.Popen([ROCEGEN, "run", path, "--out", lab.file("long")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("run-001"):
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        expect_equal(process.returncode, 130, "status after SIGINT")
    whole = report(lab.file("long"))
    count = len(whole["steps"][0]["runs"])
    expect(whole["interrupted"] and 2 <= count < 500, f"{count} runs, interrupted {whole['interrupted']}")
    expect(whole["verdict"].startswith(f"INTERRUPTED after {count} of 500 runs"), whole["verdict"])
print("repeat, sweep, refusals and a signal: as the runs alone")
