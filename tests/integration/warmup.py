"""A run in real time with a warm-up: what departed in it counts nowhere, though it is on the wire. The run's own capture
says which frames of each stream came before, with tags and without; nothing is lost or foreign at the seam."""
import struct

from _lab import SOURCE, Folder, expect, expect_equal, run_json

WARMUP, MEASURE = 300e6, 500e6  # ns


def sent(path):
    """(nanoseconds, destination QP, PSN) of the frames that port p1 sent, from the run's pcapng file."""
    data, at, ports = open(path, "rb").read(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 1:
            ports.append(b"p1" in data[at:at + length])
        elif kind == 6:
            port, high, low, kept = struct.unpack_from("<4I", data, at + 8)
            frame, options = data[at + 28:at + 28 + kept], at + 28 + (kept + 3) // 4 * 4
            outbound = struct.unpack_from("<HHI", data, options)[2] & 3 == 2  # the first option is the flags
            if ports[port] and outbound and frame[36:38] == struct.pack(">H", 4791):
                yield (high << 32) + low, int.from_bytes(frame[47:50], "big"), int.from_bytes(frame[51:54], "big")
        at += length


with Folder() as folder:
    profile = folder.file("p.yaml", """name: warmup
phases: {warmup: 300ms, measure: 500ms, drain: 50ms}
classes: {rdma: {dscp: 26, ecn: ect0}}
hosts: {a: {}, b: {}}
flows:
  - {name: tagged, from: a, to: b, message: 4KiB, qps: 3, class: rdma, rate: 10kpps}
  - {name: untagged, from: a, to: b, message: 256B, qps: 2, class: rdma, rate: 5kpps, tag: false}
expect:
  - run.lost == 0
  - ports.p2.foreign_rx == 0
  - run.capture_lost == 0 needs capture
""")
    own = folder.file("own.pcapng")
    report = run_json(profile, "--testbed", f"{SOURCE}/profiles/testbeds/loopback.yaml", "--capture", own)
    expect_equal((report["run"]["warmup_ns"], report["run"]["measure_ns"]), (WARMUP, MEASURE), "phases")
    streams = {}
    for when, qp, psn in sent(own):
        streams.setdefault(qp, []).append((psn, when))
    for stream in report["streams"]:
        name, frames = f"stream {stream['stream']}", streams[stream["dest_qp"]]
        psns = [psn for psn, _ in frames]
        first = psns.index(stream["first_psn"])
        expect(first > 0, f"{name} sent nothing in the warm-up")
        expect_equal(len(psns) - first, stream["data_frames_tx"], f"{name}: frames from its first PSN on")
        expect_equal(psns[-1], stream["last_psn"], f"{name}: last PSN")
        expect_equal((stream["data_frames_rx"], stream["lost"]), (stream["data_frames_tx"], 0), f"{name}: received, lost")
        for kind in ("reordered", "duplicated", "too_old"):
            expect_equal(stream["by_psn"][kind], 0, f"{name}: {kind}")
        expect(stream["first_timestamp_ns"] >= WARMUP, f"{name} counts a frame of {stream['first_timestamp_ns']} ns")
        # A stream's first frame is due within a few packets' time of time 0.
        passed = frames[first][1] - frames[0][1]
        expect(WARMUP - 5e6 < passed, f"{name} counts from {passed} ns on")
    counted = sum(stream["data_frames_tx"] for stream in report["streams"])
    everything = sum(len(frames) for frames in streams.values())
    share = counted / everything
    expect(0.4 < share < 0.8 or report["generator"]["slips"] > 0, f"{counted} of {everything} frames counted, of {MEASURE / (WARMUP + MEASURE):.2f}")
    print(f"{counted} of {everything} frames count, from each stream's first PSN behind the warm-up on; none lost or foreign")
