"""What the integration tests share: the command, a folder of their own, and checks that say why."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROCEGEN = os.environ["ROCEGEN"]
SOURCE = os.environ["ROCEGEN_SOURCE"]
HERE = os.path.dirname(os.path.abspath(__file__))


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def need(*commands):
    for command in commands:
        if shutil.which(command) is None:
            skip(f"{command} is not installed")


def expect(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def expect_equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: expected {wanted!r}, saw {seen!r}")


class Folder:
    """A temporary folder, removed at the end whatever happens."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="rocegen_test_")
        os.chmod(self.path, 0o755)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def file(self, name, text=None):
        path = os.path.join(self.path, name)
        if text is not None:
            with open(path, "w") as out:
                out.write(text)
        return path


def rocegen(*arguments, timeout=120, env=None):
    """The finished command, its output as text."""
    return subprocess.run([ROCEGEN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=timeout, env=env)


def expect_held(returncode, report, what):
    """Status 0, or 1 for no other reason than that a shared machine could not send at the rate: what was sent was
    still sent and counted. An expectation that failed is never let pass."""
    failed = [e["text"] for e in report["expectations"] if e["holds"] is False]
    expect_equal(failed, [], f"{what}: expectations that failed")
    late = report["generator"]["rates_kept"] is False
    expect_equal(returncode, 1 if late else 0, f"{what}: status, rates {'not ' if late else ''}kept")


def run_json(*arguments, status=0, timeout=120):
    """The report of a run, which must end with `status`."""
    done = rocegen("run", "--json", *arguments, timeout=timeout)
    if status == 0 and done.returncode == 1:
        report = json.loads(done.stdout)
        expect_held(done.returncode, report, f"run {arguments}")
        return report
    expect_equal(done.returncode, status, f"status of run {arguments}; stderr: {done.stderr}")
    return json.loads(done.stdout)


def profile(flows, measure="1s", head="", expectations=()):
    """A profile of `flows`, each a dict over the defaults of one RC WRITE flow."""
    text = f"""name: test
{head}
phases: {{measure: {measure}, drain: 20ms}}
classes:
  rdma: {{dscp: 26, ecn: ect0}}
hosts:
  a: {{count: 1}}
  b: {{count: 1}}
flows:
"""
    for i, flow in enumerate(flows):
        keys = {"name": f"f{i}", "from": "a", "to": "b", "verb": "write", "message": "4KiB",
                "path_mtu": 1024, "class": "rdma", "rate": "1Gbps", **flow}
        text += "  - {" + ", ".join(f"{k}: {v}" for k, v in keys.items()) + "}\n"
    if expectations:
        text += "expect:\n" + "".join(f"  - {e}\n" for e in expectations)
    return text
