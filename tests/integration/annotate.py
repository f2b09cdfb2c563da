"""rocegen analyze --annotate copies a capture whole and puts the timeline's sentences on the frames that they are about: tshark
shows them as frame.comment, and all else as it was."""
import os
import subprocess

from _lab import ROCEGEN, SOURCE, Folder, expect, expect_equal, need, rocegen

need("tshark")
CASES = os.path.join(SOURCE, "pcaps", "cases")
FIELDS = ["frame.time_epoch", "frame.len", "frame.cap_len", "ip.src", "infiniband.bth.destqp", "infiniband.bth.psn"]


def tshark(path, fields, *more):
    options = [part for field in fields for part in ("-e", field)]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *options, *more], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


with Folder() as folder:
    out = folder.file("out.pcapng")
    for name in ("o16.pcap", "o10.pcapng", "o17.pcap"):
        path = os.path.join(CASES, name)
        expect_equal(rocegen("analyze", path, "--annotate", out).returncode, 0, f"status of {name}")
        expect_equal(tshark(out, FIELDS), tshark(path, FIELDS), f"{name}: all frames as they were")
    # Go-back-N: a gap, its NAK, the retransmission
    path = os.path.join(CASES, "o16.pcap")
    rocegen("analyze", path, "--annotate", out)
    comments = {int(line.split("\t")[0]): line.split("\t")[1]
                for line in tshark(out, ["frame.number", "frame.comment"]) if line.split("\t")[1]}
    expect(0 < len(comments) < 15, f"some frames have comments, not all: {comments}")
    naks = [int(n) for n in tshark(path, ["frame.number"], "-Y", "infiniband.aeth.syndrome == 0x60")]
    expect(naks and all("NAK" in comments.get(n, "") for n in naks), f"NAKs {naks} are named: {comments}")
    # A file is not destroyed by its copy; standard input has no second reading
    for arguments, words in (([path, "--annotate", path], "read"), (["-", "--annotate", out], "--annotate")):
        with open(path, "rb") as file:
            done = subprocess.run([ROCEGEN, "analyze", *arguments], stdin=file, capture_output=True, text=True)
        expect_equal(done.returncode, 2, f"status of {arguments}: {done.stderr}")
        expect(words in done.stderr, f"{arguments}: {done.stderr!r}")
    # A copy of the copy keeps the comments
    again = folder.file("again.pcapng")
    rocegen("analyze", out, "--extract", again)
    expect_equal(tshark(again, ["frame.comment"]), tshark(out, ["frame.comment"]), "comments of a copy")
