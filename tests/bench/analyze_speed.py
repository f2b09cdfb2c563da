#!/usr/bin/env python3
"""Speed and memory of `rocegen analyze` beside tshark and tcpdump: the same file, page cache warm, one core, in turn.

usage: analyze_speed.py [--rounds N] [--frames N] [--payload BYTES] [--qps N] [--cpu N] [--json FILE] [--floor]
                        [--large GB] [--keep DIR]

The file: RC WRITE_ONLY frames with valid ICRCs, 1024 bytes of payload, of `--qps` queue pairs in turn, 1.01 us apart, as
`rocegen craft` of analyze_speed.yaml, beside this script, makes it (pcap).
rocegen analyzes it whole, every ICRC checked; tshark runs `-q -z conv,udp`; tcpdump copies it to /dev/null. Times are those
of the whole command. A ratio is the median over the rounds of what two commands took in the same round. CPU times are
printed beside: on a machine that does other work they are the steadier ones. tshark takes 20 times as long as the others,
so it runs in the first --tshark-rounds rounds only.
Then the most memory (peak resident set) that rocegen took for this file, for one of 100,000 queue pairs, and with --large
for one of so many GB. With --floor the exit status is 1 when a figure is not as wanted: tshark 20 x by CPU time, tcpdump 0.5 x,
512 MB (1 GB with 100,000 queue pairs)."""
import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROCEGEN = os.environ.get("ROCEGEN", os.path.join(HERE, "../../build/release/rocegen"))
LARGE_QPS = 100_000


def write_capture(path, frames, payload, qps):
    """Frames of `qps` queue pairs in turn, each with PSNs of its own from 0 on."""
    ip_bytes = 20 + 8 + 12 + 16 + payload + 4
    data = bytes(i * 7 & 0xff for i in range(payload))
    ethernet = bytes.fromhex("020000000002" "020000000001" "0800")
    ip = bytearray(struct.pack(">BBHHHBBH4s4s", 0x45, 0x6a, ip_bytes, 0, 0x4000, 64, 17, 0, bytes((10, 0, 0, 1)),
                               bytes((10, 0, 0, 2))))
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xffff) + (total >> 16)
    struct.pack_into(">H", ip, 10, 0xffff ^ ((total & 0xffff) + (total >> 16)))
    masked_ip = bytearray(ip)
    masked_ip[1] = masked_ip[8] = masked_ip[10] = masked_ip[11] = 0xff
    before = zlib.crc32(b"\xff" * 8 + bytes(masked_ip))
    whole = 14 + ip_bytes
    with open(path, "wb", buffering=1 << 22) as out:
        out.write(struct.pack("<IHHIIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
        for i in range(frames):
            qp, psn = i % qps, i // qps
            ports = struct.pack(">HHH", 0xc000 + (qp & 0x3fff), 4791, ip_bytes - 20)
            bth = bytearray(struct.pack(">BBHII", 0x0a, 0x40, 0xffff, 0x100 + qp, psn & 0xffffff))
            rest = struct.pack(">QII", psn * payload, 0x1234, payload) + data
            crc = zlib.crc32(ports + b"\xff\xff", before)
            bth[4] = 0xff
            crc = zlib.crc32(bytes(bth) + rest, crc)
            bth[4] = 0
            now = 1_700_000_000_000_000_000 + i * 1000
            out.write(struct.pack("<IIII", now // 10**9, now % 10**9, whole, whole) + ethernet + ip + ports +
                      b"\0\0" + bth + rest + struct.pack("<I", crc))
    return whole


def craft(path, frames, payload, qps):
    settings = {"flows.x.packets": frames, "flows.x.message": f"{payload}B", "flows.x.qps": qps,
                "phases.measure": f"{frames // 900_000 + 1}s"}
    command = [ROCEGEN, "craft", os.path.join(HERE, "analyze_speed.yaml"), "-o", path]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def repeat_capture(path, source, gigabytes):
    """The records of `source` again and again, until the file is so large: PSNs repeat, memory must not grow."""
    # In pieces: the peak memory of a child process begins with that of this one.
    with open(source, "rb") as file, open(path, "wb") as out:
        out.write(file.read(24))
        while out.tell() < gigabytes * 1_000_000_000:
            file.seek(24)
            shutil.copyfileobj(file, out, 1 << 20)


def measured(command, cpu):
    """Wall seconds, CPU seconds, peak resident bytes, and the file with what it printed. The peak of a child begins with
    what this process has: nothing large is read here."""
    output = tempfile.TemporaryFile()
    start = time.perf_counter()
    process = subprocess.Popen(["taskset", "-c", str(cpu), *command], stdout=output, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    output.seek(0)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tshark-rounds", type=int, default=2)
    parser.add_argument("--frames", type=int, default=990_000)
    parser.add_argument("--payload", type=int, default=1024)
    parser.add_argument("--qps", type=int, default=1000)
    parser.add_argument("--large", type=float, default=0, metavar="GB")
    parser.add_argument("--cpu", type=int, default=os.cpu_count() - 1)
    parser.add_argument("--keep", metavar="DIR", help="folder for the files, which stay there")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--floor", action="store_true")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="rocegen_speed_") as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        capture = os.path.join(folder, f"speed{arguments.frames}x{arguments.payload}q{arguments.qps}.pcap")
        if not os.path.exists(capture):
            craft(capture, arguments.frames, arguments.payload, arguments.qps)
        commands = {
            "rocegen": [ROCEGEN, "analyze", "--json", capture],
            "tcpdump": ["tcpdump", "-r", capture, "-w", "/dev/null"],
            "tshark": ["tshark", "-r", capture, "-q", "-z", "conv,udp"],
        }
        with open(capture, "rb") as file:  # into the page cache
            while file.read(1 << 20):
                pass
        rounds = {name: [] for name in commands}
        peak = 0
        for index in range(arguments.rounds):
            for name, command in commands.items():
                if name == "tshark" and index >= arguments.tshark_rounds:
                    continue
                seconds, cpu_seconds, memory, output = measured(command, arguments.cpu)
                rounds[name].append((seconds, cpu_seconds))
                if name == "rocegen":
                    peak = max(peak, memory)
                    report = json.load(output)
                    good = report["roce"]["icrc"]["good"]
                    if good != arguments.frames:
                        raise SystemExit(f"{good} good ICRCs in {arguments.frames} frames")
        result = {"file_bytes": os.path.getsize(capture), "frames": arguments.frames, "qps": arguments.qps}
        for name, figures in rounds.items():
            result[name] = {"seconds": statistics.median(s for s, _ in figures),
                            "cpu_seconds": statistics.median(c for _, c in figures), "rounds": len(figures)}
        for peer in ("tshark", "tcpdump"):
            pairs = list(zip(rounds[peer], rounds["rocegen"]))
            result[f"{peer}_over_rocegen"] = statistics.median(p[0] / r[0] for p, r in pairs)
            result[f"{peer}_over_rocegen_cpu"] = statistics.median(p[1] / r[1] for p, r in pairs)
        result["rocegen_ns_per_frame"] = result["rocegen"]["seconds"] / arguments.frames * 1e9
        result["rocegen_peak_bytes"] = peak

        many = os.path.join(folder, "many.pcap")
        write_capture(many, 2 * LARGE_QPS, 64, LARGE_QPS)
        seconds, _, memory, output = measured([ROCEGEN, "analyze", "--json", many], arguments.cpu)
        flows = sum(1 for line in output if b'"dest_qp"' in line)  # a line a flow
        if flows != LARGE_QPS:
            raise SystemExit(f"{flows} flows of {LARGE_QPS}")
        result["many_qps"] = {"qps": LARGE_QPS, "seconds": seconds, "peak_bytes": memory}
        if arguments.large:
            large = os.path.join(folder, "large.pcap")
            repeat_capture(large, capture, arguments.large)
            seconds, _, memory, _ = measured([ROCEGEN, "analyze", "--json", large], arguments.cpu)
            result["large"] = {"file_bytes": os.path.getsize(large), "seconds": seconds, "peak_bytes": memory}
            os.remove(large)

    print(f"{result['frames']} frames, {result['file_bytes'] / 1e6:.0f} MB, {result['qps']} queue pairs, one core, cache warm")
    print(f"{'':10}{'seconds':>9}{'CPU s':>9}{'of rocegen':>12}{'by CPU':>9}")
    for name in commands:
        ratio = "" if name == "rocegen" else (f"{result[f'{name}_over_rocegen']:>11.2f}x"
                                              f"{result[f'{name}_over_rocegen_cpu']:>8.2f}x")
        print(f"{name:10}{result[name]['seconds']:>9.3f}{result[name]['cpu_seconds']:>9.3f}{ratio}")
    print(f"rocegen: {result['rocegen_ns_per_frame']:.0f} ns a frame; peak memory {peak / 1e6:.0f} MB, "
          f"{result['many_qps']['peak_bytes'] / 1e6:.0f} MB with {LARGE_QPS} queue pairs" +
          (f", {result['large']['peak_bytes'] / 1e6:.0f} MB with {result['large']['file_bytes'] / 1e9:.1f} GB "
           f"({result['large']['seconds']:.1f} s)" if arguments.large else ""))
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump(result, out, indent=2)
    wanted = (result["tshark_over_rocegen_cpu"] >= 20 and result["tcpdump_over_rocegen"] >= 0.5 and peak < 512e6 and
              result["many_qps"]["peak_bytes"] < 1e9 and
              (not arguments.large or result["large"]["peak_bytes"] < 512e6))
    return 1 if arguments.floor and not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
