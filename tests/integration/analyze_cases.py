"""rocegen analyze gives the stated answers for the captures in pcaps/cases (what each one holds: pcaps/INDEX.md), and tshark's
counts for those that it reads whole."""
import json
import os
import shutil
import subprocess

from _captures import T0, analyze, equal, flow
from _lab import ROCEGEN, SOURCE, Folder, expect, expect_equal, rocegen

CASES = os.path.join(SOURCE, "pcaps", "cases")
RXE = os.path.join(SOURCE, "pcaps", "rxe")
def case(name, *options, **wanted):
    return analyze(os.path.join(CASES, name), *options, **wanted)


# O1: the ICRC
o1 = case("o1.pcap")
equal(o1["roce"]["icrc"], "O1", good=5, bad=2, unchecked=0)
equal(o1["roce"], "O1", cnp=1, frames=7)

# O3: padding
o3 = case("o3.pcap")
equal(o3["frames"], "O3", roce=2, malformed=2)
equal(o3["roce"], "O3", payload_bytes=61 + 64)
equal(o3["roce"]["icrc"], "O3", good=2, bad=0)
expect_equal(sum(o3["malformed"].values()), 2, "O3: reasons")

# O4: IPv6
o4 = case("o4.pcap")
equal(o4["roce"]["icrc"], "O4", good=2, bad=0)
expect_equal(o4["roce"]["ecn"]["ce"], 1, "O4: CE")
expect_equal(flow(o4, 0x11)["dscp"], {"26": 2}, "O4: DSCP")

# O5: tags
o5 = case("o5.pcap")
equal(o5["frames"], "O5", roce=4, malformed=0)
expect_equal(o5["roce"]["icrc"]["good"], 4, "O5: ICRC")
equal(flow(o5, 0x11)["psn"], "O5", lost_first_pass=0, unique=4)
tags = [[(tag["pcp"], tag["vid"]) for tag in (v["outer"], v["inner"]) if tag]
        for v in flow(o5, 0x11)["vlans"] for _ in range(v["frames"])]
expect_equal(tags, [[(3, 0)], [(3, 100)], [(5, 200), (3, 100)], [(5, 200), (3, 100)]], "O5: tags")

# O7: cut frames
o7 = case("o7.pcap")
equal(o7["capture"], "O7", records=6, wire_bytes=6492, captured_bytes=360)
equal(o7["roce"]["icrc"], "O7", unchecked=6, bad=0, good=0)
equal(flow(o7, 0x11)["psn"], "O7", lost_first_pass=1, missing_at_end=1)
expect_equal(o7["malformed"], {"too short for BTH": 1}, "O7: the last one")

# O8: damaged files
o8a = case("o8a.pcap")
expect_equal(o8a["frames"]["roce"], 4, "O8a")
equal(flow(o8a, 0x11)["psn"], "O8a", lost_first_pass=0)
expect_equal(o8a["capture"]["empty"], 1, "O8a: empty")
expect_equal(o8a["files"][0]["issues"]["captured length over packet length"]["count"], 1, "O8a")
o8b = case("o8b.pcap", status=1, stderr="file cut short")
expect_equal(o8b["frames"]["roce"], 5, "O8b")
expect("file cut short" in o8b["files"][0]["end_reason"], "O8b: the reason in the report")
expect("file cut short" in o8b["remarks"][0], "O8b: the report's first line")

# O9: nanoseconds, both byte orders
for name in ("o9le.pcap", "o9be.pcap"):
    equal(case(name)["capture"], name, first_ns=1_555_486_009_955_677_809,
          last_ns=1_555_486_009_955_678_146, gap_ns_min=1, gap_ns_max=336)

# O10: two interfaces of two link types; merging the file with itself doubles it
o10 = case("o10.pcapng")
expect_equal(o10["frames"]["roce"], 4, "O10")
equal(flow(o10, 0x11), "O10", first_ns=T0, last_ns=T0 + 12_000)
equal(flow(o10, 0x11)["psn"], "O10", lost_first_pass=0)
equal(o10["capture"], "O10", gap_ns_min=2_999, gap_ns_max=5_000)
twice = analyze(*[os.path.join(CASES, "o10.pcapng")] * 2)
requests = [f for f in twice["flows"] if f["space"] == "request"]
expect_equal([f["psn"]["unique"] for f in requests], [4, 4], "O10 twice: two points")
equal(twice["roce"]["requests"], "O10 twice", unique=4, duplicated=0, lost_first_pass=0)

# O13: pause frames
o13 = case("o13.pcap", stderr="no RoCE in 7 packets")
equal(o13["pause"], "O13", pfc_frames=5, no_class=1, global_pause_frames=1)
equal(o13["frames"], "O13", malformed=1, roce=0)
by_priority = {}
for source in o13["pause"]["sources"]:
    for priority, counts in source["priorities"].items():
        xoff, xon = by_priority.get(priority, (0, 0))
        by_priority[priority] = (xoff + counts["xoff"], xon + counts["xon"])
        expect_equal(counts["paused_ns"], None, "O13: paused time without a rate")
expect_equal(by_priority, {"3": (3, 1), "4": (0, 1)}, "O13: XOFF and XON")

# O14: paused time
for rate, three, intervals, four in (("100Gbps", 405_120, 2, 20_971.52),
                                     ("400Gbps", 169_049.6, 3, 5_242.88)):
    priorities = case("o14.pcap", "--link-rate", rate)["pause"]["sources"][0]["priorities"]
    equal(priorities["3"], f"O14 at {rate}", paused_ns=three, intervals=intervals)
    equal(priorities["4"], f"O14 at {rate}", paused_ns=four, intervals=1)

# O16: go-back-N, and a gap of the capture
o16 = case("o16.pcap")
equal(flow(o16, 0x11)["psn"], "O16", data_frames=13, unique=10, lost_first_pass=1,
      missing_at_end=0, received_again=3, capture_gap=0, stall_ns=4_000)
equal(o16["roce"], "O16", nak_sequence=1, nak_other=0, acks=1)
o16b = case("o16b.pcap")
equal(flow(o16b, 0x11)["psn"], "O16b", lost_first_pass=0, missing_at_end=0, capture_gap=1)

# O17: the wrap
o17 = case("o17.pcap")
for qp, lost, duplicated in ((0x11, 1, 0), (0x12, 0, 0), (0x13, 0, 1)):
    equal(flow(o17, qp)["psn"], f"O17 QP {qp:#x}", lost_first_pass=lost, duplicated=duplicated)

# O22: encapsulations
for name in ("vxlan", "sll", "sll2", "mpls"):
    report = case(f"o22_{name}.pcap")
    expect_equal(report["frames"]["roce"], 1, name)
    expect_equal(report["roce"]["icrc"]["good"], 1, f"{name}: ICRC")
    expect_equal(report["roce"]["ecn"]["ce"], 1, f"{name}: CE")
    equal(flow(report, 0x11), name, source="10.0.0.1", destination="10.0.0.2", psn_first=100)
vxlan = case("o22_vxlan.pcap")["tunnels"][0]
equal(vxlan, "VXLAN", kind="VXLAN", frames=1, ids={"42": 1})
equal(vxlan["outer_ecn"], "VXLAN", not_ect=1, ce=0)

# D11: what filters tell apart adds up
parts = [case("o17.pcap", "--filter", f) for f in ("udp[15] = 0x12", "not udp[15] = 0x12")]
for part in parts:
    expect_equal(part["capture"]["records"] + part["capture"]["filtered_out"], 12, "filter")
expect_equal(sum(p["roce"]["frames"] for p in parts), 12, "the parts")
expect_equal(rocegen("analyze", "--filter", "no such", os.path.join(CASES, "o1.pcap")).returncode, 2,
             "a filter that is none")

# What is no capture, and one without RoCE
with Folder() as folder:
    zeros = folder.file("zeros")
    with open(zeros, "wb") as out:
        out.write(bytes(24))
    for path in (zeros, folder.file("empty", ""), folder.file("text", "hello\n" * 9),
                 folder.file("missing")):
        done = rocegen("analyze", path)
        expect_equal(done.returncode, 2, f"status of {path}")
        expect(done.stderr.strip() and not done.stdout, f"{path}: a sentence on stderr alone")
    header = folder.file("header.pcap")
    with open(os.path.join(CASES, "o16.pcap"), "rb") as whole, open(header, "wb") as out:
        out.write(whole.read(24))
    analyze(header, status=1, stderr="no packets")
    equal(case("o16.pcap", "--filter", "arp", status=4, stderr="no frame matches")["roce"],
          "a filter that leaves nothing", frames=0)

# Standard input
with open(os.path.join(CASES, "o16.pcap"), "rb") as file:
    piped = subprocess.run([ROCEGEN, "analyze", "--json", "-"], stdin=file, capture_output=True,
                           check=True)
equal(json.loads(piped.stdout)["roce"], "standard input", frames=15)

# The text names the same
text = rocegen("analyze", os.path.join(CASES, "o16.pcap")).stdout
for words in ("Lost on first pass", "10.0.0.1 > 10.0.0.2 QP 0x11", "NAK for a sequence error 1"):
    expect(words in text, f"no {words!r} in {text!r}")

# Linux's own frames: every ICRC is right, nothing is lost
for name in sorted(os.listdir(RXE)):
    if not name.endswith(".pcap"):
        continue
    report = analyze(os.path.join(RXE, name))
    equal(report["roce"]["icrc"], name, bad=0, unchecked=0)
    equal(report["roce"]["requests"], name, lost_first_pass=0, restarts=0)

# tshark as judge of frames, bytes and times
if shutil.which("tshark"):
    paths = [os.path.join(CASES, n) for n in ("o1.pcap", "o5.pcap", "o10.pcapng", "o16.pcap")]
    paths.append(os.path.join(RXE, "rc-send.pcap"))
    for path in paths:
        lines = subprocess.run(["tshark", "-r", path, "-T", "fields", "-e", "frame.len", "-e",
                                "frame.time_epoch"], capture_output=True, text=True,
                               check=True).stdout.split("\n")[:-1]
        lengths, times = zip(*(line.split("\t") for line in lines))
        nanoseconds = [int(t.replace(".", "")) for t in times]
        equal(analyze(path)["capture"], f"{path} by tshark", records=len(lines),
              wire_bytes=sum(map(int, lengths)), first_ns=min(nanoseconds),
              last_ns=max(nanoseconds))
else:
    print("tshark is not installed: its counts were not compared")
