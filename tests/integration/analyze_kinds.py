"""What goes wrong in labs, one small capture each, made here frame by frame: who marked, who did not answer, what was lost and
what only looks like it, odd files. The numbers are those of the cases that users reported."""
import json
import os
import shutil
import struct

from _captures import (SEND_ONLY, T0, ack, analyze, analyze_records, cnp, equal, flow, nak, none_but, pfc, roce, steps, write_pcap)
from _lab import Folder, expect, expect_equal, rocegen

A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"


def data(psn, qp=17, **options):
    return roce(A, B, qp, psn, **options)


def kinds(report, kind):
    return [f["text"] for f in report["findings"] if f["kind"] == kind]


with Folder() as folder:
    def account(psns, *more, step=1000):
        report = analyze_records(folder, steps([data(p) if isinstance(p, int) else p for p in psns], step) + list(more))
        return flow(report, 17)["psn"]

    # Loss, order, copies
    none_but(account([0, 1, 3, 3, 4]), "one lost, one twice", lost_first_pass=1, missing_at_end=1, received_again=1, duplicated=1)
    none_but(account([0, 1, 3, 2, 4]), "one late", reordered=1)
    none_but(account([0, 9, *range(1, 9), 10]), "one early", reordered=8)
    none_but(account([*range(50_000, 50_005)], (1_100_000_000, data(3)), (1_100_001_000, data(4))), "a session anew", restarts=1)
    none_but(account([0xFFFFFE, 0xFFFFFF, 0, 1]), "the wrap")
    none_but(account([0, 1, roce(A, B, 17, 2, payload=b""), 3]), "a message without bytes")
    none_but(account([0, 1, 2, 4, 5, 6, nak(B, A, 34, 3), 3, 4, 5, 6, 7, ack(B, A, 34, 7)]), "go-back-N", lost_first_pass=1,
             received_again=3, retransmitted=3, rewinds=1)
    none_but(account([0, 1, 3, 4, ack(B, A, 34, 4)]), "missed by the capture", capture_gap=1)
    none_but(account([0, 1, data(2, icrc=False), 3, nak(B, A, 34, 2), 2, 3, ack(B, A, 34, 3)]), "one corrupt", corrupt=1,
             lost_first_pass=1, received_again=1, retransmitted=1, rewinds=1)

    # READ: its answer's PSNs are no loss, and asking again is no copy
    reth = struct.pack("!QII", 0, 1, 4096)
    responses = [roce(B, A, 34, 10 + i, opcode, extension=struct.pack("!I", 0x1F000001) if opcode != 0x0E else b"",
                      payload=bytes(1024)) for i, opcode in enumerate((0x0D, 0x0E, 0x0E, 0x0F))]
    read = roce(A, B, 17, 10, 0x0C, extension=reth, payload=b"")
    report = analyze_records(folder, steps([read, *responses, data(14)]))
    none_but(flow(report, 17)["psn"], "a READ")
    again = roce(A, B, 17, 12, 0x0C, extension=struct.pack("!QII", 2048, 1, 2048), payload=b"")
    report = analyze_records(folder, steps([read, *responses[:2]]) + [(20_000_000, again), (20_001_000, responses[2]),
                                                                     (20_002_000, responses[3]), (20_003_000, data(14))])
    none_but(flow(report, 17)["psn"], "a READ asked again", received_again=1, retransmitted=1, rewinds=1, timeouts=1)

    # RNR NAK is no loss, and says how long
    for syndrome, wait in ((0x20, "655360000"), (0x2C, "640000")):
        report = analyze_records(folder, steps([data(0), ack(B, A, 34, 0, syndrome)]))
        equal(report["roce"], "RNR", rnr_nak=1, nak_sequence=0, acks=0)
        expect_equal(flow(report, 34, "response")["answers"]["rnr_nak"]["by_timer_ns"], {wait: 1}, "RNR timer")
        none_but(flow(report, 17)["psn"], "RNR")
        expect_equal(len(kinds(report, "rnr")), 1, "RNR found")

    # No answer at all is no loss
    report = analyze_records(folder, steps([data(i) for i in range(5)]))
    expect_equal(flow(report, 17)["answered"], False, "no response")
    expect(any("no responder seen" in r for r in report["remarks"]), f"one way: {report['remarks']}")
    none_but(report["roce"]["requests"], "one way")

    # 9000 bytes are counted
    report = analyze_records(folder, steps([roce(A, B, 17, i, payload=bytes(8900)) for i in range(3)]))
    equal(flow(report, 17), "jumbo", frames=3, payload_bytes=3 * 8900)

    # Marks: at the source; not capable; not answered; on answers
    marked = steps([data(i, tos=0x6B) for i in range(10)] + [ack(B, A, 34, 9)])
    report = analyze_records(folder, marked)
    expect_equal(len(kinds(report, "marked_at_source")), 1, "CE from the first frame on")
    expect_equal(len(kinds(report, "no_cnp")), 1, "receiver sends no CNP")
    report = analyze_records(folder, steps([data(i, tos=0x6B if i == 5 else 0x6A) for i in range(10)] + [cnp(B, A, 34)]))
    expect_equal(report["findings"], [], "one mark, one CNP")
    report = analyze_records(folder, steps([data(0, tos=0x6B), data(0, 18, tos=0x68), data(1, tos=0x6A), data(1, 18, tos=0x68),
                                            data(0, 19, tos=0x00)]))
    expect_equal([t.count("QP") for t in kinds(report, "not_ecn_capable")], [1], "not ECN-capable")
    expect("QP 0x12" in kinds(report, "not_ecn_capable")[0], "which flow is not ECN-capable")
    report = analyze_records(folder, steps([data(0), ack(B, A, 34, 0, tos=0x6B), cnp(B, A, 34, tos=0xC3)]))
    equal(report["roce"], "CE on answers", ce_on_ack=1, ce_on_cnp=1)
    expect_equal(len(kinds(report, "ce_on_cnp") + kinds(report, "ce_on_ack")), 2, "CE on answers found")

    # CNPs: by opcode whatever the DSCP; a switch's own; in the data's class
    report = analyze_records(folder, steps([data(0), ack(B, A, 34, 0), cnp(B, A, 34, tos=46 << 2), cnp(C, A, 34, tos=48 << 2),
                                            cnp(B, A, 34, tos=26 << 2)]))
    expect_equal(report["roce"]["cnp"], 3, "CNPs")
    equal(report["cnp"][0], "CNPs", dscp={"46": 1, "48": 1, "26": 1}, third_party=1, flow=0)
    expect_equal(len(kinds(report, "cnp_in_data_class")), 1, "CNP in the data's class")

    # One flow outside of the lossless class; queue pairs on one source port
    report = analyze_records(folder, steps([data(0), data(0, 18, tos=0x02)]), "--lossless-dscp", "26")
    expect_equal(len(kinds(report, "lossy_class")), 1, "lossy class")
    expect("QP 0x12" in kinds(report, "lossy_class")[0], "which flow is lossy")
    report = analyze_records(folder, steps([data(0, 100 + i, port=49152) for i in range(64)]))
    expect("port 49152: 64 of 64 QPs" in kinds(report, "one_source_port")[0], "64 QPs on one port")
    report = analyze_records(folder, steps([data(0, 100 + i, port=49152 + i) for i in range(64)]))
    expect_equal(kinds(report, "one_source_port"), [], "64 QPs on 64 ports")

    # Pause frames are in no number of data
    plain = analyze_records(folder, steps([data(i) for i in range(4)], 2000))
    mixed = sorted(steps([data(i) for i in range(4)], 2000) + [(i * 2000 + 500, pfc(b"\x02" + bytes(5), {3: 0xFFFF}))
                                                                for i in range(3)], key=lambda r: r[0])
    paused = analyze_records(folder, mixed)
    for key in ("frames", "frame_bytes", "payload_bytes", "requests"):
        expect_equal(paused["roce"][key], plain["roce"][key], f"with pauses: {key}")
    equal(flow(paused, 17), "with pauses", psn=flow(plain, 17)["psn"], first_ns=flow(plain, 17)["first_ns"])

    # A mirror of both directions
    report = analyze_records(folder, steps([data(i // 2) for i in range(20)]))
    expect_equal(len(kinds(report, "double_copies")), 1, "double copies")

    # Times: back, nanoseconds in a us file, far, skipped
    report = analyze_records(folder, [(5000, data(0)), (4000, data(1)), (9000, data(2))])
    equal(report["capture"], "a step back", time_backwards=1, duration_ns=5000, gap_ns_min=5000)
    path = folder.file("us.pcap")
    with open(path, "wb") as out:
        frame = data(0)
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        out.write(struct.pack("<IIII", 1555486009, 955677809, len(frame), len(frame)) + frame)
    report = analyze(path)
    expect_equal(report["capture"]["first_ns"], 1555486009955677809, "nanoseconds in a us file")
    expect("ns in a us file" in report["files"][0]["issues"], "nanoseconds in a us file are flagged")
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        out.write(struct.pack("<IIII", 0xFFFFFFFF, 5, len(frame), len(frame)) + frame)
    expect_equal(analyze(path)["capture"]["first_ns"], 0xFFFFFFFF * 10**9 + 5000, "the last second of 32 bits")
    report = analyze_records(folder, steps([data(i) for i in range(5)]), "--skip-first", "2")
    equal(report["capture"], "--skip-first", records=3)
    equal(flow(report, 17), "--skip-first", psn_first=2)

    # Names and neighbors: pcap called .pcapng; ARP, LLDP, STP between; a trailer is no payload
    path = write_pcap(folder.file("renamed.pcapng"), steps([data(i) for i in range(3)]))
    expect_equal(analyze(path)["roce"]["frames"], 3, "a pcap called pcapng")
    arp = b"\xff" * 6 + b"\x02" * 6 + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + bytes(38)
    lldp = bytes.fromhex("0180c200000e") + b"\x02" * 6 + b"\x88\xcc" + bytes(46)
    stp = bytes.fromhex("0180c2000000") + b"\x02" * 6 + b"\x00\x26" + bytes.fromhex("424203") + bytes(43)
    report = analyze_records(folder, steps([data(0), arp, data(1), lldp, data(2), stp, data(3)]))
    expect_equal(report["roce"]["frames"], 4, "with others between")
    none_but(flow(report, 17)["psn"], "with others between")
    report = analyze_records(folder, steps([data(0) + b"\xde\xad\xbe\xef" * 5, data(1)]))
    equal(report["roce"], "a trailer", payload_bytes=128)
    expect_equal(report["roce"]["icrc"]["good"], 2, "a trailer")
    no_roce = analyze_records(folder, steps([arp, lldp]), status=4, stderr="no RoCE in 2 packets")
    expect_equal(no_roce["roce"]["frames"], 0, "no RoCE")

    # No number is negative, whatever the times
    def negative(value):
        if isinstance(value, dict):
            return any(negative(v) for v in value.values())
        if isinstance(value, list):
            return any(negative(v) for v in value)
        return isinstance(value, (int, float)) and value < 0

    expect(not negative(analyze_records(folder, [(9000, data(5)), (1000, data(1)), (8000, data(0)), (7, cnp(B, A, 34))],
                                        "--link-rate", "10Gbps")), "a negative number")

    # 20,000 queue pairs are told apart, and over the limit the totals are still right
    path = write_pcap(folder.file("many.pcap"), steps([data(p, 1000 + q) for p in range(2) for q in range(20_000)]))
    report = analyze(path)
    expect_equal(len(report["flows"]), 20_000, "flows")
    none_but(report["roce"]["requests"], "20,000 flows", data_frames=40_000)
    report = analyze(path, "--max-flows", "100")
    equal(report, "a table of 100", flows_not_tracked=19_900, frames_not_tracked=39_800)
    expect_equal(report["roce"]["frames"], 40_000, "a table of 100: frames")

    # Two points of one capture: loss between them is loss, not a copy
    def block(kind, body):
        body += bytes(-len(body) & 3)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    def write_points(name, records):
        with open(folder.file(name), "wb") as out:
            out.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
            for _ in range(2):
                out.write(block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)))
            for when, interface, frame in sorted(records, key=lambda r: r[0]):
                when += T0
                out.write(block(6, struct.pack("<IIIII", interface, when >> 32, when & 0xFFFFFFFF, len(frame), len(frame)) + frame))
        return folder.file(name)

    sent = [(i * 1000, 0, data(i, tos=0x6A)) for i in range(7)]
    arrived = [(i * 1000 + 2500, 1, data(i, tos=0x6B if i == 2 else 0x6A)) for i in (0, 1, 2, 4, 5, 6)]
    answers = [(4600, 1, cnp(B, A, 34)), (6600, 0, cnp(B, A, 34)), (6700, 1, nak(B, A, 34, 3)), (8700, 0, nak(B, A, 34, 3))]
    resent = [(9000 + i * 1000, 0, data(3 + i)) for i in range(4)] + [(11500 + i * 1000, 1, data(3 + i)) for i in range(4)]
    report = analyze(write_points("points.pcapng", sent + arrived + answers + resent))
    first, second = [f for f in report["flows"] if f["space"] == "request"]
    none_but(first["psn"], "at the sender", received_again=4, retransmitted=4, rewinds=1)
    none_but(second["psn"], "at the receiver", lost_first_pass=1, received_again=3, retransmitted=3, rewinds=1)
    expect_equal((first["upstream"], second["upstream"]), (None, first["index"]), "the two points")
    expect_equal(report["roce"]["requests"], second["psn"], "sums are of the last point")
    story = [(e["kind"], e["flow"], e["delay_ns"]) for e in report["timeline"]["events"]]
    story = [e for e in story if e[0] != "rate_fall"]  # it waits for the NAK, too
    expect_equal(story, [("ce", second["index"], None), ("cnp", second["index"], 100), ("gap", second["index"], None),
                         ("cnp", first["index"], 2000), ("nak", second["index"], 200), ("nak", first["index"], 2000),
                         ("retransmission", first["index"], 300), ("retransmission", second["index"], 2500),
                         ("recovery", second["index"], 0)], "the story of both points")
    # Points that share a flow out among them are one
    shared = analyze(write_points("shared.pcapng", [(i * 1000, i % 2, data(p)) for i, p in enumerate((0, 2, 1, 3, 4, 6))]))
    none_but(flow(shared, 17)["psn"], "a bond", lost_first_pass=1, missing_at_end=1, reordered=1)
