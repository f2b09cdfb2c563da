"""A triggered capture holds what a whole one holds around its triggers, frame by frame, as tshark reads both; the comment
on the trigger's frame says why. In virtual time each kind of trigger; on ports of this machine a pause that is sent and one
that is received."""
import os
import subprocess

from _lab import SOURCE, Folder, expect, expect_equal, need, rocegen, run_json

need("tshark")
FIELDS = ("frame.time_epoch", "frame.interface_name", "frame.packet_flags_direction", "ip.dsfield.ecn",
          "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "macc.cbfc.pause_time.c3", "frame.len",
          "frame.comment")
PROFILE = """name: triggered
phases: {measure: MEASURE, drain: 2ms}
classes: {rdma: {dscp: 26, pcp: 3, ecn: ect0}, ctrl: {dscp: 48, pcp: 6}}
hosts: {senders: {count: 8}, receiver: {}}
flows:
  - {name: x, from: senders, to: receiver, message: 16KiB, path_mtu: 1024, class: rdma, rate: 90%, qps: 2,
     cnp_class: ctrl, congestion_control: {dcqcn: nvidia}, reliable: true}
CAPTURE
EXPECT
"""
TESTBED = """kind: emulated
topology: {type: single}
link: {rate: 100Gbps, delay: 500ns}
switch:
  cell: 256B
  buffer: 4MiB
  pfc: {priorities: [3], xoff_threshold: dynamic, xon_offset: 16KiB, headroom: HEADROOM}
  ecn: {priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2}
  scheduler: {strict: [6]}
"""


def tshark(capture):
    """A row a frame, by FIELDS."""
    arguments = [argument for field in FIELDS for argument in ("-e", field)]
    done = subprocess.run(["tshark", "-n", "-r", capture, "-T", "fields", "-E", "occurrence=f", *arguments],
                          capture_output=True, text=True)
    expect_equal(done.returncode, 0, f"tshark's status: {done.stderr}")
    return [dict(zip(FIELDS, line.split("\t"))) for line in done.stdout.splitlines()]


def without_comment(row):
    return [row[field] for field in FIELDS[:-1]]


def run(folder, name, capture_keys, headroom="64KiB", expectation="", status=0, measure="300us"):
    text = PROFILE.replace("CAPTURE", capture_keys).replace("MEASURE", measure)
    path = folder.file(f"{name}.yaml", text.replace("EXPECT", f"expect:\n  - {expectation}" if expectation else ""))
    file = folder.file(f"{name}.pcapng")
    report = run_json(path, "--testbed", folder.file("t.yaml", TESTBED.replace("HEADROOM", headroom)), "--capture", file,
                      status=status)
    return report["capture"], tshark(file)


def around(whole, index, before, after):
    return [without_comment(row) for row in whole[max(0, index - before):index + after + 1]]


def check_one(folder, name, on, trigger, first, words, more="", headroom="64KiB"):
    """The window is what surrounds the first frame of the whole capture for which `first` is true."""
    whole_seen, whole = run(folder, "whole", f"capture: {{on: [{on}]}}", headroom)
    expect_equal((whole_seen["triggered"], whole_seen["frames"], whole_seen["frames_written"]),
                 (False, len(whole), len(whole)), f"{name}: the whole capture's account")
    seen, rows = run(folder, name, f"capture: {{on: [{on}], trigger: {trigger}, before: 40, after: 60, windows: 1{more}}}",
                     headroom)
    index = next(i for i in range(len(whole)) if first(whole, i))
    seen_rows, wanted = [without_comment(row) for row in rows], around(whole, index, 40, 60)
    expect_equal(len(seen_rows), len(wanted), f"{name}: frames in the window")
    for got, want in zip(seen_rows, wanted):
        expect_equal(got, want, f"{name}: a frame of the window")
    commented = [i for i, row in enumerate(rows) if row["frame.comment"]]
    expect(min(40, index) in commented, f"{name}: the trigger, frame {min(40, index)}, has no comment: {commented}")
    comment = rows[min(40, index)]["frame.comment"]
    for word in words:
        expect(word in comment, f"{name}: {word!r} is not in {comment!r}")
    expect_equal(seen["frames"], len(whole), f"{name}: frames seen")
    expect_equal(seen["frames_written"], len(rows), f"{name}: frames written")
    expect_equal(seen["windows"], 1, f"{name}: windows")
    expect(seen["triggers"][0]["why"] in comment, f"{name}: the report's reason is the comment's")
    return seen


received = lambda row: row["frame.packet_flags_direction"] == "0x00000001"  # noqa: E731


def psn_gap(whole, i):
    row = whole[i]
    if not received(row) or int(row["infiniband.bth.opcode"] or 255, 0) > 10:
        return False
    before = [int(r["infiniband.bth.psn"]) for r in whole[:i] if received(r) and
              r["infiniband.bth.destqp"] == row["infiniband.bth.destqp"] and int(r["infiniband.bth.opcode"], 0) <= 10]
    return bool(before) and int(row["infiniband.bth.psn"]) > max(before) + 1


with Folder() as folder:
    check_one(folder, "ce", "receiver", "ce", lambda whole, i: whole[i]["ip.dsfield.ecn"] == "3",
              ("trigger 1 at ", "port receiver[0]", "ce: first CE"))
    check_one(folder, "pause", '"senders[0]"', "[pause, latency]",
              lambda whole, i: whole[i]["macc.cbfc.pause_time.c3"] not in ("", "0"),
              ("pause-received: XOFF of priority 3 received, 65535 quanta",), ", latency: 1s")
    check_one(folder, "cnp", "receiver", "[cnp-rate]",
              lambda whole, i: sum(int(r["infiniband.bth.opcode"] or 0, 0) == 0x81 for r in whole[:i + 1]) == 11,
              ("cnp-rate: over 10 CNPs within 1 ms",), ", cnps_per_ms: 10")
    # Headroom too short: frames are lost, so PSNs are missing at the receiver.
    check_one(folder, "gap", "receiver", "psn-gap", psn_gap, ("psn-gap: PSN ", " was next"), headroom="4KiB")

    # Latency: the tag's time, which tshark shows as payload, against the arrival.
    seen, rows = run(folder, "late", "capture: {on: [receiver], trigger: latency, latency: 50us, before: 5, after: 5}")
    expect("latency of " in rows[5]["frame.comment"] and "over 50us" in rows[5]["frame.comment"], f"late: {rows[5]}")

    # All ports are in a window, in order of time, and each has at most `after` frames behind the trigger.
    seen, rows = run(folder, "all", "capture: {trigger: ce, before: 10, after: 20, windows: 1}")
    times = [row["frame.time_epoch"] for row in rows]
    expect_equal(times, sorted(times), "all ports: times in order")
    at = next(i for i, row in enumerate(rows) if row["frame.comment"])
    for port in {row["frame.interface_name"] for row in rows}:
        ahead = sum(row["frame.interface_name"] == port for row in rows[:at])
        behind = sum(row["frame.interface_name"] == port for row in rows[at + 1:])
        expect(ahead <= 10 and behind <= 20, f"all ports: {port} has {ahead} and {behind}")
    expect_equal(len({row["frame.interface_name"] for row in rows}), 9, "all ports: interfaces")

    # An expectation that fails writes the end; one that holds does not.
    seen, rows = run(folder, "fails", "capture: {on: [receiver], trigger: expectation, before: 30}", status=1,
                     expectation="flows.x.ecn_ce_rx == 0")
    expect_equal(len(rows), 30, "failed expectation: the last frames")
    expect("failed: flows.x.ecn_ce_rx == 0" in rows[-1]["frame.comment"], f"failed expectation: {rows[-1]}")
    expect_equal(seen["triggers"][0]["port"], None, "failed expectation: of the whole run")
    seen, rows = run(folder, "holds", "capture: {on: [receiver], trigger: expectation}", expectation="flows.x.ecn_ce_rx > 0")
    expect_equal((rows, seen["trigger_count"]), ([], 0), "an expectation that holds")

    # Without --capture: into the report's folder.
    out = folder.file("out")
    example = f"{SOURCE}/profiles/incast-triggered.yaml"
    done = rocegen("run", example, "--out", out)
    expect_equal(done.returncode, 0, f"the example: {done.stdout}{done.stderr}")
    rows = tshark(os.path.join(out, "capture.pcapng"))
    expect(any("ce: first CE" in row["frame.comment"] for row in rows), "the example: CE is a trigger")
    expect(any("pause-received: XOFF" in row["frame.comment"] for row in rows), "the example: so is pause")
    expect("Capture " in done.stdout and "windows around" in done.stdout, f"the example's text: {done.stdout}")
    done = rocegen("run", example, "--set", "phases.measure=1ms")
    expect("--capture FILE or --out DIR" in done.stderr, f"no file for the capture: {done.stderr}")

    for keys, words in (("trigger: pauze", "did you mean pause?"), ("trigger: latency", "capture.latency: is missing"),
                        ("trigger: ce, cnps_per_ms: 5", "belongs to trigger: cnp-rate"),
                        ("before: 5", "belongs to a capture with a trigger"),
                        ("trigger: ce, before: 1000000", "lower it or capture.snaplen")):
        path = folder.file("bad.yaml", PROFILE.replace("MEASURE", "1ms").replace("EXPECT", "")
                           .replace("CAPTURE", f"capture: {{{keys}}}"))
        done = rocegen("run", path, "--capture", folder.file("bad.pcapng"))
        expect_equal(done.returncode, 2, f"status of {keys}: {done.stderr}")
        expect(words in done.stderr, f"{keys}: {words!r} is not in {done.stderr!r}")

    # Real time, over two rings: the storm that a sends is seen at both ends.
    live = folder.file("live.yaml", """name: live
phases: {measure: 200ms, drain: 20ms}
classes: {rdma: {dscp: 26, ecn: ect0}}
hosts: {a: {}, b: {}}
flows:
  - {name: data, from: b, to: a, message: 1KiB, class: rdma, rate: 20kpps}
  - {name: hold, protocol: pause, from: a, priorities: [5], start: 100ms, duration: 10ms}
capture: {trigger: pause, before: 25, after: 35, quiet: 20ms, snaplen: 128B}
""")
    file = folder.file("live.pcapng")
    report = run_json(live, "--testbed", f"{SOURCE}/profiles/testbeds/loopback.yaml", "--capture", file)
    seen, rows = report["capture"], tshark(file)
    expect_equal(sorted(t["trigger"] for t in seen["triggers"]), ["pause-received", "pause-sent"], "live: triggers")
    expect_equal(len(rows), seen["frames_written"], "live: frames written")
    expect(seen["frames"] > 2000 and len(rows) < 400, f"live: {len(rows)} of {seen['frames']} frames")
    commented = [row for row in rows if row["frame.comment"]]
    expect_equal(len(commented), 2, "live: comments")
    for row in commented:
        expect("XOFF of priority 5" in row["frame.comment"], f"live: {row}")
    first = rows.index(commented[0])
    for port in {row["frame.interface_name"] for row in rows}:
        expect_equal(sum(row["frame.interface_name"] == port for row in rows[:first]), 25, f"live: frames of {port} before")
    expect(seen["frames_lost"] == 0, f"live: {seen['frames_lost']} frames lost")
    info = subprocess.run(["capinfos", file], capture_output=True, text=True).stdout
    expect("frames around triggers (pause-received, pause-sent)" in info, f"the section's comment: {info}")
    expect("Packet size limit:   file hdr: 128 bytes" in info or "Capture length = 128" in info, f"snaplen: {info}")
print("windows are what a whole capture has around the same frames")
