"""NICs that answer and obey, from files: the fairness profile holds; a lossy link is repaired by go-back-N; what
cannot be is refused with its place; a real port says that it sends open loop."""
import os

from _lab import SOURCE, Folder, expect, expect_equal, rocegen, run_json

PROFILES = os.path.join(SOURCE, "profiles")
SWITCH = """kind: emulated
topology: {type: single}
switch:
  pfc: {priorities: []}
  queue_limit: 60KiB
"""


def profile(keys):
    return f"""name: endpoints
phases: {{measure: 20ms, drain: 2ms}}
classes: {{rdma: {{dscp: 26, pcp: 3, ecn: ect0}}, ctrl: {{dscp: 48, pcp: 6}}}}
hosts: {{a: {{count: 2}}, b: {{}}}}
flows:
  - {{name: x, from: a, to: b, message: 64KiB, class: rdma, rate: 80%, packets: 4096, {keys}}}
"""


with Folder() as folder:
    report = run_json(os.path.join(PROFILES, "dcqcn-fairness.yaml"), "--testbed",
                      os.path.join(PROFILES, "testbeds/fairness-40g.yaml"))
    for flow in report["flows"]:
        expect(flow["cnp_rx"] > 0 and flow["jain"] > 0.95, f"{flow['flow_name']} is not fair")

    # Two senders at 80 % and drop tail: frames are lost, messages are not.
    testbed = folder.file("testbed.yaml", SWITCH)
    reliable = profile("reliable: {timeout: 4, window: 128}, ack_class: ctrl")
    report = run_json(folder.file("reliable.yaml", reliable), "--testbed", testbed)
    flow = report["flows"][0]
    expect(report["fabric"]["drops"] > 0, "nothing was dropped: the profile does not show it")
    expect_equal(flow["by_psn"]["lost"], 0, "lost for good")
    expect_equal(flow["message_complete_rx"], 64, "messages")
    expect_equal(flow["message_completion_time_ns"]["count"], 64, "message completion times")
    expect_equal(flow["flow_completion_time_ns"]["count"], 2, "flow completion times")
    expect_equal(flow["data_frames_tx"] - flow["data_frames_retransmitted"], 4096, "frames sent once")
    expect(flow["nak_rx_by_code"]["sequence"] > 0, "no NAK came")
    open_loop = run_json(folder.file("open.yaml", profile("qps: 1")), "--testbed", testbed)["flows"][0]
    expect(open_loop["by_psn"]["lost"] > 0, "an open-loop flow repairs its loss")
    expect_equal((open_loop["ack_rx"], open_loop["cnp_tx"]), (0, None), "replies without endpoints")

    for keys, why in (
            ("congestion_control: {dcqcn: nvidea}", "congestion_control.dcqcn: nvidea"),
            ("congestion_control: {dcqcn: paper, alpha_g: 2}", "alpha_g: 2: is out of range"),
            ("congestion_control: dcqcn", "congestion_control: dcqcn"),
            ("cnp_class: ctrl", "cnp_class"),
            ("reliable: true, ack_class: nobody", "the profile has no such class"),
            ("reliable: true, transport: uc", "only transport rc and xrc acknowledge"),
            ("reliable: {windows: 3}", "unknown key; did you mean window?")):
        done = rocegen("check", folder.file("bad.yaml", profile(keys)), "--testbed", testbed)
        expect_equal(done.returncode, 2, f"status with {keys}")
        expect(why in done.stderr and "bad.yaml:6:" in done.stderr, f"{keys}: {done.stderr}")
    done = rocegen("check", folder.file("reliable.yaml", reliable), "--testbed",
                   os.path.join(PROFILES, "testbeds/loopback.yaml"))
    expect("ports of kind dpdk do not obey it" in done.stdout + done.stderr,
           f"a real port's warning: {done.stdout}{done.stderr}")
