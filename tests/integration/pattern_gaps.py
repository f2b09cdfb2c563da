"""What patterns are, judged by their definitions: planned times are read out of the captures that `rocegen craft`
writes, with a reader of this file's own, and held against closed forms; runs on the emulated fabric report the
same skew; the shipped profiles of patterns hold their expectations."""
import collections
import csv
import gzip
import math
import random
import struct

from _lab import SOURCE, Folder, expect, expect_equal, rocegen, run_json

EMULATED = f"{SOURCE}/profiles/testbeds/emulated.yaml"
ONLY, LAST = {0x04, 0x0A}, {0x02, 0x08}  # RC SEND and WRITE


def frames(path):
    """(time ns, source IP, destination QP, PSN, opcode, payload bytes) of RoCEv2 over IPv4 in a nanosecond pcap."""
    with open(path, "rb") as file:
        data = file.read()
    expect_equal(struct.unpack_from("<I", data)[0], 0xA1B23C4D, "a nanosecond pcap's magic")
    at, out = 24, []
    while at < len(data):
        sec, ns, length, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        opcode, flags = frame[42], frame[43]
        reth = 16 if opcode in (0x06, 0x0A) else 0
        payload = length - 14 - 20 - 8 - 12 - reth - 4 - (flags >> 4 & 3)
        out.append((sec * 10**9 + ns, frame[26:30], int.from_bytes(frame[47:50], "big"),
                    int.from_bytes(frame[51:54], "big"), opcode, payload))
    return out


def crafted(folder, text, *tables):
    profile, capture = folder.file("p.yaml", text), folder.file("p.pcap")
    done = rocegen("craft", profile, "--testbed", EMULATED, "-o", capture)
    expect_equal(done.returncode, 0, f"status of craft ({done.stderr})")
    return frames(capture)


def flow(keys, hosts="a: {}, b: {}", measure="100ms", seed=1):
    return (f"seed: {seed}\nphases: {{measure: {measure}, drain: 1ms}}\nhosts: {{{hosts}}}\n"
            f"flows:\n  - {{name: x, from: a, to: b, message: 1KiB, path_mtu: 1024, {keys}}}\n")


L1 = 14 + 20 + 8 + 12 + 16 + 1024 + 4 + 4 + 20  # of a WRITE ONLY of 1 KiB
MICROSECOND = f"{L1 * 8 * 1000}kbps"  # one of them a microsecond


def poisson(folder):
    for seed in (1, 2, 3):
        times = [f[0] for f in crafted(folder, flow(f"rate: {MICROSECOND}, pattern: {{type: poisson}}, packets: 30000",
                                                    seed=seed))]
        gaps = [b - a for a, b in zip(times, times[1:])]
        n = len(gaps)
        mean = sum(gaps) / n
        variance = sum((g - mean)**2 for g in gaps) / n
        expect(abs(mean - 1000) < 4 * 1000 / math.sqrt(n), f"mean gap {mean} ns, 1000 wanted")
        expect(abs(variance / 1e6 - 1) < 4 * math.sqrt(8 / n), f"variance {variance / 1e6} of the mean squared")
        classes = collections.Counter(min(24, int(25 * -math.expm1(-g / 1000))) for g in gaps)
        chi = sum((classes[c] - n / 25)**2 / (n / 25) for c in range(25))
        expect(chi < 42.98, f"chi-square {chi:.1f} of 25 classes, under 42.98 in 99 of 100")
        # What comes next does not depend on what came before.
        lag = sum((a - mean) * (b - mean) for a, b in zip(gaps, gaps[1:])) / n / variance
        expect(abs(lag) < 4 / math.sqrt(n), f"correlation of neighbours {lag:.4f}")


def incast(folder):
    text = flow("rate: 50%, pattern: {type: incast, burst: 16KiB, period: 100us, skew: 5us}", "a: {count: 8}, b: {}",
                "5ms")
    starts = collections.defaultdict(dict)
    for ns, source, *_ in crafted(folder, text):
        starts[ns // 100_000].setdefault(source, ns % 100_000)
    expect_equal(len(starts), 50, "bursts")
    expect(all(len(s) == 8 for s in starts.values()), "every source is in every burst")
    offsets = [o for s in starts.values() for o in s.values()]
    expect(max(offsets) <= 5000, f"a source started {max(offsets)} ns after its burst")
    expect(abs(sum(offsets) / len(offsets) - 2500) < 4 * 5000 / math.sqrt(12 * len(offsets)), "mean of the draws")
    skews = [max(s.values()) - min(s.values()) for s in starts.values()]
    report = run_json(folder.file("p.yaml"), "--testbed", EMULATED)["flows"][0]
    planned, departed, arrived = (report[f"burst_skew_{n}_ns"] for n in ("planned", "departure", "arrival"))
    for skew in (planned, departed, arrived):
        expect_equal(skew["count"], 50, "bursts that have a skew")
    expect(abs(planned["max"] - max(skews)) <= 1, f"planned skew {planned['max']}, in the capture {max(skews)}")
    expect(abs(planned["min"] - min(skews)) <= 1, f"planned skew {planned['min']}, in the capture {min(skews)}")
    expect(abs(departed["max"] - planned["max"]) <= 1, "an emulated NIC that is free sends when it is due")
    # All first packets meet at one port: the last waits for at most what seven others sent before it.
    expect(planned["min"] <= arrived["max"] <= planned["max"] + 7 * 16 * L1 * 8 / 100, "skew at arrival")
    expect("Skew of bursts in step" in rocegen("run", folder.file("p.yaml"), "--testbed", EMULATED).stdout,
           "the report prints it")


def microburst(folder):
    text = flow(f"rate: {MICROSECOND}, pattern: {{type: microburst, burst: 20 packets, period: 100us}}", measure="40ms")
    starts = [f[0] for i, f in enumerate(crafted(folder, text)) if i % 20 == 0]
    expect_equal(len(starts), 400, "one burst a period")
    offsets = [s - 100_000 * i for i, s in enumerate(starts)]
    expect(min(offsets) >= 0 and max(offsets) <= 80_000, "each lies within its period")
    expect(abs(sum(offsets) / 400 - 40_000) < 4 * 80_000 / math.sqrt(12 * 400), "and anywhere in it")


def on_off_and_ramp(folder):
    times = [f[0] for f in crafted(folder, flow(f"rate: {MICROSECOND}, pattern: {{type: on-off, on: 30us, off: 70us}}",
                                                measure="1ms"))]
    expect_equal(times, [p * 100_000 + i * 1000 for p in range(10) for i in range(30)], "times of on-off")
    times = [f[0] for f in crafted(folder, flow(f"rate: {MICROSECOND}, pattern: {{type: ramp, from: "
                                                f"{L1 * 8 * 100}kbps, over: 4ms}}", measure="6ms"))]
    for t in (1000, 2000, 3000, 4000, 6000):  # us
        within = min(t, 4000)
        wanted = 0.1 * within + 0.9 * within**2 / 8000 + (t - within)
        sent = sum(ns < t * 1000 for ns in times)
        expect(abs(sent - wanted) <= 0.002 * wanted + 2, f"a ramp sent {sent} by {t} us, its integral is {wanted:.1f}")


def captured_gaps(folder):
    """A capture's times, chosen by a filter, are what another flow's packets leave at."""
    draw = random.Random(5)
    now, times, records = 1_700_000_000_000_000_000, [], b""
    for i in range(2000):
        now += draw.randrange(200, 30_000)
        port = 4791 if i % 3 else 9
        udp = struct.pack(">4H", 49153, port, 8, 0)
        frame = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBH8x", 0x45, 0, 28, 0, 0, 64, 17, 0) + udp + bytes(18)
        records += struct.pack("<IIII", now // 10**9, now % 10**9, len(frame), len(frame)) + frame
        times += [now] if port == 4791 else []
    with gzip.open(folder.file("gaps.pcap.gz"), "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1) + records)
    sent = [f[0] for f in crafted(folder, flow("start: 3us, rate: 100%, pattern: {type: trace, file: gaps.pcap.gz, "
                                               "filter: udp dst port 4791}"))]
    expect_equal([ns - sent[0] for ns in sent], [ns - times[0] for ns in times], "times of the capture's frames")


def sizes(folder):
    with open(f"{SOURCE}/profiles/cdf/storage.csv") as file:
        rows = [r for r in csv.reader(line for line in file if not line.startswith("#"))][1:]
    points = [(int(b), float(c)) for b, c in rows]
    count = 1000
    text = (f"phases: {{measure: 1000s, drain: 0ms}}\nhosts: {{a: {{}}, b: {{}}}}\nflows:\n  - {{from: a, to: b, "
            f"verb: send, path_mtu: 4096, qps: 2, messages: {count}, rate: 100%, "
            f"message_sizes: \"{SOURCE}/profiles/cdf/storage.csv\"}}\n")
    seen, sums = [], collections.Counter()
    for _, _, qp, _, opcode, payload in crafted(folder, text):
        sums[qp] += payload
        if opcode in ONLY | LAST:
            seen.append(sums.pop(qp))
    expect_equal(len(seen), count, "messages")
    expect(not sums, "every message is whole")
    for size, share in points[1:-1]:
        found = sum(s <= size for s in seen) / count
        bound = 4 * math.sqrt(share * (1 - share) / count) + 0.002
        expect(abs(found - share) < bound, f"{found:.3f} of messages up to {size} bytes, {share} wanted")


with Folder() as folder:
    poisson(folder)
    incast(folder)
    microburst(folder)
    on_off_and_ramp(folder)
    sizes(folder)
    captured_gaps(folder)
    for name in ("random-bursts", "storage", "patterns"):
        report = run_json(f"{SOURCE}/profiles/{name}.yaml", "--testbed", EMULATED)
        print(f"{name}: " + ", ".join(f"{f['flow_name']} {f['data_frames_tx']} frames" for f in report["flows"]))
