"""N:1 incast through an emulated switch, from files: queue growth, drop tail and PFC headroom meet their
closed forms to the frame; the shipped profile's expectations hold; the same run gives the same bytes."""
import os

from _lab import SOURCE, Folder, expect, expect_equal, rocegen, run_json

N, BURST = 8, 500  # senders; frames each of them sends back to back, all at once
# WRITE ONLY of 1024 bytes: Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, payload, ICRC 4, FCS 4.
L2 = 14 + 20 + 8 + 12 + 16 + 1024 + 4 + 4
CELL = 256
IN_CELLS = -(-L2 // CELL) * CELL  # what a frame takes of the buffer

PROFILE = f"""name: incast
phases: {{measure: 1ms, drain: 2ms}}
classes: {{rdma: {{dscp: 26, pcp: 3, ecn: ect0}}}}
hosts: {{senders: {{count: {N}}}, receiver: {{}}}}
flows:
  - {{name: x, from: senders, to: receiver, message: 1KiB, path_mtu: 1024, class: rdma, rate: 100%,
     pattern: {{type: burst, burst: {BURST} packets, period: 1ms}}}}
"""


def testbed(switch):
    return ("kind: emulated\ntopology: {type: single}\n"
            f"link: {{rate: 100Gbps, delay: 500ns}}\nswitch:\n  cell: {CELL}B\n" + switch)


def queue_of(report):
    """The receiver's egress queue, the only one in use."""
    ports = report["fabric"]["switches"][0]["ports"]
    queues = [q for p in ports for q in p["queues"]]
    expect_equal([(q["queue"], len(queues)) for q in queues], [(3, 1)], "queues in use")
    return queues[0]


def within_a_frame(seen, frames, what):
    expect(seen in (frames, frames + 1), f"{what}: expected {frames} or one more, saw {seen}")


with Folder() as folder:
    profile = folder.file("incast.yaml", PROFILE)

    def run(name, switch):
        return run_json(profile, "--testbed", folder.file(f"{name}.yaml", testbed(switch)))

    # Lossy and without limit: in each frame time N frames come and one goes, so (N - 1) / N of all
    # that was sent stands in the queue when the last frames have come.
    report = run("growth", "  buffer: 64MiB\n  alpha: {lossy: 128}\n  pfc: {priorities: []}\n")
    expect_equal(report["flows"][0]["data_frames_tx"], N * BURST, "frames sent")
    expect_equal(report["run"]["lost"], 0, "lost without a limit")
    frames, rest = divmod(queue_of(report)["peak_bytes"], IN_CELLS)
    expect_equal(rest, 0, "part of a frame in the queue")
    within_a_frame(frames, (N - 1) * BURST, "peak queue in frames")

    # Drop tail: the queue holds what fits, what went by then is served, all else is lost.
    limit = 1024 * 1024
    report = run("tail", f"  alpha: {{lossy: 128}}\n  pfc: {{priorities: []}}\n  queue_limit: {limit}B\n")
    queue = queue_of(report)
    held = limit // IN_CELLS
    expect_equal(queue["peak_bytes"], held * IN_CELLS, "peak queue with a limit")
    within_a_frame(report["run"]["lost"], N * BURST - held - BURST, "lost by drop tail")
    expect_equal(queue["drops_by_cause"], {"egress_threshold": report["run"]["lost"]}, "cause")

    # PFC. Headroom: the frame that the PFC waits for, the PFC itself, both ways, the response, and
    # the frame that began just before: how many frame times these are, each frame in cells.
    byte_ns = 8 / 100
    last = (8 + L2) * byte_ns
    span = (L2 + 20) * byte_ns + (8 + 64) * byte_ns + 2 * 500 + 1000 + last
    headroom = int(span / ((L2 + 20) * byte_ns)) * IN_CELLS
    pfc = ("  pfc: {{priorities: [3], xoff_threshold: 200KiB, headroom: {}B, response: 1us}}\n"
           "  ecn: {{priorities: [3], kmin: 100KiB, kmax: 400KiB, pmax: 0.2}}\n")
    report = run("pfc", pfc.format(headroom))
    fabric = report["fabric"]
    expect_equal((report["run"]["lost"], fabric["drops"]), (0, 0), "lost with PFC and its headroom")
    expect(fabric["pfc_xoff_tx"] >= N, f"XOFF to each sender, saw {fabric['pfc_xoff_tx']}")
    expect(fabric["ce_marked"] > 0, "CE marks")
    expect_equal(report["flows"][0]["ecn_ce_rx"], fabric["ce_marked"], "CE that the receiver saw")
    expect(fabric["headroom_peak_bytes"] <= N * headroom, "headroom in use")
    for nic in fabric["nics"][:N]:
        expect(nic["paused_ns"][3] > 0, f"{nic['name']} was paused")
        expect_equal(nic["paused_ns"][3], next(p["schedule_paused_ns"][3] for p in report["ports"]
                                               if p["name"] == nic["name"]), "paused, both ways")
    report = run("short", pfc.format(headroom // 2))
    lost = report["run"]["lost"]
    expect(lost > 0, "half of the headroom loses")
    expect_equal(report["fabric"]["drops_by_cause"], {"headroom_full": lost}, "its cause")

    # DSCP 26 is lossy with SONiC's map: nothing pauses.
    report = run("identity", "  alpha: {lossless: 1/64}\n")
    expect(report["fabric"]["pfc_xoff_tx"] > 0, "identity pauses priority 3")
    bed = testbed("  alpha: {lossy: 1/64}\n") + "qos: sonic-azure\n"
    report = run_json(profile, "--testbed", folder.file("azure.yaml", bed))
    expect_equal(report["fabric"]["pfc_xoff_tx"], 0, "XOFF of a lossy class")
    expect(report["fabric"]["drops"] > 0, "a lossy class drops")

    # The shipped profile on the shipped testbeds: exit status 0, and the same bytes twice.
    for name in ("emulated", "leaf-spine"):
        outs = []
        for turn in ("1", "2"):
            outs.append(os.path.join(folder.path, name + turn))
            done = rocegen("run", f"{SOURCE}/profiles/incast.yaml", "--testbed",
                           f"{SOURCE}/profiles/testbeds/{name}.yaml", "--out", outs[-1])
            expect_equal(done.returncode, 0, f"status on {name}: {done.stdout[:2000]}{done.stderr}")
        for file in ("report.json", "report.txt"):
            first, second = (open(os.path.join(out, file), "rb").read() for out in outs)
            expect(first == second, f"{file} on {name} differs between two runs")
        text = open(os.path.join(outs[0], "report.txt")).read()
        for part in ("Fabric: 0 frames dropped", "Queues of the switches", "Pauses by PFC"):
            expect(part in text, f"report.txt has {part}")

    done = rocegen("run", f"{SOURCE}/profiles/incast.yaml", "--testbed",
                   f"{SOURCE}/profiles/testbeds/loopback.yaml")
    expect_equal(done.returncode, 2, "status on the loopback, which has no switch")
    expect("has no switch" in done.stderr, f"why not: {done.stderr}")
print(f"peaks, losses and headroom of {headroom} bytes are as computed")
