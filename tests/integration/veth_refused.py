"""Interfaces that must not, or cannot, be taken: each refusal names the port and what to do."""
import subprocess

from _lab import ROCEGEN, Folder, expect, profile
from _veth import enter_own_namespace, pair

enter_own_namespace()


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


with Folder() as folder:
    def untagged(flow):
        return profile([flow], measure="1s").replace("pcp: 3, ", "")

    small = folder.file("small.yaml", untagged({"rate": "1kpps", "packets": 10}))
    large = folder.file("large.yaml", untagged({"rate": "1kpps", "packets": 10, "path_mtu": 4096}))
    pair("veth0", "veth1", 9000)

    def run(device, status, *words, driver="af_packet", path=small, command=(), options=()):
        testbed = folder.file("t.yaml", f"""kind: dpdk
ports:
  - {{name: p1, device: "{device}", driver: {driver}, link_rate: 10Gbps, mtu: 9000, hosts: sources}}
  - {{name: p2, device: veth1, driver: af_packet, link_rate: 10Gbps, mtu: 9000, hosts: rest}}
""")
        done = subprocess.run([*command, ROCEGEN, "run", path, "--testbed", testbed, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        # Ten frames are at another rate when the machine is busy: 1, and they were sent.
        expect(done.returncode in ((0, 1) if status == 0 else (status,)),
               f"{device}, {driver}: status {done.returncode}, not {status}; stderr: {done.stderr}")
        for word in words:
            expect(word in done.stderr, f"{device}: {word!r} is not in {done.stderr!r}")

    run("veth0", 0)
    run("veth0", 0, path=large)  # 4 KB frames fit: the ring's entries are made large enough
    run("nosuch0", 3, "p1 (nosuch0)", "no such network interface", "veth0")
    run("veth0", 3, "at most 3456 bytes", "path_mtu", driver="af_xdp", path=large)
    run("ring:x", 2, "leave `driver` out")
    run("veth0", 2, "af_packet", "af_xdp", driver="af_pcket")
    ip("link", "set", "veth0", "down")
    run("veth0", 3, "ip link set veth0 up")
    ip("link", "set", "veth0", "up")
    # "nobody" must reach the command, which lies in a build folder.
    nobody = ("setpriv", "--reuid=65534", "--bounding-set=-all", "--inh-caps=-all")
    if subprocess.run([*nobody, ROCEGEN, "--version"], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE).returncode == 0:
        run("veth0", 3, "cap_net_raw", "run as root", command=nobody)
    ip("address", "add", "192.0.2.1/24", "dev", "veth0")
    run("veth0", 3, "has the address 192.0.2.1", "--force")
    run("net_af_packet0,iface=veth0", 3, "has the address 192.0.2.1", driver="auto")
    run("veth0", 0, options=["--force"])
    ip("address", "flush", "dev", "veth0")
    ip("route", "add", "default", "dev", "veth0")
    run("veth0", 3, "default route", "--force")
    ip("-6", "route", "flush", "dev", "veth0")
    ip("route", "del", "default")
    run("veth0", 0)
print("12 refusals")
