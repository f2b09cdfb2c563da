"""rocegen analyze --interface: frames that pass an interface while it captures give the numbers that the same frames give
from tcpdump's file of the same interface. Ctrl-C ends it with status 130 and the whole report; --duration with 0. What
cannot be captured is said with what to do."""
import json
import signal
import socket
import subprocess
import time

from _lab import ROCEGEN, SOURCE, Folder, expect, expect_equal, rocegen
from _veth import Tcpdump, enter_own_namespace, packets, pair

enter_own_namespace()
pair()

COUNTED = ("source", "destination", "dest_qp", "frames", "frame_bytes", "opcodes", "ecn", "dscp", "icrc", "vlans")


def captured(*options):
    """An analysis under way, once it says that it captures."""
    process = subprocess.Popen([ROCEGEN, "analyze", "--interface", "veth1", "--json", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    expect(line.startswith("capturing on veth1"), f"it says that it captures, not {line!r}")
    return process


def send(frames):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
        out.bind(("veth0", 0))
        for frame in frames:
            out.send(frame)


def flows_of(report):
    return [({k: flow[k] for k in COUNTED}, {k: n for k, n in flow["psn"].items() if k != "stall_ns"})
            for flow in report["flows"]]


with Folder() as folder:
    crafted = folder.file("crafted.pcap")
    done = rocegen("craft", f"{SOURCE}/profiles/mixed.yaml", "--duration", "10ms", "-o", crafted)
    expect_equal(done.returncode, 0, done.stderr)
    frames = [frame for _, frame in packets(crafted)]
    kept = frames[:500] + frames[503:]  # three are lost on the way
    with Tcpdump("veth1", folder.file("seen.pcap")) as tcpdump:
        process = captured()
        send(kept)
        time.sleep(0.5)  # what waits in the socket is read
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    expect_equal(process.returncode, 130, f"status after Ctrl-C ({err})")
    live = json.loads(out)
    expect_equal(tcpdump.dropped, 0, "frames that the kernel dropped before tcpdump")
    file = json.loads(rocegen("analyze", folder.file("seen.pcap"), "--json").stdout)
    expect_equal(flows_of(live), flows_of(file), "flows of the interface and of tcpdump's file")
    expect(sum(flow["psn"]["lost_first_pass"] for flow in live["flows"]) > 0, "the frames left out are missed")
    expect_equal(live["files"][0]["interfaces"][0]["os_dropped"], 0, "frames the kernel dropped")
    expect_equal(live["files"][0]["records"], len(kept), "frames captured")
    print(f"{len(kept)} frames captured from an interface: the same flows as from tcpdump's file")

    process = captured("--duration", "300ms", "--extract", folder.file("kept.pcapng"))
    send(kept[:100])
    process.communicate(timeout=60)
    expect_equal(process.returncode, 0, "status after --duration")
    with open(folder.file("kept.pcapng"), "rb") as extract:
        expect(kept[0] in extract.read(), "what was captured can be kept with --extract")

    process = captured()
    send(kept[:10])
    time.sleep(0.3)
    subprocess.run(["ip", "link", "del", "veth0"], check=True)  # both ends go
    out, err = process.communicate(timeout=60)
    expect_equal(process.returncode, 1, f"status when the interface goes away ({err})")
    expect("what came before is analyzed" in err, f"it says that the interface went away: {err!r}")
    expect_equal(json.loads(out)["files"][0]["records"], 10, "frames captured before")
    pair()

    for arguments, status, words in (
            (("--interface", "nosuch0"), 3, ("nosuch0", "rocegen ports")),
            (("--interface", "veth1", folder.file("seen.pcap")), 2, ("veth1", "--interface")),
            ((), 2, ("--interface",)),
            (("--duration", "1s", folder.file("seen.pcap")), 2, ("--duration",)),
            (("--interface", "veth1", "--annotate", folder.file("a.pcapng")), 2, ("--annotate", "--extract"))):
        done = rocegen("analyze", *arguments)
        expect_equal(done.returncode, status, f"status of {arguments}: {done.stderr}")
        for word in words:
            expect(word in done.stderr, f"{arguments}: {word!r} in {done.stderr!r}")
