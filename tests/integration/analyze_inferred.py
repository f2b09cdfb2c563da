"""CE shares and CNP rates by interval, queue depths that delays tell of, clocks that differ, rings of pauses and resends whose
tail is lost: each against what was put in."""
import collections
import struct

from _captures import (T0, ack, analyze, analyze_records, cnp, equal, flow, nak, pfc, roce, steps, write_pcap)
from _lab import SOURCE, Folder, expect, expect_equal, rocegen, run_json

A, B = "10.0.0.1", "10.0.0.2"
ECT0, CE, NOT_ECT = 0x6A, 0x6B, 0x68


def kinds(report, kind):
    return [f["text"] for f in report["findings"] if f["kind"] == kind]


def intervals(folder):
    """J8: per flow and interval, side by side."""
    records, wanted = [], {}
    for i in range(5):  # ms
        for k in range(20):  # flow 17: i of 20 frames CE; flow 18 Not-ECT
            records.append((i * 1_000_000 + k * 10_000, roce(A, B, 17, i * 20 + k, tos=CE if k < i else ECT0)))
            records.append((i * 1_000_000 + k * 10_000 + 1, roce(A, B, 18, 500_000 + i * 20 + k, tos=NOT_ECT, port=49200)))
        records.append((i * 1_000_000 + 300_000, ack(B, A, 34, i * 20 + 19)))
        records += [(i * 1_000_000 + 400_000 + k, cnp(B, A, 34)) for k in range(2 * i)]
        records += [(i * 1_000_000 + 500_000 + k, cnp("10.9.9.9", "10.8.8.8", 5)) for k in range(i == 2)]
        wanted[i] = (20, i, i / 20, 2 * i, 2000.0 * i)
    report = analyze_records(folder, records, "--interval", "1ms")
    expect_equal(report["intervals"]["width_ns"], 1_000_000, "width")
    index = flow(report, 17)["index"]
    seen = {(r["from_ns"] - T0) // 1_000_000: (r["frames"], r["ce"], r["ce_share"], r["cnp"], r["cnp_per_sec"])
            for r in report["intervals"]["rows"] if r["flow"] == index}
    expect_equal(seen, wanted, "CE share and CNPs of the flow by interval")
    lost = [r for r in report["intervals"]["rows"] if r["flow"] is None]
    expect_equal([(r["cnp"], r["from_ns"] - T0) for r in lost], [(1, 2_000_000)], "CNPs for no flow that is known")
    expect_equal(analyze(folder.file("records.pcap"))["intervals"], None, "intervals that were not asked for")
    report = analyze_records(folder, steps([roce(A, B, 18, i, tos=NOT_ECT) for i in range(3)]), "--interval", "10us")
    expect_equal([(r["frames"], r["ce_share"]) for r in report["intervals"]["rows"]], [(3, None)], "Not-ECT has no share")
    text = rocegen("analyze", "--interval", "1ms", write_pcap(folder.file("r.pcap"), records)).stdout
    expect("CE share" in text and "0.2000" in text, f"the text's table: {text}")
    sums = collections.Counter()
    report = analyze(folder.file("r.pcap"), "--interval", "37us")
    for row in report["intervals"]["rows"]:
        sums["ce"] += row["ce"]
        sums["cnp"] += row["cnp"]
    expect_equal((sums["ce"], sums["cnp"]), (report["roce"]["ecn"]["ce"], report["roce"]["cnp"]), "sums over intervals")


def queue(folder):
    """A simulated incast: what the delays tell of the switch's queue is what the switch had."""
    profile = folder.file("q.yaml", """name: q
seed: 2
phases: {measure: 200us, drain: 2ms}
classes: {rdma: {dscp: 26, pcp: 3, ecn: ect0}}
hosts: {senders: {count: 4}, receiver: {}}
flows:
  - {name: x, from: senders, to: receiver, verb: write, message: 64KiB, path_mtu: 1024, class: rdma, rate: 100%,
     pattern: {type: burst, burst: 100 packets, period: 1ms}}
capture: {on: [receiver]}
""")
    file = folder.file("q.pcapng")
    run = run_json(profile, "--testbed", f"{SOURCE}/profiles/testbeds/emulated.yaml", "--capture", file)
    peak = max(q["peak_bytes"] for s in run["fabric"]["switches"] for p in s["ports"] for q in p["queues"])
    report = analyze(file, "--link-rate", "100Gbps")
    queues = [f["queue"] for f in report["flows"] if f["queue"]]
    expect_equal(len(queues), 4, "flows with tags")
    expect(all(q["inferred"] and q["samples"] == 100 for q in queues), f"samples: {queues}")
    deepest = max(q["depth_bytes_max"] for q in queues)
    # In frames: the switch counts 5 cells of 256 bytes, the wire 1106 bytes with its gap. The queue's peak counts frames that
    # have not all been sent yet, and none but the last to come waited for all of them.
    expect(abs(deepest / 1106 - peak / 1280) < 0.03 * peak / 1280, f"depth inferred {deepest}, the switch had {peak}")
    for q in queues:
        expect(0 <= q["delay_ns_mean"] <= q["delay_ns_max"], f"{q}")
        expect_equal(q["depth_bytes_max"], q["delay_ns_max"] * 100 // 8, "bytes of the delay")
    expect_equal(analyze(file)["flows"][0]["queue"]["depth_bytes_max"], None, "no depth without a rate")
    expect("Queue (inferred) of" in rocegen("analyze", file).stdout, "the text says what it is")
    none = analyze_records(folder, steps([roce(A, B, 17, i) for i in range(3)]))
    expect_equal(none["flows"][0]["queue"], None, "no queue without tags")


def clocks(folder):
    """F3, F5: one wire, two stamps."""
    frames = steps([roce(A, B, 17, i) for i in range(50)])
    for late, words in ((37_000_000_000, "37.000000000 s ahead of (TAI against UTC?)"), (160_000_000_000, "160.000000000 s"),
                        (500_000, None)):
        near = write_pcap(folder.file("near.pcap"), frames)
        far = write_pcap(folder.file("far.pcap"), [(at + late, frame) for at, frame in frames])
        report = analyze(near, far)
        said = kinds(report, "clocks")
        expect_equal(len(said), 0 if words is None else 1, f"{late}: clocks that differ: {said}")
        if words:
            expect(words in said[0] and ("TAI" in said[0]) == (late == 37_000_000_000), f"{late}: {said}")
    equal(report["capture"], "whose clock", unit="ns", clock="file", clock_difference_ns_max=None)
    # ERF: the card's stamp, and the file's beside it
    for ahead, words in ((37, "TAI against UTC?"), (-160, "behind the file's"), (0, None)):
        with open(folder.file("card.pcap"), "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 197))
            for at, frame in frames:
                ns = T0 + at
                stamp = (ns // 10**9 + ahead) << 32 | ((ns % 10**9) << 32) // 10**9
                erf = struct.pack("<Q", stamp) + struct.pack(">BBHHH", 2, 4, 18 + len(frame), 0, len(frame) + 4) + bytes(2)
                out.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(erf + frame), len(erf + frame)) + erf + frame)
        report = analyze(folder.file("card.pcap"))
        said = kinds(report, "clocks")
        expect_equal(len(said), 0 if words is None else 1, f"ERF {ahead}: {said}")
        expect(words is None or words in said[0], f"ERF {ahead}: {said}")
        equal(report["capture"], f"ERF {ahead}", clock="card")
        expect(abs(report["capture"]["clock_difference_ns_min"] - ahead * 10**9) <= 1, f"ERF {ahead}: {report['capture']}")
        expect(abs(report["capture"]["first_ns"] - T0 - ahead * 10**9) <= 1, f"ERF {ahead}: the card's time is used")


def rings(folder):
    macs = [bytes.fromhex(f"02000000000{i}") for i in range(1, 5)]
    for count in (2, 3, 4):
        records = sorted((i * 300_000 + k * 1_000_000, pfc(macs[k], {3: 0xFFFF})) for i in range(80) for k in range(count))
        report = analyze_records(folder, records, "--link-rate", "100Gbps")
        (ring,) = report["pause"]["deadlocks"]
        members = [":".join(f"{b:02x}" for b in mac) for mac in macs[:count]]
        expect_equal([ring["by"], *ring["others"]], members, f"members of a ring of {count}")
        expect_equal(ring["start_ns"] - T0, (count - 1) * 1_000_000, f"start of a ring of {count}")
        expect_equal(ring["length_ns"], 79 * 300_000 + 335_539 - (count - 1) * 1_000_000, f"length of a ring of {count}")
        expect(all(member in kinds(report, "deadlock")[0] for member in members), "the finding names them all")
        expect_equal(sum(e["kind"] == "deadlock" for e in report["timeline"]["events"]), 1, "one event")


def switch_reaction(folder):
    """C12 behind a switch: its MAC is no end of any frame."""
    switch = bytes.fromhex("02ff00000001")
    for late, holds in ((2000, True), (2100, False)):
        records = [(0, roce(A, B, 17, 0)), (1000, pfc(switch, {3: 0xFFFF})), (1000 + late, roce(A, B, 17, 1)),
                   (1000 + late + 500, ack(B, A, 34, 1)), (400_000, roce(A, B, 17, 2))]
        report = analyze_records(folder, records, "--link-rate", "100Gbps")
        equal(report["pause"]["sources"][0]["priorities"]["3"], f"switch {late}", reaction_ns=late, reaction_of="all_data",
              reaction_holds=holds, late_bytes=126)


def resend_tail(folder):
    psns = [0, 1, 2, 4, 5, 6]
    frames = [roce(A, B, 17, i) for i in psns] + [nak(B, A, 34, 3)] + [roce(A, B, 17, i) for i in (3, 4, 7)]
    told = analyze_records(folder, steps(frames + [nak(B, A, 34, 5)] + [roce(A, B, 17, i) for i in (5, 6, 7)] +
                                         [ack(B, A, 34, 7)]))
    equal(flow(told, 17)["psn"], "tail lost", lost_in_resend=2, lost_first_pass=1, missing_at_end=0)
    kept = analyze_records(folder, steps(frames + [ack(B, A, 34, 7)]))
    equal(flow(kept, 17)["psn"], "tail that the receiver had", lost_in_resend=0, lost_first_pass=1)


with Folder() as folder:
    intervals(folder)
    queue(folder)
    clocks(folder)
    rings(folder)
    switch_reaction(folder)
    resend_tail(folder)
