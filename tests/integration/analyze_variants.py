"""One story, go-back-N with a CE mark, a CNP and a READ, in every wrapping that captures have: containers, byte orders, link
types, tags, tunnels, IP versions, RoCEv1, cut frames, cut files. The numbers are the same each time; tshark counts the same
frames where it reads the file."""
import gzip
import shutil
import struct
import subprocess
import zlib

from _captures import ACK, CNP, READ_REQUEST, SEND_ONLY, T0, analyze, checksum, ip
from _lab import Folder, expect, expect_equal, need

A, B = "10.0.0.1", "10.0.0.2"
ETHER = bytes.fromhex("020000000002" "020000000001")


def address6(text):
    return bytes.fromhex("20010db8") + bytes(8) + ip(text)


def bth(opcode, qp, psn, becn=False):
    return struct.pack("!BBHII", opcode, 0 if opcode == CNP else 0x40, 0xFFFF, (0x40000000 if becn else 0) | qp, psn)


def packet4(source, destination, tos, body, port):
    """IPv4 datagram with its ICRC."""
    total = 28 + len(body) + 4
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, total, 0x1234, 0x4000, 64, 17, 0, ip(source), ip(destination))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    udp = struct.pack("!HHHH", port, 4791, total - 20, 0)
    masked = (b"\xff" * 8 + head[:1] + b"\xff" + head[2:8] + b"\xff" + head[9:10] + b"\xff\xff" + head[12:] + udp[:6] +
              b"\xff\xff" + body[:4] + b"\xff" + body[5:])
    return head + udp + body + struct.pack("<I", zlib.crc32(masked))


def packet6(source, destination, tos, body, port):
    length = 8 + len(body) + 4
    head = struct.pack("!IHBB", 6 << 28 | tos << 20 | 0x12345, length, 17, 64) + address6(source) + address6(destination)
    udp = struct.pack("!HHHH", port, 4791, length, 0xABCD)
    masked = (b"\xff" * 8 + b"\x6f\xff\xff\xff" + head[4:7] + b"\xff" + head[8:] + udp[:6] + b"\xff\xff" + body[:4] + b"\xff" +
              body[5:])
    return head + udp + body + struct.pack("<I", zlib.crc32(masked))


def packet1(source, destination, tos, body, _):
    """RoCEv1: a GRH, and no UDP."""
    head = struct.pack("!IHBB", 6 << 28 | tos << 20, len(body) + 4, 0x1B, 64) + address6(source) + address6(destination)
    masked = b"\xff" * 8 + b"\x6f\xff\xff\xff" + head[4:7] + b"\xff" + head[8:] + body[:4] + b"\xff" + body[5:]
    return head + body + struct.pack("<I", zlib.crc32(masked))


def story(packet):
    """(ns, datagram): PSN 3 is lost, 5 has CE; then a READ of three frames."""
    def data(psn, tos=0x6A):
        return packet(A, B, tos, bth(SEND_ONLY, 17, psn) + bytes(range(64)), 49153)

    def answer(psn, syndrome):
        return packet(B, A, 0x6A, bth(ACK, 34, psn) + struct.pack("!I", syndrome << 24 | 1), 49153)

    def response(psn, opcode):
        extension = b"" if opcode == 0x0E else struct.pack("!I", 0x1F000001)
        return packet(B, A, 0x6A, bth(opcode, 34, psn) + extension + bytes(1024), 49153)

    frames = [data(0), data(1), data(2), data(4), data(5, 0x6B), data(6)]
    frames += [packet(B, A, 0xC0, bth(CNP, 34, 0, True) + bytes(16), 49153), answer(3, 0x60)]
    frames += [data(psn) for psn in range(3, 10)] + [answer(9, 0x1F)]
    frames += [packet(A, B, 0x6A, bth(READ_REQUEST, 17, 10) + struct.pack("!QII", 0, 1, 3072), 49153)]
    frames += [response(10, 0x0D), response(11, 0x0E), response(12, 0x0F), data(13), answer(13, 0x1F)]
    return [(T0 + i * 1000, frame) for i, frame in enumerate(frames)]


def outer_ip(protocol, body):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0, ip("172.16.0.1"), ip("172.16.0.2"))
    return ETHER + b"\x08\x00" + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def outer_udp(port, body):
    return outer_ip(17, struct.pack("!HHHH", 55555, port, 8 + len(body), 0) + body)


TYPES = {packet4: b"\x08\x00", packet6: b"\x86\xdd", packet1: b"\x89\x15"}
ethernet = lambda kind, d: ETHER + TYPES[kind] + d  # noqa: E731
tagged = lambda tags: lambda kind, d: ETHER + bytes.fromhex(tags) + TYPES[kind] + d  # noqa: E731
inner = ethernet
WRAPPINGS = {
    "VLAN": (1, tagged("81006064")),
    "a priority tag": (1, tagged("81006000")),
    "QinQ": (1, tagged("88a8a0c881006064")),
    "0x9100": (1, tagged("9100a0c881006064")),
    "VXLAN": (1, lambda kind, d: outer_udp(4789, b"\x08\0\0\0\0\0\x2a\0" + inner(kind, d))),
    "GENEVE": (1, lambda kind, d: outer_udp(6081, b"\x01\0\x65\x58\0\0\x2a\0" + b"\x01\x02\x03\0" + inner(kind, d))),
    "Ethernet in GRE": (1, lambda kind, d: outer_ip(47, b"\0\0\x65\x58" + inner(kind, d))),
    "GRE with key and sequence": (1, lambda kind, d: outer_ip(47, b"\x30\0\x65\x58\0\0\0\x05\0\0\0\x01" + inner(kind, d))),
    "ERSPAN I": (1, lambda kind, d: outer_ip(47, b"\0\0\x88\xbe" + inner(kind, d))),
    "ERSPAN II": (1, lambda kind, d: outer_ip(47, b"\x10\0\x88\xbe\0\0\0\x01" + b"\x10\x64\x08\x07\0\0\0\x01" + inner(kind, d))),
    "ERSPAN III": (1, lambda kind, d: outer_ip(47, b"\x10\0\x22\xeb\0\0\0\x01" + b"\x20\x64\x08\x07" + bytes(8) +
                                               inner(kind, d))),
    "ERSPAN III with a subheader": (1, lambda kind, d: outer_ip(47, b"\x10\0\x22\xeb\0\0\0\x01" + b"\x20\x64\x08\x07" +
                                                                bytes(7) + b"\x01" + bytes(8) + inner(kind, d))),
    "VXLAN behind a VLAN tag": (1, lambda kind, d: (lambda f: f[:12] + b"\x81\x00\x60\x64" + f[12:])(
        outer_udp(4789, b"\x08\0\0\0\0\0\x2a\0" + inner(kind, d)))),
    "SLL": (113, lambda kind, d: b"\0\0\0\1\0\6\2\0\0\0\0\1\0\0" + TYPES[kind] + d),
    "SLL2": (276, lambda kind, d: TYPES[kind] + b"\0\0\0\0\0\2\0\1\0\6\2\0\0\0\0\1\0\0" + d),
}
IP_ONLY = {
    "raw IP": (101, lambda kind, d: d),
    "raw IP, 228 or 229": (None, lambda kind, d: d),
    "IP in IP": (1, lambda kind, d: outer_ip(4 if kind is packet4 else 41, d)),
    "IP in GRE": (1, lambda kind, d: outer_ip(47, b"\0\0" + TYPES[kind] + d)),
    "MPLS": (1, lambda kind, d: ETHER + b"\x88\x47" + struct.pack("!II", 16 << 12 | 3 << 9 | 64, 17 << 12 | 1 << 8 | 64) + d),
}


JUDGED = ("QinQ", "VXLAN", "GENEVE", "ERSPAN II", "ERSPAN III", "SLL2", "MPLS", "raw IP")


def pcap(records, link, order="<", ns=True, snap=None):
    out = struct.pack(order + "IHHiIII", 0xA1B23C4D if ns else 0xA1B2C3D4, 2, 4, 0, 0, 262144, link)
    for when, frame in records:
        kept = frame[:snap]
        fraction = when % 10**9 // (1 if ns else 1000)
        out += struct.pack(order + "IIII", when // 10**9, fraction, len(kept), len(frame)) + kept
    return out


def block(order, kind, body):
    body += bytes(-len(body) & 3)
    return struct.pack(order + "II", kind, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))


def section(order, interfaces, records):
    """`interfaces`: (link type, tsresol, offset in s); `records`: (ns, interface, frame)."""
    out = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    for link, resolution, offset in interfaces:
        options = struct.pack(order + "HHB3xHHqHH", 9, 1, resolution, 14, 8, offset, 0, 0)
        out += block(order, 1, struct.pack(order + "HHI", link, 0, 0) + options)
    for when, interface, frame in records:
        _, resolution, offset = interfaces[interface]
        ns = when - offset * 10**9
        units = (ns << (resolution & 0x7F)) // 10**9 if resolution & 0x80 else ns * 10**resolution // 10**9
        out += block(order, 6, struct.pack(order + "IIIII", interface, units >> 32, units & 0xFFFFFFFF, len(frame), len(frame)) +
                     frame)
        out += block(order, 0x0BAD if when % 3000 == 0 else 4, b"\0\0\0\0")  # skipped
    return out


def check(report, what, version=2, icrc=22, exact=True):
    frames = 22
    roce = report["roce"]
    expect_equal(roce["frames"], frames, f"{what}: RoCE frames")
    expect_equal((roce["icrc"]["good"], roce["icrc"]["bad"]), (icrc, 0), f"{what}: ICRCs")
    expect_equal((roce["cnp"], roce["nak_sequence"], roce["acks"], roce["ecn"]["ce"]), (1, 1, 2, 1), f"{what}: answers, marks")
    for key, wanted in dict(data_frames=15, unique=12, lost_first_pass=1, missing_at_end=0, received_again=3, retransmitted=3,
                            duplicated=0, reordered=0, capture_gap=0, rewinds=1).items():
        expect_equal(roce["requests"][key], wanted, f"{what}: {key} of requests")
    expect_equal((roce["read_responses"]["data_frames"], roce["read_responses"]["missing_at_end"]), (3, 0), f"{what}: responses")
    expect_equal(report["capture"]["records"], frames, f"{what}: records")
    expect_equal({f["roce_version"] for f in report["flows"]}, {version}, f"{what}: version")
    if exact:
        expect_equal(roce["requests"]["stall_ns"], 5000, f"{what}: stall")
        expect_equal(report["capture"]["duration_ns"], 21_000, f"{what}: duration")


need("zstd")
with Folder() as folder:
    def look(content, what, name="x.cap", **options):
        path = folder.file(name)
        with open(path, "wb") as out:
            out.write(content)
        check(analyze(path), what, **options)
        return path

    read = 0
    for kind, name in ((packet4, "IPv4"), (packet6, "IPv6"), (packet1, "RoCEv1")):
        version = 1 if kind is packet1 else 2
        plain = story(kind)
        wrappings = WRAPPINGS if kind is packet1 else {**WRAPPINGS, **IP_ONLY}
        for wrapping, (link, wrap) in {"Ethernet": (1, ethernet), **wrappings}.items():
            if link is None:
                link = 228 if kind is packet4 else 229
            records = [(when, wrap(kind, datagram)) for when, datagram in plain]
            path = look(pcap(records, link), f"{name} in {wrapping}", version=version)
            if shutil.which("tshark") and kind is packet4 and wrapping in JUDGED:
                done = subprocess.run(["tshark", "-n", "-r", path, "-Y", "infiniband.bth.opcode", "-T", "fields", "-e",
                                       "infiniband.bth.psn"], capture_output=True, text=True)
                expect_equal(len(done.stdout.splitlines()), 22, f"{name} in {wrapping}: RoCE frames by tshark {done.stderr}")
                read += 1
        records = [(when, ethernet(kind, datagram)) for when, datagram in plain]
        for order in "<>":
            for ns in (True, False):
                look(pcap(records, 1, order, ns), f"{name}, {order} pcap, ns {ns}", version=version)
        # Cut frames: all that is needed but the ICRC
        snap = 90 if kind is packet6 else 86
        look(pcap(records, 1, snap=snap), f"{name}, snapped", version=version, icrc=sum(len(f) <= snap for _, f in records))

    records = [(when, ethernet(packet4, datagram)) for when, datagram in story(packet4)]
    sll = [(when, WRAPPINGS["SLL"][1](packet4, datagram)) for when, datagram in story(packet4)]
    for order in "<>":
        for resolution, offset in ((9, 0), (6, 0), (0x80 | 32, 0), (12, 1_699_999_990), (9, 1_000_000_000), (0x80 | 20, -3600)):
            exact = resolution in (9, 12, 6)
            look(section(order, [(1, resolution, offset)], [(w, 0, f) for w, f in records]),
                 f"{order} pcapng, tsresol {resolution:#x}, offset {offset}", exact=exact)
        # Two interfaces of two link types, described in either order
        for first in (0, 1):
            links = [(1, 9, 0), (113, 12, 1_699_999_990)][::-1 if first else 1]
            look(section(order, links, [(records[i][0], 0 if (i % 2 == 0) == (first == 0) else 1,
                                         records[i][1] if i % 2 == 0 else sll[i][1]) for i in range(22)]),
                 f"{order} pcapng, interfaces in order {first}")
    # Two sections of unlike byte order, then a third, each with interfaces of its own
    whole = (section("<", [(1, 9, 0)], [(w, 0, f) for w, f in records[:7]]) +
             section(">", [(276, 6, 0), (113, 9, 0)], [(w, 1, f) for w, f in sll[7:15]]) +
             section("<", [(1, 9, 0)], [(w, 0, f) for w, f in records[15:]]))
    look(whole, "three sections")
    look(gzip.compress(whole), "three sections, gzip")
    done = subprocess.run(["zstd", "-q", "-c"], input=whole, capture_output=True)
    look(done.stdout, "three sections, zstd")
    # Several files, in either order
    for names in (("a", "b"), ("b", "a")):
        for name, part in (("a", records[0::2]), ("b", records[1::2])):
            with open(folder.file(name), "wb") as out:
                out.write(pcap(part, 1, ">" if name == "a" else "<"))
        check(analyze(*(folder.file(n) for n in names)), f"two files {names}")

    # Cut anywhere: what is there is read, and the damage said
    one = section("<", [(1, 9, 0)], [(w, 0, f) for w, f in records])
    sizes = [len(section("<", [(1, 9, 0)], [(w, 0, f) for w, f in records[:n]])) for n in range(23)]
    for form, content, ends in (("pcapng", one, sizes), ("pcap", pcap(records, 1), [len(pcap(records[:n], 1)) for n in range(23)])):
        for at in range(ends[3] + 5, ends[6], 37):
            with open(folder.file("cut"), "wb") as out:
                out.write(content[:at])
            whole_frames = sum(end <= at for end in ends[1:])
            # A pcapng's packet block is followed by one to skip: the frame is there before that is.
            skip = 16 if form == "pcapng" else 0
            whole_frames = sum(end - skip <= at for end in ends[1:])
            at_end = at in ends or (skip and at in [end - skip for end in ends])
            report = analyze(folder.file("cut"), status=0 if at_end else 1)
            expect_equal(report["roce"]["frames"], whole_frames, f"{form} cut at {at}")
            expect(at_end or "cut short" in report["files"][0]["end_reason"], f"{form} cut at {at}: {report['files']}")
print(f"one story in all wrappings; tshark read {read} of them alike")
