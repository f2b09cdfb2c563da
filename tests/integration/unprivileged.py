"""As nobody, with no huge pages and no XDG_RUNTIME_DIR, twice at the same time: both finish."""
import json
import os
import subprocess
import tempfile

from _lab import ROCEGEN, SOURCE, expect, expect_held, skip

if os.getuid() != 0:
    skip("needs root to become nobody")

# The checkout may lie where nobody cannot look: the command and the profile are copied.
with tempfile.TemporaryDirectory(prefix="rocegen_nobody_") as folder:
    os.chmod(folder, 0o755)
    command = os.path.join(folder, "rocegen")
    path = os.path.join(folder, "first.yaml")
    testbed = os.path.join(folder, "loopback.yaml")
    subprocess.run(["cp", ROCEGEN, command], check=True)
    subprocess.run(["cp", f"{SOURCE}/profiles/first.yaml", path], check=True)
    subprocess.run(["cp", f"{SOURCE}/profiles/testbeds/loopback.yaml", testbed], check=True)
    both = [
        subprocess.Popen(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", command, "run", path,
             "--testbed", testbed, "--json"],
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, cwd="/",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        stdout, stderr = process.communicate(timeout=120)
        expect(stdout.startswith("{"), f"stdout is the report alone: {stdout[:300]!r}; stderr: {stderr}")
        expect_held(process.returncode, json.loads(stdout), "a run as nobody")
print("both finished")
