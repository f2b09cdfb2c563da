"""Every shipped profile keeps what its first lines promise, on the testbed that they name (else the emulated one), and
every bad one shows its harm and makes `check` name the rule that would have said so."""
import glob
import os
import re

from _lab import SOURCE, expect, expect_equal, rocegen

PROFILES = os.path.join(SOURCE, "profiles")
RULES = {"many-lossless", "shared-class", "cnp-not-strict", "pfc-before-ecn", "short-headroom", "not-ect",
         "lossy-dscp", "one-source-port", "mtu-mismatch", "short-storm", "greedy-alpha"}


def named(text, what, otherwise):
    found = re.search(rf"^# {what}: ([\w./-]+?)[;.]?(\s|$)", text, re.M)
    return found.group(1) if found else otherwise


paths = sorted(glob.glob(os.path.join(PROFILES, "*.yaml")) + glob.glob(os.path.join(PROFILES, "bad", "*.yaml")))
expect(len(paths) > 20, f"only {len(paths)} profiles were found")
shown = set()
for path in paths:
    name = os.path.relpath(path, PROFILES)
    text = open(path).read()
    expect(text.startswith("# "), f"{name} does not say first what it shows")
    expect("\nexpect:" in text, f"{name} expects nothing")
    bed = os.path.join(PROFILES, named(text, "Testbed", "testbeds/emulated.yaml"))
    expect(open(bed).read().startswith("# "), f"{bed} does not say first what it is")
    run = rocegen("run", path, "--testbed", bed)
    expect_equal(run.returncode, 0, f"exit status of {name}; {run.stdout[:1500]}{run.stderr}")
    rule = named(text, "Lint", None)
    expect_equal(rule is not None, name.startswith("bad"), f"{name} names a rule of lint")
    check = rocegen("check", path, "--testbed", bed)
    expect_equal(check.returncode, 0, f"exit status of check {name}; {check.stderr}")
    if rule:
        expect(f"[{rule}]" in check.stderr, f"check of {name} does not warn of {rule}: {check.stderr}")
        shown.add(rule)
# Each is listed with what it shows.
listed = rocegen("profiles")
expect_equal(listed.returncode, 0, f"exit status of profiles; {listed.stderr}")
for path in glob.glob(os.path.join(PROFILES, "*.yaml")) + glob.glob(os.path.join(PROFILES, "testbeds", "*.yaml")):
    name = os.path.relpath(path, SOURCE)
    expect(re.search(rf"^{name}\n    \w.*\w", listed.stdout, re.M), f"{name} is not listed: {listed.stdout}")
expect_equal(RULES - shown, set(), "rules without a profile that shows the harm")
