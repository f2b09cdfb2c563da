"""An interface that goes down while a run sends on it: what it refused is counted as not sent, what was sent was received,
and the run ends in time."""
import json
import subprocess
import time

from _lab import ROCEGEN, Folder, expect, expect_equal
from _veth import enter_own_namespace, pair

enter_own_namespace()
with Folder() as folder:
    pair(mtu=1500)
    profile = folder.file("p.yaml", """name: down
phases: {measure: 2s, drain: 20ms}
hosts: {a: {}, b: {}}
flows:
  - {name: f, from: a, to: b, message: 256B, rate: 10kpps}
""")
    testbed = folder.file("t.yaml", """kind: dpdk
ports:
  - {name: p1, device: veth0, link_rate: 10Gbps, hosts: [a]}
  - {name: p2, device: veth1, link_rate: 10Gbps, hosts: [b]}
""")
    process = subprocess.Popen([ROCEGEN, "run", profile, "--testbed", testbed, "--json"], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)  # start and quiet phase are less than half of it
    subprocess.run(["ip", "link", "set", "veth0", "down"], check=True)
    stdout, stderr = process.communicate(timeout=60)
    expect(stdout.startswith("{"), f"status {process.returncode}: {stderr}")
    report = json.loads(stdout)
    port, flow = report["ports"][0], report["flows"][0]
    print(f"status {process.returncode}; sent {port['tx_frames']}, refused {port['tx_errors']}, received {flow['data_frames_rx']}")
    expect(port["tx_errors"] > 0, f"nothing was refused: {port}")
    # The port's also count what announces its host.
    expect(0 <= port["tx_frames"] + port["tx_errors"] - flow["data_frames_tx"] < 10, "frames made are sent or refused")
    expect(0 < flow["data_frames_rx"] <= port["tx_frames"], "frames sent and received")
    expect_equal(process.returncode, 1, "exit status")
    expect(any("p1 could not send" in why for why in report["generator"]["why_not"]), report["generator"])
