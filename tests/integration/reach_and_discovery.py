"""Before traffic each pair of hosts proves that it reaches the other, and one that does not is named; frames for other
stations count as flooded. With IPv6 hosts neighbor discovery does it all: tcpdump finds every message well-formed, and
Linux's own stack, which is the router here, resolves our hosts and is resolved by them."""
import re
import socket
import subprocess
import threading
import time

from _lab import Folder, expect, expect_equal, need, run_json
from _veth import Tcpdump, enter_own_namespace, pair

enter_own_namespace()
need("tcpdump")


def sh(command, check=True):
    return subprocess.run(command, shell=True, check=check, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


with Folder() as folder:
    for name in ("left", "right", "spy"):
        pair(f"{name}0", f"{name}1", 1500)
    sh("ip link add bridge0 type bridge mcast_snooping 0 && ip link set bridge0 up")
    for name in ("left", "right", "spy"):
        sh(f"ip link set {name}1 master bridge0")

    def profile(prefix=""):
        return folder.file("p.yaml", f"""name: reach
phases: {{measure: 500ms, drain: 20ms}}
classes: {{rdma: {{dscp: 26, ecn: ect0}}}}
hosts:
  a: {{count: 2{prefix}}}
  b: {{{prefix.lstrip(", ")}}}
  idle: {{{prefix.lstrip(", ")}}}
flows:
  - {{name: write, from: a, to: b, message: 256B, class: rdma, rate: 1kpps}}
""")

    def testbed(left="", right=""):
        return folder.file("t.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: left0, link_rate: 10Gbps, hosts: [a]{left}}}
  - {{name: p2, device: right0, link_rate: 10Gbps, hosts: [b]{right}}}
  - {{name: p3, device: spy0, link_rate: 10Gbps, hosts: [idle]}}
""")

    # All reach all: a[0], a[1] and b, each way; the bridge has learned where they are.
    report = run_json(profile(), "--testbed", testbed())
    run = report["run"]
    expect_equal((run["pairs_probed"], run["pairs_unreached"]), (4, 0), "pairs")
    expect_equal(report["ports"][2]["flooded_rx"], 0, "nothing flooded to p3")

    # A bridge that learns nothing floods: p3 sees the frames of others.
    sh("bridge link set dev right1 learning off && ip link set dev right1 type bridge_slave fdb_flush")
    report = run_json(profile(), "--testbed", testbed())
    sent = report["flows"][0]["data_frames_tx"]
    seen = report["ports"][2]["flooded_rx"]
    expect(seen >= sent > 0, f"p3 saw {seen} of {sent} flooded frames")
    expect(any("p3" in note and "floods" in note for note in report["notes"]), report["notes"])
    sh("bridge link set dev right1 learning on")

    # One cable is out: each pair over it is named, each way.
    sh("ip link set right1 nomaster")
    report = run_json(profile(), "--testbed", testbed())
    run = report["run"]
    expect_equal((run["pairs_probed"], run["pairs_unreached"]), (4, 4), "pairs without a cable")
    for one, other in (("a[0]", "b"), ("a[1]", "b"), ("b", "a[0]")):
        expect(any(re.match(rf"{re.escape(one)}(\[0\])? \(.*does not reach {re.escape(other)}", note)
                   for note in report["notes"]), f"{one} to {other} is not named: {report['notes']}")
    sh("ip link set right1 master bridge0")

    # IPv6. The bridge itself is Linux, a host and the router of our hosts.
    sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.bridge0.disable_ipv6=0 net.ipv6.conf.bridge0.accept_dad=0 "
       "net.ipv6.conf.all.forwarding=1; ip addr add 2001:db8:1::ff/64 dev bridge0 nodad; "
       "ip addr add 2001:db8:2::ff/64 dev bridge0 nodad")
    router = sh("cat /sys/class/net/bridge0/address").strip()
    text = open(profile()).read().replace("a: {count: 2}", "a: {count: 2, prefix: 2001:db8:1::/64}").replace(
        "b: {}", "b: {prefix: 2001:db8:2::/64}").replace("idle: {}", "idle: {prefix: 2001:db8:3::/64}").replace(
        "measure: 500ms", "measure: 2500ms")
    path = folder.file("v6.yaml", text)
    gateways = testbed(", prefix: 2001:db8:1::/64, gateway: 2001:db8:1::ff", ", prefix: 2001:db8:2::/64, gateway: 2001:db8:2::ff")
    resolved = {}

    hosts = ("2001:db8:1::1", "2001:db8:1::2", "2001:db8:2::1")
    over = threading.Event()

    def linux_asks():
        while not over.is_set():
            sh("ip -6 neigh flush dev bridge0")
            # Nobody answers a datagram; its address is resolved first.
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as out:
                for host in hosts:
                    out.sendto(b"?", (host, 9))
            time.sleep(0.3)
            for host, mac in re.findall(r"^(\S+) .*lladdr (\S+)", sh("ip -6 neigh show dev bridge0"), re.M):
                if host in hosts:
                    resolved[host] = mac

    asker = threading.Thread(target=linux_asks)
    # Through the router: what it learned by discovery it forwards by.
    report = run_json(path, "--testbed", gateways)
    expect_equal((report["run"]["pairs_probed"], report["run"]["pairs_unreached"]), (2, 0), "pairs through the router")
    expect_equal(report["flows"][0]["lost"], 0, "frames lost through the router")
    with Tcpdump("bridge0", folder.file("nd.pcap"), "icmp6") as capture:
        asker.start()
        report = run_json(path, "--testbed", gateways)
        over.set()
        asker.join()
    expect_equal(report["ports"][0]["gateway_mac"], router, "the router, by neighbor discovery")
    expect_equal(resolved, {"2001:db8:1::1": "02:00:00:00:00:01", "2001:db8:1::2": "02:00:00:00:00:02",
                            "2001:db8:2::1": "02:00:00:00:00:03"}, "what Linux resolved")
    said = sh(f"tcpdump -vv -n -e -r {capture.path} 2>/dev/null")
    ours = [block for block in re.split(r"\n(?=\S)", said) if re.search(r" 02:00:00:00:00:0[1-3] > ", block)]
    expect(len(ours) >= 6, f"only {len(ours)} messages of ours:\n{said}")
    for block in ours:
        expect("[icmp6 sum ok]" in block and "bad" not in block, f"tcpdump finds fault with:\n{block}")
        expect("hlim 255" in block, f"hop limit:\n{block}")
    for host, mac in resolved.items():
        told = [b for b in ours if f"tgt is {host}," in b and "advertisement" in b]
        expect(any("ff02::1" in b for b in told), f"{host} did not announce itself:\n{said}")
        expect(any("solicited" in b for b in told), f"{host} does not answer who asks:\n{told}")
        expect(all(mac in b for b in told), f"{host} is announced with another address")
    expect(any("solicitation" in b and "2001:db8:1::ff" in b for b in ours), f"nobody asked for the router:\n{said}")
    print(f"4 pairs reached and named; {seen} of {sent} frames seen flooded; {len(ours)} discovery messages right, "
          f"router {router} and {len(resolved)} hosts resolved")
