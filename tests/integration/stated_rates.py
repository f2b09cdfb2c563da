"""Rates that data sheets state, as `check` prints them; values that must be refused with their key; and a run on virtual
devices, alone and twice at once: bursts in step of four flows in a pcap, in order, counted by capture analysis."""
import json
import subprocess

import _icrc_check
from _lab import ROCEGEN, Folder, expect, expect_equal, expect_held, profile, rocegen, run_json
from _veth import Frame, packets

RATES = [  # frame, link, what `check` must say
    ({"verb": "send", "message": "0B", "rate": "100%"}, "10Gbps", ["14,880,952.38 pps"]),
    ({"verb": "send", "message": "64B", "rate": "100%"}, "100Gbps",
     ["85,616,438.36 pps", "L2 86.301 Gb/s with FCS, 83.562 without"]),
    ({"message": "64KiB", "rate": "100%"}, "100Gbps",  # its MIDDLEs
     ["11,301,989.15 pps", "payload 92.586 Gb/s"]),
]
REFUSED = [({"rate": "110%"}, "rate"), ({"dest_qp": "16777216"}, "dest_qp"), ({"rate_gpbs": "5"}, "rate_gpbs"),
           ({"pattern": "{type: burst, burst: 8 packets, period: 12}"}, "period"),
           ({"pattern": "{type: burst, burst: 0.5, period: 1ms}"}, "burst")]


def hugepages_free():
    words = open("/proc/meminfo").read().split("HugePages_Free:")
    return int(words[1].split()[0]) if len(words) > 1 else 0


def run_on_pcap(folder, name):
    """The arguments of a run whose port p1 writes a pcap, and that pcap."""
    pcap = folder.file(f"{name}.pcap")
    testbed = folder.file(f"{name}.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: "net_pcap0,tx_pcap={pcap}", link_rate: 10Gbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: "net_null1,no-rx=1", link_rate: 10Gbps, mtu: 9000, hosts: rest}}
""")
    return ("--testbed", testbed), pcap


with Folder() as folder:
    for keys, link, words in RATES:
        done = rocegen("check", folder.file("rates.yaml", profile([keys])), "--set", f"testbed.link.rate={link}")
        expect_equal(done.returncode, 0, f"check of {keys}: {done.stderr}")
        for word in words:
            expect(word in done.stdout, f"{keys} at {link}: no {word!r} in\n{done.stdout}")
    for keys, key in REFUSED:
        path = folder.file("refused.yaml", profile([keys]))
        done = rocegen("check", path)
        expect_equal(done.returncode, 2, f"check of {keys}")
        expect(done.stderr.startswith(f"{path}:10:") and key in done.stderr, f"{keys}: {done.stderr}")
    done = rocegen("check", folder.file("dscp.yaml", profile([{}]).replace("dscp: 26", "dscp: 104")))
    expect(done.returncode == 2 and "dscp" in done.stderr and ":5:" in done.stderr, f"dscp 104: {done.stderr}")
    done = rocegen("check", folder.file("many.yaml", profile([{"packets": "4294967297"}])))
    expect(done.returncode == 0 and "4294967297" in done.stdout.replace(",", ""), "4294967297 packets, shown exact")

    # Four flows, bursts of 64, three of them 1 ms apart, all in step.
    flows = [{"name": f"f{i}", "message": "1KiB", "rate": "20%", "packets": "192", "psn": "0", "dest_qp": 100 + i,
              "udp_source_port": 50000 + i, "pattern": "{type: burst, burst: 64 packets, period: 1ms}"} for i in range(4)]
    path = folder.file("bursts.yaml", profile(flows, measure="10s"))
    arguments, pcap = run_on_pcap(folder, "one")
    for _ in range(5):
        report = run_json(path, *arguments)
        in_step = report["generator"]["slips"] == 0  # a source whose plan slipped is out of step with the others
        if in_step:
            break
    expect_equal(sum(flow["data_frames_tx"] for flow in report["flows"]), 768, "frames sent")
    expect_equal(_icrc_check.check(pcap), (768, 768, 768, 0, 0), "frames, RoCE, ICRCs right, wrong, not checkable")
    frames = [Frame(frame) for _, frame in packets(pcap)]
    for i in range(4):
        expect_equal([f.psn for f in frames if f.dest_qp == 100 + i], list(range(192)), f"PSNs of flow {i}")
    for burst in range(3 if in_step else 0):
        ports = [f.source_port for f in frames[256 * burst:256 * (burst + 1)]]
        expect_equal([ports.count(50000 + i) for i in range(4)], [64] * 4, f"flows in burst {burst}")
    own = json.loads(rocegen("analyze", "--json", pcap).stdout)
    counts = [(f["psn"]["data_frames"], f["psn"]["lost_first_pass"], f["psn"]["missing_at_end"]) for f in own["flows"]]
    expect_equal(counts, [(192, 0, 0)] * 4, "own analysis: frames, lost, missing")

    # A port that is not polled can be nobody's destination.
    deaf = folder.file("deaf.yaml", open(arguments[1]).read().replace("hosts: rest", "receive: false, hosts: rest"))
    done = rocegen("run", "--json", path, "--testbed", deaf)
    expect(done.returncode == 2 and "receive: false" in done.stderr and "p2" in done.stderr, f"deaf: {done.returncode}: {done.stderr}")

    # What must have hugepages is refused at once where this user has none.
    if hugepages_free() == 0:
        testbed = arguments[1]
        asked = folder.file("huge.yaml", open(testbed).read() + "hugepages: required\n")
        done = rocegen("run", "--json", path, "--testbed", asked, timeout=10)
        expect(done.returncode == 3 and "hugepages" in done.stderr and "dpdk-hugepages.py" in done.stderr,
               f"without hugepages: status {done.returncode}: {done.stderr}")

    both = []
    for name in ("left", "right"):
        arguments, pcap = run_on_pcap(folder, name)
        both.append((pcap, subprocess.Popen([ROCEGEN, "run", "--json", path, *arguments], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)))
    for pcap, process in both:
        stdout, stderr = process.communicate(timeout=120)
        expect(process.returncode in (0, 1), f"two at once: status {process.returncode}: {stderr}")
        expect_held(process.returncode, json.loads(stdout), "two at once")
        expect_equal(_icrc_check.check(pcap), (768, 768, 768, 0, 0), "two at once: frames")
print(f"stated rates to the digit; 768 frames of bursts {'in step' if in_step else 'on a machine too busy for step'}, "
      "alone and twice at once")
