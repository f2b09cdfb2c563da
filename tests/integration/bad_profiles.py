"""Bad profiles are refused with place, value and what is allowed; several mistakes all at once."""
from _lab import Folder, expect, expect_equal, profile, rocegen

CASES = [  # what is wrong, the flow's keys, what the message must contain
    ("unknown key", {"rate_gpbs": "5"}, ["rate_gpbs", "rate"]),
    ("missing unit", {"rate": "25"}, ["rate", "25", "Gbps"]),
    ("rate over the link", {"rate": "500Gbps"}, ["rate", "500Gbps", "100Gbps"]),
    ("share over the link", {"rate": "110%"}, ["rate", "110%"]),
    ("dest_qp of 25 bits", {"dest_qp": "16777216"}, ["dest_qp", "16777216", "16777215"]),
    ("psn of 25 bits", {"psn": "16777216"}, ["psn", "16777216", "16777215"]),
    ("half a burst", {"pattern": "{type: burst, burst: 0.5, period: 1ms}"}, ["burst", "0.5"]),
    ("gap without unit", {"pattern": "{type: burst, burst: 8 packets, period: 12}"},
     ["period", "12", "us"]),
    ("unknown class", {"class": "rmda"}, ["rmda", "rdma"]),
    ("path MTU over the port's", {"path_mtu": "9000"}, ["path_mtu", "9000"]),
    ("unknown rate unit", {"rate": "5mpps"}, ["rate", "mpps", "Mpps"]),
]

with Folder() as folder:
    for what, keys, words in CASES:
        path = folder.file("bad.yaml", profile([keys]))
        for command in ("check", "run"):
            done = rocegen(command, path, timeout=20)
            expect_equal(done.returncode, 2, f"status of {command}: {what}")
            line = next((l for l in done.stderr.splitlines() if l.startswith(f"{path}:")), "")
            expect(line, f"{what}: no line with the file in {done.stderr!r}")
            place = line[len(path) + 1:].split(":")
            expect(place[0] == "10" and place[1].isdigit(), f"{what}: wrong place in {line!r}")
            for word in words:
                expect(word in line, f"{what}: no {word!r} in {line!r}")
            expect_equal(done.stdout, "", f"stdout of {what}")

    several = profile([{"rate": "25"}, {"psn": "16777216"}, {"messsage": "1KiB"}])
    done = rocegen("check", folder.file("several.yaml", several))
    for line, key in ((10, "rate"), (11, "psn"), (12, "messsage")):
        expect(any(f":{line}:" in l and key in l for l in done.stderr.splitlines()),
               f"mistake in line {line} ({key}) is not named: {done.stderr}")

    for name, text in (("empty", ""), ("syntax", "flows: [\n"), ("list", "- 1\n"), ("zeros", "\0" * 24)):
        done = rocegen("check", folder.file(f"{name}.yaml", text))
        expect_equal(done.returncode, 2, f"status of {name}")
        expect(f"{name}.yaml" in done.stderr, f"{name}: {done.stderr!r}")
    done = rocegen("check", folder.file("missing.yaml"))
    expect_equal(done.returncode, 2, "status of a missing file")
    accepted = rocegen("check", folder.file("big.yaml", profile([{"packets": "4294967297"}])))
    expect_equal(accepted.returncode, 0, f"4294967297 packets: {accepted.stderr}")
    expect("4294967297" in accepted.stdout.replace(",", ""), "4294967297 shown exact")
print(f"{len(CASES)} mistakes named")
done = rocegen("frobnicate")
expect(done.returncode == 2 and "frobnicate" in done.stderr and "analyze" in done.stderr, f"no such command: {done.stderr}")
