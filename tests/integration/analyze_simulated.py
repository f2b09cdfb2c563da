"""A simulated incast with DCQCN whose headroom is short by 4 cells, captured at every NIC: the timeline of the capture tells burst,
CE, CNP, cut, XOFF, loss, NAK and retransmission in causal order, on the frames that show them, with the simulation's delays."""
import shutil
import subprocess

from _captures import analyze
from _lab import Folder, expect, expect_equal, run_json

SENDERS, DELAY_NS, RESPONSE_NS, CELL = 6, 500, 1000, 256
PROFILE = f"""name: incast
seed: 3
phases: {{measure: 1ms, drain: 4ms}}
classes: {{rdma: {{dscp: 26, pcp: 3, ecn: ect0}}, ctrl: {{dscp: 48, pcp: 6}}}}
hosts: {{senders: {{count: {SENDERS}}}, receiver: {{}}}}
flows:
  - {{name: x, from: senders, to: receiver, verb: write, message: 64KiB, path_mtu: 1024, class: rdma, cnp_class: ctrl,
     ack_class: ctrl, rate: 100%, congestion_control: {{dcqcn: paper}}, reliable: {{window: 1024}},
     pattern: {{type: burst, burst: 400 packets, period: 2ms}}}}
"""
TESTBED = f"""kind: emulated
topology: {{type: single}}
link: {{rate: 100Gbps, delay: {DELAY_NS}ns}}
switch:
  cell: {CELL}B
  pfc: {{priorities: [3], xoff_threshold: 120KiB, headroom: %dB, response: {RESPONSE_NS}ns}}
  ecn: {{priorities: [3], kmin: 20KiB, kmax: 100KiB, pmax: 0.2}}
"""
STORY = ("burst", "ce", "cnp", "rate_fall", "xoff", "gap", "nak", "retransmission", "recovery")

with Folder() as folder:
    profile, capture = folder.file("incast.yaml", PROFILE), folder.file("incast.pcapng")

    def run(headroom, *arguments):
        return run_json(profile, "--testbed", folder.file("testbed.yaml", TESTBED % headroom), *arguments)

    enough = run(65536)
    expect_equal(enough["fabric"]["drops"], 0, "drops with headroom enough")
    peak = max(g["headroom_peak_bytes"] for s in enough["fabric"]["switches"] for p in s["ports"] for g in p["groups"])
    short = run(peak - 4 * CELL, "--capture", capture)
    expect_equal(short["fabric"]["drops_by_cause"], {"headroom_full": 1}, "drops with 4 cells less")

    report = analyze(capture, "--link-rate", "100Gbps", "--window", "5us")
    events = report["timeline"]["events"]
    flows = report["flows"]

    def first(kind, **wanted):
        found = [i for i, e in enumerate(events)
                 if e["kind"] == kind and all(e[key] == value for key, value in wanted.items())]
        expect(found, f"no {kind} in the timeline with {wanted}")
        return found[0]

    # In order, and each that has a cause comes behind it
    order = [first(kind) for kind in STORY]
    expect_equal(order, sorted(order), f"order of {STORY}")
    for e in events:
        expect(e["cause"] is None or e["delay_ns"] >= 0, f"in front of its cause: {e}")

    # The story of the flow that lost a frame: at the receiver, and at its sender
    arrives = [f["index"] for f in flows if f["space"] == "request" and f["psn"]["lost_first_pass"]]
    expect_equal(len(arrives), 1, "flows with loss at the receiver")
    there = flows[arrives[0]]
    here = flows[there["upstream"]]
    expect_equal(here["psn"]["lost_first_pass"], 0, "loss at the sender")
    gap = events[first("gap", flow=there["index"])]
    nak, heard = (events[first("nak", flow=f["index"])] for f in (there, here))
    back, again = (events[first("retransmission", flow=f["index"])] for f in (here, there))
    expect_equal(events[gap["cause"]]["kind"], "burst", "the gap's cause")
    expect_equal([events[e["cause"]] for e in (nak, heard, back, again)], [gap, nak, heard, back], "causes of the repair")
    expect_equal((nak["value"], gap["value"], gap["more"]), (gap["value"], gap["value"], 1), "the PSN")

    # A NAK of 62 bytes crosses two links: delay, and its bits twice (86 bytes on the wire)
    fly = 2 * DELAY_NS + 2 * 86 * 8 // 100
    expect(fly - 2 <= heard["delay_ns"] <= fly + 200, f"the NAK's way: {heard['delay_ns']} ns, computed {fly}")
    expect(2 * DELAY_NS <= again["delay_ns"], f"the resend's way: {again['delay_ns']} ns")
    sent_back = [e for e in events if e["kind"] == "cnp" and e["cause"] is not None and events[e["cause"]]["kind"] == "cnp"]
    expect(sent_back, "CNPs at their senders")
    for e in sent_back:
        expect(2 * DELAY_NS <= e["delay_ns"] <= 2 * DELAY_NS + 400, f"a CNP's way: {e}")
    # Behind an XOFF a NIC may go on for its response time and the frame that has begun
    silences = [e for e in events if e["kind"] == "silence"]
    expect(silences, "silence behind XOFF")
    for e in silences:
        expect(e["delay_ns"] <= RESPONSE_NS + 100, f"reaction to XOFF: {e}")
    expect_equal(len(report["bursts"]["list"][0]["contributors"]), SENDERS, "sources of the burst")

    # tshark sees the same frames at the same times
    if shutil.which("tshark"):
        lines = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", "frame.time_epoch", "-e", "infiniband.bth.opcode",
                                "-e", "infiniband.bth.psn", "-e", "macc.opcode"], capture_output=True, text=True,
                               check=True).stdout.split("\n")[:-1]
        opcodes = {"cnp": "129", "nak": "17", "gap": None, "ce": None, "retransmission": None}
        for e in events:
            if e["frame"] is None:
                continue
            time, opcode, psn, _ = lines[e["frame"] - 1].split("\t")
            if e["kind"] not in ("silence", "storm"):
                expect_equal(int(time.replace(".", "")), e["ns"], f"time by tshark: {e}")
            if opcodes.get(e["kind"]):
                expect_equal(opcode, opcodes[e["kind"]], f"opcode by tshark: {e}")
            if e["kind"] in ("retransmission", "nak", "ce"):
                expect_equal(int(psn), e["value"], f"PSN by tshark: {e}")
    else:
        print("tshark is not installed: the events' frames were not compared")
