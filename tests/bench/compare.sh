#!/bin/bash
# rocegen and its peers in turn, several rounds each, on one core: medians and ratios as a table and as JSON.
#
# usage: tests/bench/compare.sh [--rounds N] [--seconds S] [--out DIR] [part...]
#   parts (all, without any): send receive flowgen pacing capture
#   send     dpdk-testpmd txonly (multi-flow and plain)   CPU cost on net_null, not a NIC's rate
#   flowgen  dpdk-testpmd flowgen                         the same
#   receive  dpdk-testpmd rxonly                          what a core sustains over net_ring, not a NIC's rate
#   pacing   trafgen, tcpreplay                           gaps on a veth pair, stamped by one receiver (root)
#   capture  tshark, tcpdump                              processor time to read one capture
#
# ROCEGEN: the command; build/release/rocegen otherwise. RING_SENDER: libring_sender.so of a build with tests.
# A part whose peer is not installed says so and is left out. Exit status 1 when a part failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export ROCEGEN=${ROCEGEN:-$here/../../build/release/rocegen}
rounds=5 seconds=2 out=
parts=()
while [ $# -gt 0 ]; do
    case $1 in
        --rounds) rounds=$2; shift 2 ;;
        --seconds) seconds=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        -h | --help) sed -n '2,14p' "$0" | cut -c3-; exit 0 ;;
        -*) echo "compare.sh: $1 is no option; see --help" >&2; exit 2 ;;
        *) parts+=("$1"); shift ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(send flowgen receive pacing capture)
[ -x "$ROCEGEN" ] || { echo "compare.sh: no $ROCEGEN; build it with cmake --preset release, or set ROCEGEN" >&2; exit 2; }
[ -n "$out" ] || out=$(mktemp -d -t rocegen_compare.XXXXXX)
mkdir -p "$out" || exit 2

failed=0
run() { # part, then the command
    local part=$1 status
    shift
    echo
    echo "== $part"
    "$@"
    status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || { echo "$part: exit status $status"; failed=1; }
}
for part in "${parts[@]}"; do
    case $part in
        send) run send python3 "$here/send_path.py" --rounds "$rounds" --seconds "$seconds" --json "$out/send.json" ;;
        flowgen) run flowgen python3 "$here/send_path.py" --peer flowgen --rounds "$rounds" --seconds "$seconds" \
            --qps 1000 --copy 0 --json "$out/flowgen.json" ;;
        receive) run receive python3 "$here/receive_path.py" --rounds "$rounds" --seconds "$seconds" --json "$out/receive.json" ;;
        pacing) run pacing python3 "$here/pacing.py" --rounds "$rounds" --seconds "$seconds" --json "$out/pacing.json" ;;
        capture) run capture python3 "$here/analyze_speed.py" --rounds "$rounds" --json "$out/capture.json" ;;
        *) echo "compare.sh: $part is no part; see --help" >&2; exit 2 ;;
    esac
done

python3 - "$out" <<'PYTHON' || failed=1
import json, os, platform, sys, time

out = sys.argv[1]
cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
all_parts = {"machine": {"cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release()},
             "when_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "rocegen": os.environ["ROCEGEN"], "parts": {}}
for part in ("send", "flowgen", "receive", "pacing", "capture"):
    if os.path.exists(f"{out}/{part}.json"):
        all_parts["parts"][part] = json.load(open(f"{out}/{part}.json"))
json.dump(all_parts, open(f"{out}/compare.json", "w"), indent=2)
parts = all_parts["parts"]
print(f"\n{cpu}, {os.cpu_count()} cores, Linux {platform.release()}; medians")
print(f"{'what is measured':58} {'rocegen':>10} {'peer':>10} {'ratio':>6}")
def row(what, ours, theirs, ratio):
    print(f"{what:58} {ours:>10} {theirs:>10} {ratio:6.2f}")
for part, peer in (("send", "multi-flow"), ("flowgen", "flowgen")):
    for r in parts.get(part, {}).get("rows", []):
        if "ratio" in r:
            row(f"CPU cost on net_null, {r['frame_bytes']} B, copy={r['copy']}, {r['qps']} QPs / {peer}",
                f"{r['rocegen_ns']:.1f} ns", f"{r['testpmd_ns']:.1f} ns", r["ratio"])
for r in parts.get("receive", {}).get("rows", []):
    row(f"receive over net_ring, payload {r['payload_bytes']} B / rxonly", f"{r['none_pps'] / 1e6:.1f} M/s",
        f"{r['rxonly_pps'] / 1e6:.1f} M/s", r["ratio"])
medians = parts.get("pacing", {}).get("medians", {})
for peer in ("trafgen", "tcpreplay"):
    if peer in medians and "rocegen" in medians:
        ours, theirs = medians["rocegen"]["p50_ns"], medians[peer]["p50_ns"]
        row(f"veth, median error of a gap / {peer}", f"{ours:.0f} ns", f"{theirs:.0f} ns", theirs / max(ours, 1))
capture = parts.get("capture", {})
for peer in ("tshark", "tcpdump"):
    if peer in capture:
        row(f"processor time to read a capture, every ICRC checked / {peer}", f"{capture['rocegen']['cpu_seconds']:.2f} s",
            f"{capture[peer]['cpu_seconds']:.2f} s", capture[f"{peer}_over_rocegen_cpu"])
print(f"ratio: how many times as good rocegen is. All of it: {out}/compare.json")
PYTHON
exit $failed
