"""rocegen analyze --extract writes the frames that were chosen, and only these, with all that the file said of them. tshark,
capinfos and the captures themselves judge."""
import json
import os
import struct
import subprocess

from _lab import SOURCE, Folder, expect, expect_equal, need, rocegen

need("tshark", "capinfos")
CASES = os.path.join(SOURCE, "pcaps", "cases")
FIELDS = ["frame.time_epoch", "frame.len", "frame.cap_len", "frame.interface_name", "frame.comment", "frame.packet_flags",
          "infiniband.bth.destqp", "infiniband.bth.psn"]


def analyze(*arguments, status=0):
    done = rocegen("analyze", "--json", *arguments)
    expect_equal(done.returncode, status, f"status of {arguments}; stderr: {done.stderr}")
    return json.loads(done.stdout) if done.stdout else None


def tshark(path, *more):
    fields = [part for field in FIELDS for part in ("-e", field)]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *fields, *more], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def odd_capture(order):
    """Two sections; interfaces with a name, an address, a speed and a resolution of 1 us; packets with flags and comments."""
    section = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1) + option(order, 4, b"lab tap 7") +
                    option(order, 1, b"rack 12"))
    first = block(order, 1, struct.pack(order + "HHI", 1, 0, 0) + option(order, 2, b"swp1") + option(order, 3, b"uplink") +
                  option(order, 8, struct.pack(order + "Q", 100_000_000_000)) + option(order, 9, b"\x06") +
                  option(order, 6, bytes(range(6))))
    second = block(order, 1, struct.pack(order + "HHI", 1, 0, 96) + option(order, 2, b"swp2") + option(order, 9, b"\x09"))
    frame = bytes.fromhex("020000000002020000000001") + b"\x08\x06" + bytes(46)

    def packet(interface, units, *options):
        return block(order, 6, struct.pack(order + "IIIII", interface, units >> 32, units & 0xffffffff, 60, 60) + frame +
                     b"".join(options))
    statistics = block(order, 5, struct.pack(order + "III", 0, 0, 0) + option(order, 5, struct.pack(order + "Q", 17)))
    one = section + first + second
    one += packet(0, 1_700_000_000_000_001, option(order, 2, struct.pack(order + "I", 2)), option(order, 1, b"seen late"))
    one += packet(1, 1_700_000_000_000_002_003, option(order, 1, b"one"), option(order, 1, b"two"))
    one += statistics
    return one + section + second + packet(0, 1_700_000_000_000_002_999)


with Folder() as folder:
    out = folder.file("out.pcapng")
    # All frames of a file: what tshark shows is the same
    for name in ("o1.pcap", "o5.pcap", "o7.pcap", "o10.pcapng", "o16.pcap", "o22_sll2.pcap"):
        path = os.path.join(CASES, name)
        whole = analyze(path, "--extract", out)
        seen, wanted = tshark(out), tshark(path)
        expect_equal(len(seen), whole["capture"]["records"], f"{name}: records")
        # A pcap file's interface has no name
        expect_equal([line.split("\t")[:3] + line.split("\t")[4:] for line in seen],
                     [line.split("\t")[:3] + line.split("\t")[4:] for line in wanted], f"{name} by tshark")
        again = analyze(out)
        for part in ("capture", "roce", "frames", "flows"):
            expect_equal(again[part], whole[part], f"{name}: {part} of the copy")

    # Either byte order: names, comments, flags, both sections
    for order in "<>":
        path = folder.file("odd.pcapng")
        with open(path, "wb") as file:
            file.write(odd_capture(order))
        analyze(path, "--extract", out, status=4)
        wanted = tshark(path)
        wanted[2] = wanted[2].replace("swp1", "swp2")  # tshark takes the first section's interface 0 for the second's
        expect_equal(tshark(out), wanted, f"order {order}: by tshark")
        about = subprocess.run(["capinfos", out], capture_output=True, text=True, check=True).stdout
        for words in ("swp1", "uplink", "Speed = 100000", "swp2", "Number of interfaces in file: 3", "rack 12",
                      "extracted by rocegen", "Number of packets:   3"):
            expect(words in about, f"no {words!r} in {about}")
        expect_equal([i["dropped"] for i in analyze(out, status=4)["files"][0]["interfaces"]], [17, None, None], "dropped")

    # By flow, filter and time
    o17 = os.path.join(CASES, "o17.pcap")
    report = analyze(o17, "--flow", "10.0.0.1,10.0.0.2,0x12", "--extract", out)
    expect_equal([f["dest_qp"] for f in report["flows"]], [0x12], "flows by --flow")
    expect_equal({line.split("\t")[6] for line in tshark(out)}, {"0x000012"}, "QPs written")
    expect_equal(report["capture"]["records"] + report["capture"]["filtered_out"], 12, "left out are counted")
    both = analyze(o17, "--flow", "*,*,0x12", "--flow", "*,10.0.0.2,0x13", "--extract", out)
    expect_equal({line.split("\t")[6] for line in tshark(out)}, {"0x000012", "0x000013"}, "QPs of two flows")
    o16 = os.path.join(CASES, "o16.pcap")
    times = [line.split("\t")[0] for line in tshark(o16)]
    analyze(o16, "--from", times[3], "--to", times[9], "--extract", out)
    expect_equal([line.split("\t")[0] for line in tshark(out)], times[3:9], "times by --from and --to")
    analyze(o16, "--to", "5us", "--extract", out)
    start = int(times[0].replace(".", ""))
    expect_equal([line.split("\t")[0] for line in tshark(out)],
                 [t for t in times if int(t.replace(".", "")) < start + 5000], "times by --to 5us")
    analyze(o16, "--filter", "udp[15] = 0x11", "--extract", out)
    expect(0 < len(tshark(out)) <= len(times), "frames by --filter")

    # What cannot be done
    for arguments, words in ((["--flow", "10.0.0.1"], "--flow"), (["--from", "noon"], "--from"),
                             (["--flow", "10.0.0.1,10.0.0.2,0x1000000"], "--flow"),
                             (["--extract", o16], "read"), (["--extract", folder.file("no/such")], "No such file")):
        done = rocegen("analyze", *arguments, o16)
        expect_equal(done.returncode, 2, f"status of {arguments}: {done.stderr}")
        expect(words in done.stderr, f"{arguments}: no {words!r} in {done.stderr!r}")
    expect(len(tshark(o16)) == len(times), "the file that was read is as it was")
