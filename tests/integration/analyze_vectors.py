"""What rocegen analyze says of public captures (env ROCEGEN_VECTORS) and of those in pcaps/: every ICRC as a checker of its own
says, every count, opcode, byte and time as tshark says, and what was done to the traffic is what is reported."""
import collections
import glob
import os
import shutil
import subprocess

import _icrc_check
from _captures import analyze, equal, none_but
from _lab import SOURCE, expect, expect_equal, skip

VECTORS = os.environ.get("ROCEGEN_VECTORS", "")
files = sorted(glob.glob(os.path.join(SOURCE, "pcaps", "*", "*.pcap*")))
files += sorted(glob.glob(os.path.join(VECTORS, "pcap", "*", "*.pcap*")) +
                glob.glob(os.path.join(VECTORS, "rxe", "*.pcap"))) if VECTORS else []
DAMAGED = ("o8b.pcap", "ppp_microsecs_big_endian.pcap")  # cut short; of a link type that is not read
NO_ROCE = ("/format/", "mac_control_truncated")
# tshark's own view differs: it does not read what is cut short, calls native InfiniBand's fields otherwise
NOT_FOR_TSHARK = ("o8a.pcap", "o8b.pcap")
reports = {}
for path in files:
    status = 1 if path.endswith(DAMAGED) else 4 if any(part in path for part in NO_ROCE) else 0
    reports[path] = analyze(path, status=status)


def named(name):
    found = [path for path in files if path.endswith("/" + name)]
    return reports[found[0]] if found else None


# The ICRC, by _icrc_check.py
judged = 0
for path, report in reports.items():
    if any(part in path for part in ("/infiniband/", "o22_", "o10.", "scapy", "/format/")):
        continue  # not Ethernet, a tunnel, or RoCEv1
    verdicts = collections.Counter(_icrc_check.verdict(frame) for frame, _ in _icrc_check.frames(path))
    judged += verdicts["good"] + verdicts["bad"]
    if "o3.pcap" in path or "o7.pcap" in path or "o8" in path:
        continue  # malformed on purpose: what was checked is in analyze_cases.py
    equal(report["roce"]["icrc"], path, good=verdicts["good"], bad=verdicts["bad"])

# Frames, bytes, opcodes, times, by tshark
if shutil.which("tshark"):
    for path, report in reports.items():
        if path.endswith(NOT_FOR_TSHARK):
            continue
        lines = subprocess.run(["tshark", "-r", path, "--disable-protocol", "tftp", "-T", "fields", "-e", "frame.len", "-e",
                                "frame.time_epoch", "-e", "infiniband.bth.opcode"], capture_output=True, text=True,
                               check=True).stdout.split("\n")[:-1]
        lengths, times, opcodes = zip(*(line.split("\t") for line in lines))
        whole = [t.split(".") for t in times]
        nanoseconds = [int(s) * 10**9 + int(part.ljust(9, "0")) for s, part in whole]
        capture = report["capture"]
        erf_headers = 16 * len(lines) if "/infiniband/" in path else 0  # which tshark leaves out
        equal(capture, f"{path} by tshark", records=len(lines), wire_bytes=sum(map(int, lengths)) + erf_headers)
        issues = report["files"][0]["issues"]
        if not {"time out of range", "fraction of a second or more"} & set(issues):  # tshark wraps, or 64 bits of nanoseconds do not reach
            equal(capture, f"{path} by tshark", first_ns=min(nanoseconds), last_ns=max(nanoseconds))
        seen = collections.Counter(int(o) for o in opcodes if o)
        ours = collections.Counter({o["opcode"]: o["frames"] for o in report["roce"]["opcodes"]})
        if not report["malformed"]:  # tshark shows those of malformed frames too
            expect_equal(ours, seen, f"{path} by tshark: opcodes")
else:
    print("tshark is not installed: its counts were not compared")

if not VECTORS:
    print("ROCEGEN_VECTORS is not set: only the captures in pcaps/ were read")
    raise SystemExit(0)
expect(judged > 1_500, f"only {judged} ICRCs were judged")

# What INDEX.md says of each
for name, good, bad, unchecked in (("huawei_rc_send_imm.pcap", 105, 0, 0), ("huawei_snaplen64.pcap", 37, 0, 68),
                                   ("huawei_snaplen96.pcap", 38, 0, 67), ("huawei_snaplen128.pcap", 38, 0, 67),
                                   ("huawei_usec_be.pcap", 105, 0, 0), ("huawei_usec.pcapng", 105, 0, 0),
                                   ("huawei_ce_ttl_fecn_becn_icrc_still_valid.pcap", 105, 0, 0),
                                   ("huawei_single_bit_mutants_icrc_bad.pcap", 0, 14, 0),
                                   ("connectx4_cnp_and_rocev1_from_scapy_uts.pcap", 3, 0, 0),
                                   ("rxe_rping_10iter.pcapng", 125, 0, 0), ("ipv6_udpcsum0.pcap", 18, 0, 0),
                                   ("ipv6_udpcsum_full.pcap", 18, 0, 0), ("infiniband_native_erf.pcap", 43, 0, 0),
                                   ("rc-corrupt.pcap", 48, 1, 0), ("rc-loss-resp.pcap", 238, 0, 0)):
    equal(named(name)["roce"]["icrc"], name, good=good, bad=bad, unchecked=unchecked)
expect_equal(named("huawei_ce_ttl_fecn_becn_icrc_still_valid.pcap")["roce"]["ecn"]["ce"], 26, "CE marks")
for one, other in (("huawei_usec_be.pcap", "huawei_rc_send_imm.pcap"), ("huawei_usec.pcapng", "huawei_rc_send_imm.pcap"),
                   ("rxe_rping_1iter_nsec_be.pcap", "rxe_rping_1iter.pcapng"),
                   ("rxe_rping_1iter_nsec_le.pcap", "rxe_rping_1iter.pcapng")):
    for part in ("capture", "frames", "roce", "flows"):
        expect_equal(named(one)[part], named(other)[part], f"{one} against {other}: {part}")
mac_control = named("mac_control_from_public_tests.pcap")["pause"]
equal(mac_control, "MAC control", pfc_frames=4, global_pause_frames=3, no_class=1)
expect_equal(named("mac_control_truncated.pcap")["malformed"], {"too short for a pause frame": 5}, "cut pause frames")

# The one frame lost, duplicated or swapped
lost = named("rxe_5000_one_write_middle_lost.pcap")["roce"]["requests"]
none_but(lost, "one removed", capture_gap=1)  # its receiver acknowledged it: only the capture lacks it
expect_equal([f["never_seen"] for f in named("rxe_5000_one_write_middle_lost.pcap")["flows"] if f["never_seen"]],
             [[{"psn": 12976033, "psns": 1, "fate": "capture_gap"}]], "which one")
none_but(named("rxe_5000_one_write_middle_duplicated.pcap")["roce"]["requests"], "one twice", received_again=1, duplicated=1)
none_but(named("rxe_5000_two_writes_swapped.pcap")["roce"]["requests"], "two swapped", reordered=1)

# Connections of RDMA-CM: a session that begins anew is no loss, not even where two share addresses and QP
for name, restarts in (("ipv6_udpcsum0.pcap", 1), ("ipv6_udpcsum_full.pcap", 1), ("ipv6_udpcsum0_tsresol9.pcapng", 1),
                       ("rxe_client_server_two_conns.pcapng", 1), ("cm-rping.pcap", 0), ("cm-rping-ipv6.pcap", 0)):
    none_but(named(name)["roce"]["requests"], name, restarts=restarts)
    none_but(named(name)["roce"]["read_responses"], name)
# A faulty requester that uses a PSN twice
for name in ("rxe_vs_userspace_dup_psn.pcapng", "rxe_vs_userspace_stall2400.pcapng"):
    none_but(named(name)["roce"]["requests"], name, received_again=1, retransmitted=1, rewinds=1, timeouts=1)

# rxe: what netem did (each counted by hand from the frames)
none_but(named("rc-dup.pcap")["roce"]["requests"], "rc-dup", received_again=5, duplicated=5)
none_but(named("rc-reorder.pcap")["roce"]["requests"], "rc-reorder", reordered=7, received_again=8, retransmitted=8, rewinds=1)
none_but(named("rc-corrupt.pcap")["roce"]["requests"], "rc-corrupt", corrupt=1, lost_first_pass=1, received_again=1,
         retransmitted=1, rewinds=1)
# 0x11e and 0x11f are not in the file, yet the next message began behind them at once: the capture missed them
none_but(named("rc-loss-req.pcap")["roce"]["requests"], "rc-loss-req", lost_first_pass=5, lost_in_resend=2, capture_gap=2,
         received_again=46, retransmitted=46, rewinds=4)
expect_equal(named("rc-loss-req.pcap")["roce"]["nak_sequence"], 4, "rc-loss-req: NAK")
none_but(named("rc-loss-resp.pcap")["roce"]["requests"], "rc-loss-resp: READs that timed out", received_again=8,
         retransmitted=8, rewinds=8, timeouts=8)
none_but(named("rc-loss-resp.pcap")["roce"]["read_responses"], "rc-loss-resp", lost_first_pass=7, lost_in_resend=11,
         received_again=121, retransmitted=121, rewinds=8)
none_but(named("rc-nak-rnr.pcap")["roce"]["requests"], "rc-nak-rnr", received_again=2, retransmitted=2, rewinds=2)
equal(named("rc-nak-rnr.pcap")["roce"], "rc-nak-rnr", rnr_nak=3, nak_sequence=0, nak_other=0)
equal(named("rc-nak-access.pcap")["roce"], "rc-nak-access", rnr_nak=0, nak_sequence=0, nak_other=1)

# Nothing else lost or doubled a frame
INDUCED = ("rc-dup", "rc-reorder", "rc-corrupt", "rc-loss", "rc-nak", "rxe_vs_userspace", "rxe_5000", "mutants", "ipv6_udpcsum",
           "two_conns")
for path, report in reports.items():
    if VECTORS in path and not any(part in path for part in INDUCED):
        none_but(report["roce"]["requests"], path)
        none_but(report["roce"]["read_responses"], path)
