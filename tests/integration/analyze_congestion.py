"""Bursts, incasts, CE epochs, CNPs, pauses and the timeline, in captures made here frame by frame."""
import random

from _captures import (T0, ack, analyze, analyze_records, cnp, equal, flow, nak, pause, pfc, roce, steps, write_pcap)
from _lab import Folder, expect, expect_equal, rocegen

BURST_AT, BURST_NS = 500_000_000, 40_000
RECEIVER = "10.0.0.100"
L1_BYTES = 1082 + 24  # of a frame with 1024 bytes of payload


def kinds(report, kind):
    return [f["text"] for f in report["findings"] if f["kind"] == kind]


def events(report, *wanted):
    return [e for e in report["timeline"]["events"] if not wanted or e["kind"] in wanted]


def traffic(sources, gap_ns, start, length, address, psns):
    """`sources` senders, each a frame every gap_ns with phases of their own."""
    draws = random.Random(7)
    records = []
    for i in range(sources):
        at = start + draws.randrange(gap_ns)
        while at < start + length:
            source = address.format(i + 1)
            psns[source] = psns.get(source, -1) + 1
            records.append((at, source, psns[source]))
            at += gap_ns
    return records


made = {}


def render(records):
    out = []
    for at, source, psn in sorted(records):
        if (source, psn) not in made:
            qp = 0x100 + int(source.split(".")[-1])
            made[source, psn] = roce(source, RECEIVER, qp, psn, payload=bytes(1024), port=49152 + qp)
        out.append((at, made[source, psn]))
    return out


with Folder() as folder:
    # 1 s of background (8 sources, 0.5 Gb/s together), 6 sources at 40 Gb/s each for 40 us: 240 Gb/s into 100 Gb/s
    psns = {}
    gap = L1_BYTES * 8 * 16
    background = traffic(8, gap, 0, 1_000_000_000, "10.0.1.{}", psns)
    burst = traffic(6, L1_BYTES * 8 // 40, BURST_AT, BURST_NS, "10.0.2.{}", psns)
    path = write_pcap(folder.file("burst.pcap"), render(background + burst))
    report = analyze(path, "--link-rate", "100Gbps", "--window", "10us,50us,100us")
    bursts = report["bursts"]
    expect_equal([w["bursts"] for w in bursts["windows"]], [1, 1, 1], "bursts by window")
    expect_equal([w["incasts"] for w in bursts["windows"]], [1, 1, 1], "incasts by window")
    for found in bursts["list"]:
        what = f"burst with W = {found['window_ns']}"
        expect(abs(found["start_ns"] - T0 - BURST_AT) <= 1_000, f"{what}: start {found['start_ns'] - T0}")
        expect(abs(found["length_ns"] - BURST_NS) <= 1_000, f"{what}: length {found['length_ns']}")
        expect_equal(found["destination"], RECEIVER, what)
        expect_equal(sorted(c["source"] for c in found["contributors"]), [f"10.0.2.{i}" for i in range(1, 7)], what)
        sent = sum(c["l1_bytes"] for c in found["contributors"])
        expect(abs(sent - len(burst) * L1_BYTES) <= 6 * L1_BYTES, f"{what}: {sent} bytes of {len(burst)} frames")
    expect_equal([e["kind"] for e in events(report)], ["burst"], "timeline")
    expect(200 < bursts["windows"][0]["peak_destination"]["l1_gbps"] < 260, "peak of 10 us")
    expect(0.49 < bursts["mean_l1_gbps"] < 0.52, f"mean {bursts['mean_l1_gbps']}")

    # The background alone; a burst of 0.9 of the threshold (80.5 and 0.5 of 90 Gb/s) on it; without a rate nothing is known
    for records, rate in ((background, 0), (background + traffic(6, L1_BYTES * 8 * 60 // 805, BURST_AT, BURST_NS,
                                                                 "10.0.2.{}", {}), 81)):
        path = write_pcap(folder.file("none.pcap"), render(records))
        none = analyze(path, "--link-rate", "100Gbps", "--window", "10us,50us,100us")["bursts"]
        expect_equal([w["bursts"] for w in none["windows"]], [0, 0, 0], f"bursts at {rate} Gb/s")
        expect_equal(none["list"], [], "bursts")
    unknown = analyze(path)["bursts"]
    expect_equal([w["bursts"] for w in unknown["windows"]], [None] * 3, "bursts without a rate")
    for option, value in (("--window", "10"), ("--window", "10us,,"), ("--window", "1us,2us,3us,4us,5us"),
                          ("--burst-threshold", "0.9"), ("--burst-threshold", "0%"), ("--link-rate", "0Gbps"),
                          ("--cnp-interval", "x"), ("--watchdog", "0ns"), ("--lossless", "8"), ("--lossless-dscp", "64")):
        done = rocegen("analyze", option, value, path)
        expect_equal(done.returncode, 2, f"status with {option} {value}")
        expect(option in done.stderr, f"{option} {value}: {done.stderr}")

    # J7: 10 Gb/s for 100 ms of 1 s is 1 Gb/s on average
    frame = roce("10.0.0.1", RECEIVER, 17, 0, payload=bytes(8000))
    frames = [(i * 6_400, frame) for i in range(15_625)] + [(1_000_000_000, frame)]
    j7 = analyze_records(folder, frames, "--window", "1ms")["bursts"]
    l1 = (len(frame) + 24) * 8 / 6_400
    expect(abs(j7["windows"][0]["peak_all"]["l1_gbps"] - l1) < 0.1, f"J7: peak {j7['windows'][0]}, {l1}")
    expect(abs(j7["mean_l1_gbps"] - l1 / 10) < 0.001, f"J7: mean {j7['mean_l1_gbps']}")

    # CE epochs: CE at 10, CNP at 13 us; CE within 4 us behind it owes none; CE at 20 is never answered, nor the one
    # that comes 1.1 ms later; CE at 1.2 ms is answered after 2 us
    def marked(psn):
        return roce("10.0.0.1", "10.0.0.2", 17, psn, tos=0x6B)

    records = [(i * 1000, roce("10.0.0.1", "10.0.0.2", 17, i)) for i in range(10)]
    records += [(10_000, marked(10)), (11_000, marked(11)), (12_500, ack("10.0.0.2", "10.0.0.1", 34, 11)),
                (13_000, cnp("10.0.0.2", "10.0.0.1", 34)), (15_000, marked(12)), (20_000, marked(13)),
                (1_120_000, marked(14)), (1_122_000, cnp("10.0.0.2", "10.0.0.1", 34)),
                (1_123_000, cnp("10.0.0.9", "10.0.0.1", 34))]
    report = analyze_records(folder, records)
    equal(flow(report, 17)["marks"], "epochs", epochs=3, epochs_answered=2, epochs_unanswered=1, cnp=3,
          ce_to_cnp_ns={"min": 2000, "mean": 2500, "max": 3000}, runs="0x10 1x5", run_count=2)
    equal(report["cnp"][0], "CNPs", frames=3, third_party=1, flow=flow(report, 17)["index"])
    told = [(e["kind"], e["frame"], e["delay_ns"]) for e in events(report, "ce", "cnp")]
    expect_equal(told, [("ce", 11, None), ("cnp", 14, 3000), ("ce", 16, None), ("ce", 17, None), ("cnp", 18, 2000),
                        ("cnp", 19, None)], "the timeline's marks")
    other = analyze_records(folder, records, "--cnp-interval", "1us")
    expect_equal([e["frame"] for e in events(other, "ce")], [11, 15, 17], "another CNP interval")

    # D1: run lengths
    records = steps([roce("10.0.0.1", "10.0.0.2", 17, i, tos=0x6B if 6 <= i < 60 else 0x6A) for i in range(101)])
    expect_equal(flow(analyze_records(folder, records), 17)["marks"]["runs"], "0x6 1x54 0x41", "D1")

    # A sender that a CNP slows: 100 frames 1 us apart, CE, CNP 5 us behind it, then frames 3 us apart
    records = steps([roce("10.0.0.1", "10.0.0.2", 17, i) for i in range(100)])
    records += [(100_000, marked(100)), (100_500, ack("10.0.0.2", "10.0.0.1", 34, 99)),
                (105_000, cnp("10.0.0.2", "10.0.0.1", 34))]
    records += [(107_000 + 3000 * i, roce("10.0.0.1", "10.0.0.2", 17, 101 + i)) for i in range(20)]
    report = analyze_records(folder, records)
    story = events(report)
    expect_equal([(e["kind"], e["delay_ns"]) for e in story], [("ce", None), ("cnp", 5000), ("rate_fall", 2000)], "a cut")
    ratio = story[2]["value"] / story[2]["more"]
    expect_equal(ratio, 4, f"the cut: {story[2]}")
    steady = steps([marked(i) if i == 100 else roce("10.0.0.1", "10.0.0.2", 17, i) for i in range(140)])
    steady += [(100_500, ack("10.0.0.2", "10.0.0.1", 34, 99)), (105_100, cnp("10.0.0.2", "10.0.0.1", 34))]
    report = analyze_records(folder, sorted(steady, key=lambda r: r[0]))
    expect_equal([e["kind"] for e in events(report)], ["ce", "cnp"], "no cut")

    # Pauses at 100 Gb/s (0xffff quanta are 335.54 us)
    B = b"\x02\x00\x0a\x00\x00\x02"
    C = b"\x02\x00\x0a\x00\x00\x03"
    # C20: a storm of 150 ms without lapse; C1: one that lapses; watchdog-length by option
    storm = [(i * 300_000, pfc(B, {3: 0xFFFF})) for i in range(500)]
    report = analyze_records(folder, storm, "--link-rate", "100Gbps")
    priority = report["pause"]["sources"][0]["priorities"]["3"]
    equal(priority, "storm", intervals=1, lapses=0, xoff=500)
    expect_equal([(s["by"], s["priority"], s["start_ns"], s["length_ns"]) for s in report["pause"]["storms"]],
                 [("02:00:0a:00:00:02", 3, T0, 499 * 300_000 + 335_539)], "the storm")
    expect_equal(len(kinds(report, "storm")), 1, "storm found")
    expect_equal([p for p in report["pause"]["sources"][0]["priorities"]], ["3"], "C8: no other priority")
    expect_equal(analyze_records(folder, storm)["pause"]["storms"], None, "a storm without a rate")
    lapsing = [(i * 400_000, pfc(B, {3: 0xFFFF})) for i in range(500)]
    report = analyze_records(folder, lapsing, "--link-rate", "100Gbps")
    equal(report["pause"]["sources"][0]["priorities"]["3"], "lapses", intervals=500, lapses=499,
          lapsed_ns=32_165_939.2)
    expect_equal(report["pause"]["storms"], [], "a storm that lapses")
    expect_equal(len(kinds(report, "lapse")), 1, "lapse found")
    short = analyze_records(folder, storm[:100], "--link-rate", "100Gbps", "--watchdog", "20ms")
    expect_equal(len(short["pause"]["storms"]), 1, "a watchdog of 20 ms")

    # C5, C10: XON alone
    report = analyze_records(folder, steps([pfc(B, {3: 0})] * 10_000), "--link-rate", "100Gbps")
    equal(report["pause"]["sources"][0]["priorities"]["3"], "XON storm", xoff=0, xon=10_000, paused_ns=0, intervals=0,
          xon_idle=10_000, xon_idle_run=10_000)
    expect_equal(len(kinds(report, "xon_storm")), 1, "XON storm found")
    normal = steps([pfc(B, {3: 0xFFFF if i % 2 == 0 else 0}) for i in range(1000)])
    report = analyze_records(folder, normal, "--link-rate", "100Gbps")
    equal(report["pause"]["sources"][0]["priorities"]["3"], "XOFF and XON", xon_idle=0, paused_ns=500_000)
    expect_equal(report["findings"], [], "nothing odd")

    # C19: both ways over 10 ms
    both = sorted([(i * 300_000, pfc(B, {3: 0xFFFF})) for i in range(60)] +
                  [(2_000_000 + i * 300_000, pfc(C, {3: 0xFFFF})) for i in range(60)], key=lambda r: r[0])
    report = analyze_records(folder, both, "--link-rate", "100Gbps")
    expect_equal([(d["priority"], d["start_ns"] - T0, d["length_ns"]) for d in report["pause"]["deadlocks"]],
                 [(3, 2_000_000, 59 * 300_000 + 335_539 - 2_000_000)], "deadlock")
    expect_equal(len(events(report, "deadlock")), 1, "deadlock in the timeline")
    apart = sorted([(i * 300_000, pfc(B, {3: 0xFFFF})) for i in range(60)] +
                   [(2_000_000 + i * 300_000, pfc(C, {4: 0xFFFF})) for i in range(60)], key=lambda r: r[0])
    expect_equal(analyze_records(folder, apart, "--link-rate", "100Gbps")["pause"]["deadlocks"], [], "two priorities")

    # C6, C21, C14
    report = analyze_records(folder, steps([pfc(bytes(6), {0: 100}), pause(B, 0xFFFF)]), "--lossless", "3,4",
                             "--link-rate", "100Gbps")
    expect_equal(len(kinds(report, "zero_mac")), 1, "C6")
    expect_equal(len(kinds(report, "pfc_of_lossy_class")), 1, "C21")
    equal(report["pause"]["sources"][1]["global"], "C14", xoff=1, paused_ns=335_539.2)
    equal(report["pause"]["sources"][1], "C14", priorities={})

    # C12, C17: how fast the sender obeys, and the headroom that it takes
    for late, quanta, holds in ((2000, 390.625, True), (2100, 410.15625, False)):
        records = [(i * 100, roce("10.0.0.1", "10.0.0.2", 17, i)) for i in range(10)]
        records += [(1000, pfc(B, {3: 0xFFFF})), (2000, roce("10.0.0.1", "10.0.0.2", 17, 10)),
                    (1000 + late, roce("10.0.0.1", "10.0.0.2", 17, 11)), (300_000, pfc(B, {3: 0})),
                    (310_000, roce("10.0.0.1", "10.0.0.2", 17, 12))]
        report = analyze_records(folder, records, "--link-rate", "100Gbps")
        equal(report["pause"]["sources"][0]["priorities"]["3"], f"reaction {late}", reaction_ns=late,
              reaction_quanta=quanta, reaction_limit_quanta=394, reaction_holds=holds, late_bytes=252)
        expect_equal(len(kinds(report, "slow_reaction")), 0 if holds else 1, f"reaction {late} found")
        silence = events(report, "silence")
        expect_equal([(e["frame"], e["delay_ns"], e["value"]) for e in silence],
                     [(13, late, 310_000 - 1000 - late)], "silence behind the XOFF")
        expect_equal([e["delay_ns"] for e in events(report, "xon")], [299_000], "XON")

    # A loss and its repair, each with the delay from its cause
    records = steps([roce("10.0.0.1", "10.0.0.2", 17, i) for i in (0, 1, 2, 4, 5, 6)])
    records.append((6000, nak("10.0.0.2", "10.0.0.1", 34, 3)))
    records += [(7000 + 1000 * i, roce("10.0.0.1", "10.0.0.2", 17, 3 + i)) for i in range(4)]
    report = analyze_records(folder, records)
    expect_equal([(e["kind"], e["frame"], e["delay_ns"]) for e in events(report)],
                 [("gap", 4, None), ("nak", 7, 3000), ("retransmission", 8, 1000), ("recovery", 8, 0)], "a loss")
    text = rocegen("analyze", "--timeline", folder.file("records.pcap")).stdout
    for words in ("PSN 3 missing", "NAK (nak_sequence), PSN 3; 3 us after the gap in frame 4", "recovered"):
        expect(words in text, f"no {words!r} in {text}")
