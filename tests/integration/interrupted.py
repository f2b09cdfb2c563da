"""SIGINT and SIGTERM end a run with a whole report and status 130, live and in virtual time."""
import json
import os
import signal
import subprocess
import time

from _lab import ROCEGEN, SOURCE, Folder, expect, expect_equal, profile

LINK = f"{SOURCE}/profiles/testbeds/link.yaml"
LOOPBACK = f"{SOURCE}/profiles/testbeds/loopback.yaml"
SWITCH = f"{SOURCE}/profiles/testbeds/emulated.yaml"

with Folder() as folder:
    path = folder.file("long.yaml", profile([{"rate": "20kpps"}], measure="1h"))
    for name, arguments in (("loopback", ["--testbed", LOOPBACK]), ("link", ["--testbed", LINK]),
                            ("switch", ["--testbed", SWITCH])):
        for number in (signal.SIGINT, signal.SIGTERM):
            out = folder.file(f"{name}{int(number)}")
            process = subprocess.Popen([ROCEGEN, "run", path, "--out", out, *arguments],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(2)
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=30)
            expect_equal(process.returncode, 130, f"{name} status; stderr: {stderr}")
            expect(stdout.startswith("INTERRUPTED"), f"{name}: first line {stdout[:200]!r}")
            with open(os.path.join(out, "report.json")) as report:
                data = json.load(report)
            expect_equal(data["run"]["interrupted"], True, f"{name} interrupted")
            flow = data["flows"][0]
            expect(flow["data_frames_rx"] > 0, f"{name} received something")
            expect_equal(data["fabric"] is not None, name == "switch", f"{name} has a fabric")
            expect_equal(flow["lost"], 0, f"{name}: nothing is lost by stopping")
print("six reports are whole")
