"""--capture of a run in virtual time: tshark dissects every frame, the ICRCs are right by zlib alone, and
`rocegen analyze` of the file finds what the report of the run says: frames, CE, CNP, pauses."""
import json
import os
import subprocess
import sys

from _lab import HERE, Folder, expect, expect_equal, need, rocegen, run_json

need("tshark")
TESTBED = """kind: emulated
topology: {type: single}
link: {rate: 100Gbps, delay: 500ns}
switch:
  pfc: {priorities: [3], xoff_threshold: 200KiB, headroom: 64KiB}
  ecn: {priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2}
  scheduler: {strict: [6]}
"""
PROFILE = """name: capture
phases: {measure: 300us, drain: 2ms}
classes: {rdma: {dscp: 26, pcp: 3, ecn: ect0}, ctrl: {dscp: 48, pcp: 6}}
hosts: {senders: {count: 8}, receiver: {}}
flows:
  - {name: x, from: senders, to: receiver, message: 16KiB, path_mtu: 1024, class: rdma, rate: 90%, qps: 2,
     cnp_class: ctrl, congestion_control: {dcqcn: nvidia}, reliable: true}
capture: {on: [WHERE]}
"""


def tshark(capture, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", capture, *arguments], capture_output=True, text=True)
    expect_equal(done.returncode, 0, f"tshark's status: {done.stderr}")
    return done.stdout.splitlines()


def captured(folder, where):
    """The run's report, the file and what `analyze` says of it."""
    capture = folder.file(f"{where}.pcapng")
    report = run_json(folder.file(f"{where}.yaml", PROFILE.replace("WHERE", where)),
                      "--testbed", folder.file("testbed.yaml", TESTBED), "--capture", capture)
    done = rocegen("analyze", "--json", "--link-rate", "100Gbps", capture)
    expect_equal(done.returncode, 0, f"status of analyze: {done.stderr}")
    return report, capture, json.loads(done.stdout)


with Folder() as folder:
    report, capture, seen = captured(folder, "receiver")
    flow = report["flows"][0]
    for key in ("ecn_ce_rx", "cnp_tx", "ack_tx"):
        expect(flow[key] > 0, f"{key} is 0: the profile does not show it")
    data = [f for f in seen["flows"] if f["psn"]]
    expect_equal(len(data), len(report["streams"]), "flows with data")
    expect_equal(sorted(f["psn"]["data_frames"] for f in data),
                 sorted(s["data_frames_rx"] for s in report["streams"]), "frames of each flow")
    expect_equal(sum(f["psn"]["lost_first_pass"] for f in data), flow["lost"], "frames lost")
    expect_equal(sum(f["ecn"]["ce"] for f in data), flow["ecn_ce_rx"], "frames with CE")
    expect_equal(seen["roce"]["cnp"], flow["cnp_tx"], "CNPs")
    expect_equal(seen["roce"]["acks"], flow["ack_tx"], "ACKs")
    expect_equal(seen["roce"]["icrc"]["bad"], 0, "bad ICRCs")
    expect_equal(seen["frames"].get("malformed", 0), 0, "malformed frames")

    records = seen["capture"]["records"]
    lines = tshark(capture, "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed",
                   "-e", "frame.interface_name")
    expect_equal(len(lines), records, "frames that tshark read")
    fields = [line.split("\t") for line in lines]
    expect(all(f[0] != "" for f in fields), "frames that tshark takes for no RoCEv2")
    expect(all(f[1] == "" for f in fields), "frames that tshark finds malformed")
    expect_equal({f[2] for f in fields}, {"receiver[0]"}, "interface names")
    expect_equal(sum(int(f[0], 0) == 0x81 for f in fields), flow["cnp_tx"], "CNPs by tshark")

    done = subprocess.run([sys.executable, os.path.join(HERE, "_icrc_check.py"), capture],
                          capture_output=True, text=True)
    expect_equal(done.returncode, 0, f"the ICRC checker: {done.stdout}{done.stderr}")

    report, capture, seen = captured(folder, "senders")
    xoff = sum(p["xoff_rx"] for n in report["fabric"]["nics"] for p in n["pfc"])
    frames = sum(p["pfc_rx"] for p in report["ports"])
    expect(frames > 0, "no pause came: the profile does not show it")
    expect_equal(seen["frames"]["pfc"], frames, "pause frames")
    expect_equal(seen["roce"]["cnp"], report["flows"][0]["cnp_rx"], "CNPs received")
    expect_equal(sum(p["xoff"] for s in seen["pause"]["sources"] for p in s["priorities"].values()), xoff,
                 "XOFFs received")
