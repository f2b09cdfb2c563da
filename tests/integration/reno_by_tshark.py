"""Reno TCP through an emulated bottleneck, judged by tshark: in a capture taken at the sender, its analysis of
sequence numbers finds as many retransmissions as the report counts, as many duplicate ACKs as the receiver had
segments out of order, right checksums, and ECE and CWR only where the class is ECN-capable."""
import subprocess

from _lab import Folder, expect, expect_equal, need, rocegen, run_json

need("tshark")
TESTBED = """kind: emulated
topology:
  type: explicit
  switches: [tor]
  links:
    - {ends: ["a[0]", tor], rate: 100Gbps, delay: 5us}
    - {ends: ["a[1]", tor], rate: 100Gbps, delay: 7us}
    - {ends: [b, tor], rate: 10Gbps, delay: 5us}
switch:
  pfc: {priorities: []}
  queue_limit: 40KiB
  ecn: {priorities: [0], kmin: 20KiB, kmax: 60KiB, pmax: 0.1, not_ect: pass}
"""
PROFILE = """name: reno
phases: {measure: 20ms, drain: 5ms}
classes: {bulk: {dscp: 0, pcp: 0, ecn: MARK}}
hosts: {a: {count: 2}, b: {}}
flows:
  - {name: x, from: a, to: b, protocol: tcp, message: 100000B, segment: 1440B, class: bulk, rate: 100%,
     destination_port: 5001, KEYS}
capture: {on: ["a[0]"]}
"""
RENO = "congestion_control: {reno: {rto_min: 1ms, delayed_ack: 200us}}"
AGAIN = "retransmission fast_retransmission spurious_retransmission out_of_order".split()


def frames(capture, filter_):
    done = subprocess.run(["tshark", "-n", "-r", capture, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
                           "-Y", filter_], capture_output=True, text=True)
    expect_equal(done.returncode, 0, f"tshark's status: {done.stderr}")
    return len(done.stdout.splitlines())


with Folder() as folder:
    testbed = folder.file("testbed.yaml", TESTBED)
    for mark in ("not-ect", "ect0"):
        capture = folder.file(f"{mark}.pcapng")
        profile = folder.file("profile.yaml", PROFILE.replace("MARK", mark).replace("KEYS", RENO))
        report = run_json(profile, "--testbed", testbed, "--capture", capture)
        streams = report["streams"]
        one, flow = streams[0], report["flows"][0]
        expect(one["data_frames_retransmitted"] > 5, f"nothing was sent again: {one}")
        again = " or ".join(f"tcp.analysis.{a}" for a in AGAIN)
        expect_equal(frames(capture, f"tcp.dstport == 5001 and ({again})"), one["data_frames_retransmitted"],
                     f"retransmissions by tshark, {mark}")
        expect_equal(frames(capture, "tcp.dstport == 5001 and tcp.len > 0"), one["data_frames_tx"], "segments")
        expect_equal(frames(capture, "tcp.srcport == 5001 and tcp.len == 0"), one["ack_rx"], "ACKs")
        expect(frames(capture, "tcp.analysis.duplicate_ack") >= 3 * one["fast_retransmits"], "duplicate ACKs")
        expect_equal(frames(capture, "tcp.checksum.status == 0 or ip.checksum.status == 0"), 0, "bad checksums")
        marked = mark == "ect0"
        expect_equal(frames(capture, "tcp.flags.cwr == 1") > 0, marked, f"CWR with {mark}")
        expect_equal(frames(capture, "tcp.flags.ece == 1") > 0, marked, f"ECE with {mark}")
        expect_equal(flow["ecn_cuts"] > 0, marked, f"cuts by ECN with {mark}")
        # What was sent once and not delivered is what is still out.
        expect(flow["by_psn"]["lost"] < 400, f"lost for good: {flow['by_psn']}")

    # All of a limited flow arrives, whatever is lost on the way.
    limited = PROFILE.replace("MARK", "not-ect").replace("KEYS", RENO + ", messages: 100")
    flow = run_json(folder.file("limited.yaml", limited.replace("measure: 20ms", "measure: 60ms")),
                    "--testbed", testbed)["flows"][0]
    expect(flow["lost"] > 0, "nothing was lost: the profile does not show it")
    expect_equal(flow["by_psn"]["lost"], 0, "lost for good")
    expect_equal(flow["message_complete_rx"], 100, "messages")
    expect_equal(flow["flow_completion_time_ns"]["count"], 2, "flow completion times")

    for keys, why in (
            ("congestion_control: renos", "congestion_control: renos"),
            ("congestion_control: {reno: {initial_windows: 3}}", "did you mean initial_window?"),
            ("congestion_control: {reno: {}, dcqcn: paper}", "take one of them"),
            ("congestion_control: {reno: {}, alpha_g: 1/2}", "is of dcqcn"),
            ("congestion_control: {alpha_g: 1/2}", "say reno"),
            ("congestion_control: {reno: {rto_min: 2ms, rto_max: 1ms}}", "is more than rto_max")):
        bad = folder.file("bad.yaml", PROFILE.replace("MARK", "not-ect").replace("KEYS", keys))
        done = rocegen("check", bad, "--testbed", testbed)
        expect_equal(done.returncode, 2, f"status with {keys}")
        expect(why in done.stderr and "bad.yaml:" in done.stderr, f"{keys}: {done.stderr}")
    roce = PROFILE.replace("protocol: tcp, ", "").replace("segment: 1440B, ", "").replace("destination_port: 5001, ", "")
    done = rocegen("check", folder.file("bad.yaml", roce.replace("MARK", "ect0").replace("KEYS", "congestion_control: reno")),
                   "--testbed", testbed)
    expect_equal(done.returncode, 2, "status of reno with RoCE")
    expect("reno is for protocol tcp" in done.stderr, done.stderr)
