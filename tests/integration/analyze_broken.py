"""rocegen analyze ends with a sentence and the documented exit status for whatever a file holds: nothing, zeros, text, a
capture cut at any byte, lengths of 4 GB, a million interfaces. It neither crashes nor takes memory that a file asks for."""
import json
import os
import struct
import subprocess

from _lab import ROCEGEN, SOURCE, Folder, expect, expect_equal

CASES = os.path.join(SOURCE, "pcaps", "cases")
MOST_BYTES = 300 << 20  # of address space: what a file asks for cannot be had
ANALYZED, DAMAGED, NO_CAPTURE, NO_ROCE = 0, 1, 2, 4


def analyze(path, most_bytes=None):
    command = [ROCEGEN, "analyze", "--json", path]
    if most_bytes:
        command = ["prlimit", f"--data={most_bytes}", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    expect(done.returncode >= 0, f"{path}: ended by signal {-done.returncode}")
    expect("Sanitizer" not in done.stderr, f"{path}: {done.stderr}")
    if done.returncode == NO_CAPTURE:
        expect(len(done.stderr.split()) > 4 and not done.stdout, f"{path}: a sentence on stderr alone, not {done.stderr!r}")
        return done.returncode, done.stderr, None
    report = json.loads(done.stdout)
    if done.returncode != ANALYZED:
        expect(len(done.stderr.split()) > 3, f"{path}: a sentence, not {done.stderr!r}")
    return done.returncode, done.stderr, report


def block(kind, body, length=None):
    whole = len(body) + 12
    length = whole if length is None else length
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


SECTION = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
INTERFACE = block(1, struct.pack("<HHI", 1, 0, 0))
PCAP = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
FRAME = bytes(60)


def enhanced(interface, frame, captured=None):
    captured = len(frame) if captured is None else captured
    return block(6, struct.pack("<IIIII", interface, 0, 0, captured, len(frame)) + frame + bytes(-len(frame) % 4))


with Folder() as folder:
    path = folder.file("file")

    def made(data, *wanted, words=""):
        with open(path, "wb") as out:
            out.write(data)
        status, text, report = analyze(path, MOST_BYTES)
        expect(status in wanted, f"{words!r}: status {status} is none of {wanted}: {text}")
        expect(words in text, f"no {words!r} in {text!r}")
        return report

    made(b"", NO_CAPTURE, words="empty")
    made(bytes(4096), NO_CAPTURE, words="zero")
    made(b"Frames of Tuesday\n" * 100, NO_CAPTURE, words="text")
    made(b"\xa8\xff\x80", NO_CAPTURE, words="a8 ff 80")
    made(b"\x1f\x8b" + os.urandom(100), NO_CAPTURE)
    made(b"\x28\xb5\x2f\xfd" + os.urandom(100), NO_CAPTURE)

    # Lengths that no file holds
    for length in (0xffffffff, 0x80000000, (16 << 20) + 1):
        made(PCAP + struct.pack("<IIII", 0, 0, length, length) + FRAME, DAMAGED, words="over the limit")
    report = made(PCAP + struct.pack("<IIII", 0, 0, 60, 0xffffffff) + FRAME, NO_ROCE)
    expect_equal(report["capture"]["wire_bytes"], 0xffffffff, "length on the wire")
    for length in (0xfffffffc, 0x80000000):
        made(SECTION + INTERFACE + block(6, FRAME, length), DAMAGED, words="over the limit")
        made(SECTION + INTERFACE + block(0xbad, FRAME, length), DAMAGED, words="are there")
    made(SECTION + INTERFACE + enhanced(0, FRAME, 0xffffffff), DAMAGED, NO_ROCE)
    made(SECTION + INTERFACE + block(3, struct.pack("<I", 0xffffffff) + FRAME), DAMAGED, NO_ROCE)
    made(SECTION + block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HH", 2, 0xffff)), DAMAGED)

    # A million interfaces, and a packet of the last
    many = SECTION + INTERFACE * 1_000_000 + enhanced(0, FRAME) + enhanced(999_999, FRAME)
    report = made(many, DAMAGED, words="interface")
    expect_equal(report["capture"]["records"], 2, "a million interfaces: records")
    # Half a million sections
    report = made((SECTION + INTERFACE) * 500_000 + enhanced(0, FRAME), DAMAGED, NO_ROCE)
    expect_equal(report["capture"]["records"], 1, "many sections: records")

    # Cut anywhere: what stands in front of the cut is read
    for name in ("o1.pcap", "o10.pcapng", "o9be.pcap"):
        with open(os.path.join(CASES, name), "rb") as file:
            whole = file.read()
        last = -1
        for size in [*range(min(len(whole), 240)), *range(240, len(whole), 13)]:
            with open(path, "wb") as out:
                out.write(whole[:size])
            status, text, report = analyze(path)
            expect(status in (ANALYZED, DAMAGED, NO_CAPTURE, NO_ROCE), f"{name} cut at {size}: status {status}")
            if report is None:
                expect(last < 0, f"{name} cut at {size}: no capture, yet a shorter one was")
                continue
            records = report["capture"]["records"]
            expect(records >= last, f"{name} cut at {size}: {records} records, {last} of a shorter file")
            last = records
            cut = report["files"][0]["end_reason"]
            expect(not cut or status == DAMAGED, f"{name} cut at {size}: {cut!r} and status {status}")
    # Packed files that end early
    for kind in (["gzip", "-c"], ["zstd", "-qc"]):
        packed = subprocess.run([*kind, os.path.join(CASES, "o16.pcap")], capture_output=True, check=True).stdout
        for size in range(2, len(packed), 9):
            with open(path, "wb") as out:
                out.write(packed[:size])
            status, text, report = analyze(path)
            expect(status in (DAMAGED, NO_CAPTURE), f"{kind[0]} cut at {size} of {len(packed)}: status {status}: {text}")
