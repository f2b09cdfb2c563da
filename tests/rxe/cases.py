"""What Linux's RoCEv2 must say to frames that rocegen makes: by kind of queue pair, a list of cases in order. A case is
a name, flows of a profile (a dict of keys each), how many frames the kernel must accept, the answers it must send and
counters that must move by so much. What is accepted and what is not was measured with rdma_rxe of Linux 6.1."""


class Case:
    """Counters: `recvs` receives completed, `gaps` PSNs too high, `duplicates` PSNs too low."""

    def __init__(self, name, *flows, accepted=None, answers=(), recvs=0, gaps=0, duplicates=0):
        self.name, self.flows, self.answers = name, flows, list(answers)
        self.frames = sum(flow.get("packets", 1) for flow in flows)
        self.accepted = self.frames if accepted is None else accepted
        self.counters = {"rcvd_pkts": self.accepted, "sent_pkts": len(self.answers), "rdma_recvs": recvs,
                         "out_of_seq_request": gaps, "duplicate_request": duplicates}


def ud_cases(qp, v6, longest):
    ud = {"verb": "send", "transport": "ud", "dest_qp": qp, "source_qp": 0x1234, "psn": 1, "message": "5B"}
    one = lambda **keys: {**ud, **keys}  # noqa: E731
    raw = {key: value for key, value in ud.items() if key not in ("verb", "transport")}
    cases = [
        Case("ud send", one()),
        Case("ud send, pad 0 1 2 3", *(one(message=f"{16 + n}B", psn=n) for n in range(4))),
        Case("ud send, empty", one(message="0B")),
        Case("ud send with immediate", one(verb="send-imm", immediate=0xfeedbeef)),
        Case("ud bad icrc", one(icrc="bad"), accepted=0),
        Case("ud icrc 0", one(icrc="zero"), accepted=0),
        Case("ud bad qkey", one(queue_key=0x22222222), accepted=0),
        Case("ud bad pkey", one(pkey=0x7001), accepted=0),
        Case("ud limited-member pkey 7fff", one(pkey=0x7fff)),
        Case("ud no such qp", one(dest_qp=qp + 77), accepted=0),
        Case("ud transport version 1", one(transport_version=1), accepted=0),
        Case("ud tos and ttl altered (masked by the icrc)", one(**{"class": "marked"}, ttl=1)),
        Case("ud ECN CE marked", one(**{"class": "ce"})),
        Case("ud BECN bit", one(becn="true")),
        Case("ud FECN bit", one(fecn="true")),
        Case("ud rc opcode to ud qp", one(transport="rc"), accepted=0),
        Case("unknown opcode 0x1f", {**raw, "protocol": "raw", "opcode": 0x1f}, accepted=0),
        Case("cnp 0x81", {"verb": "cnp", "dest_qp": qp}, accepted=0),
        Case("ud wrong UDP checksum (not zero)", one(checksum="bad"), accepted=0),
        Case("ud right UDP checksum", one(checksum="good")),
        Case("ud UDP checksum 0", one(checksum="zero")),
        Case("other destination MAC", one(to="'c[1]'"), accepted=0),
        Case("other destination IP", one(to="d"), accepted=0),
        Case("any UDP source port", one(udp_source_port=1)),
        Case("UDP source port by the flow label's rule", one(source_ports="flow-label", flow_label=0x93ed3)),
        Case(f"ud payload of {longest}", one(message=f"{longest}B", path_mtu=longest)),
    ]
    if not v6:
        cases.append(Case("ud wrong IPv4 header checksum", one(ip_checksum="bad"), accepted=0))
        cases.append(Case("ud IPv4 id", one(ip_id=0x1234)))
    cases.sort(key=lambda case: case.accepted == 0)  # datagrams have no order: good ones first
    for case in cases:  # every datagram that is accepted fills a receive
        case.counters["rdma_recvs"] = case.accepted
    return cases


def rc_cases(qp, va, rkey):
    rc = {"verb": "send", "dest_qp": qp, "message": "8B"}
    one = lambda psn, **keys: {**rc, "psn": psn, **keys}  # noqa: E731
    write = {"verb": "write", "remote_key": rkey}
    atomic = {"dest_qp": qp, "remote_key": rkey, "virtual_address": va}
    return [
        Case("rc send", one(0x100), answers=["ACK@100"], recvs=1),
        Case("rc send without AckReq", one(0x101, ack_req="none"), recvs=1),
        Case("rc bad icrc", one(0x102, icrc="bad"), accepted=0),
        Case("rc psn too high", one(0x105), answers=["NAK(0)@102"], gaps=1),
        Case("rc psn too high again: no second NAK, not counted again", one(0x106), gaps=0),
        Case("rc duplicate", one(0x100), answers=["ACK@101"], duplicates=1, recvs=0),
        Case("rc expected psn again", one(0x102), answers=["ACK@102"], recvs=1),
        Case("rc write only", one(0x103, **write, virtual_address=va, message="64B"), answers=["ACK@103"]),
        Case("rc write 3 frames", one(0x104, **write, virtual_address=va + 64, message="2500B", packets=3),
             answers=["ACK@106"]),
        Case("rc read 2500", one(0x107, verb="read", remote_key=rkey, virtual_address=va, message="2500B"),
             answers=["op13@107", "op14@108", "op15@109"]),
        Case("rc compare&swap", {**atomic, "verb": "compare-swap", "psn": 0x10a, "operand": 0x1111,
                                 "compare": 0x0706050403020100}, answers=["ACK atomic@10a"]),
        Case("rc fetch&add", {**atomic, "verb": "fetch-add", "psn": 0x10b, "operand": 5}, answers=["ACK atomic@10b"]),
        Case("rc duplicate fetch&add: answered from the stored result",
             {**atomic, "verb": "fetch-add", "psn": 0x10b, "operand": 5}, answers=["ACK atomic@10b"],
             duplicates=1),
        Case("rc write with immediate",
             one(0x10c, verb="write-imm", remote_key=rkey, virtual_address=va, message="2000B", packets=2, immediate=7),
             answers=["ACK@10d"], recvs=1),
        Case("rc ack to a qp that asked nothing", {"verb": "ack", "dest_qp": qp, "psn": 0x200, "msn": 1}),
        Case("rc middle without first",
             one(0x10e, message="2KiB", opcode_order="middle-first", ack_req="all"), answers=["NAK(1)@10e"]),
    ]


def uc_cases(qp, va, rkey):
    uc = {"transport": "uc", "dest_qp": qp, "message": "64B"}
    write = {**uc, "verb": "write", "remote_key": rkey, "virtual_address": va}
    return [
        Case("uc write only", {**write, "psn": 0x100}),
        Case("uc write with a psn jump", {**write, "psn": 0x150}),
        Case("uc send with imm", {**uc, "verb": "send-imm", "psn": 0x151, "immediate": 0x01020304}, recvs=1),
    ]


def vlan_cases(qp):
    return [
        Case("rc send tagged vid 7", {"verb": "send", "dest_qp": qp, "psn": 0x100, "message": "24B", "vlan": 7},
             answers=["ACK@100"], recvs=1),
        Case("rc send tagged vid 8", {"verb": "send", "dest_qp": qp, "psn": 0x101, "message": "24B", "vlan": 8},
             accepted=0),
    ]
