#include "rocegen/profile/behaviours.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/yaml_reader.h"

namespace rocegen {
namespace {

class Resolver {
public:
    Resolver(const Profile& profile, const Testbed& testbed, Diagnostics& diagnostics)
        : profile_(profile), testbed_(testbed), diagnostics_(diagnostics) {}

    FlowBehaviour operator()(const Flow& flow) {
        FlowBehaviour behaviour = flow.behaviour;
        if (behaviour.active()) check_service(flow, behaviour);
        if (behaviour.reno) check_tcp(flow, behaviour);
        behaviour.ack = marks(flow, "class", flow.class_name, {});
        if (!flow.ack_class.empty()) {
            behaviour.ack = marks(flow, "ack_class", flow.ack_class, {});
        }
        // A pure ACK is never ECN-capable (RFC 3168, 6.1.4).
        if (behaviour.reno) behaviour.ack.ecn = kNotEct;
        behaviour.cnp = marks(flow, "cnp_class", flow.cnp_class, kDefaultCnpMarks);
        if (behaviour.dcqcn) check_dcqcn(flow, *behaviour.dcqcn);
        if (behaviour.reacts() && testbed_.kind == Testbed::Kind::kDpdk) {
            const std::string_view key =
                behaviour.dcqcn || behaviour.reno ? "congestion_control" : "reliable";
            diagnostics_.warning(
                flow.places.of(key),
                fmt::format(
                    "{}: ports of kind dpdk do not obey it: the flow is sent open loop, and "
                    "what comes back is counted",
                    flow.places.path_of(key)));
            return open_loop();
        }
        return behaviour;
    }

private:
    void refuse(const Flow& flow, std::string_view key, std::string_view what) {
        diagnostics_.error(flow.places.of(key),
                           fmt::format("{}: {}", flow.places.path_of(key), what));
    }
    /// What can be answered at all, and by which service.
    void check_service(const Flow& flow, FlowBehaviour& behaviour) {
        const std::string_view key = flow.behaviour.dcqcn ? "congestion_control" : "reliable";
        const bool reacts = flow.protocol == Protocol::kRoce && flow.verb != Verb::kReadResponse &&
                            flow.verb != Verb::kAtomicAck && flow.verb != Verb::kAck &&
                            flow.verb != Verb::kNak && flow.verb != Verb::kRnr &&
                            flow.verb != Verb::kCnp && flow.opcode_order == OpcodeOrder::kRight;
        if (!reacts) return refuse(flow, key, "is for requests of protocol roce");
        const bool rc = flow.transport == Transport::kRc || flow.transport == Transport::kXrc;
        behaviour.service = rc                                 ? Service::kRc
                            : flow.transport == Transport::kUc ? Service::kUc
                                                               : Service::kUd;
        if (!rc && behaviour.reliable) {
            refuse(flow, "reliable", "only transport rc and xrc acknowledge; uc and ud do not");
        }
        if (behaviour.service == Service::kUd) {
            refuse(flow, "congestion_control",
                   "a CNP names a queue pair's peer, and datagrams have none");
        }
        const bool read = flow.verb == Verb::kRead;
        const bool atomic = flow.verb == Verb::kCompareSwap || flow.verb == Verb::kFetchAdd;
        const std::uint64_t span =
            read ? packets_per_message(flow.message_bytes, flow.path_mtu) : 1;
        if (behaviour.reliable && span > behaviour.requester.window) {
            refuse(flow, "reliable",
                   fmt::format("a READ of {} takes {} PSNs, and the window is {}; make it larger",
                               bytes_text(flow.message_bytes), span, behaviour.requester.window));
        }
        if (read || atomic) {  // no more of them outstanding than the responder keeps
            behaviour.requester.window = std::uint32_t(std::min<std::uint64_t>(
                behaviour.requester.window, span * behaviour.requester.max_reads));
        }
    }
    void check_tcp(const Flow& flow, FlowBehaviour& behaviour) {
        if (flow.protocol != Protocol::kTcp) {
            return refuse(flow, "congestion_control",
                          "reno is for protocol tcp; of roce say dcqcn");
        }
        if (!flow.sizes.empty()) {
            refuse(flow, "message_sizes", "Reno TCP sends messages of one size; say message");
        }
        behaviour.reno->ecn = class_ecn(flow) != kNotEct;
    }
    std::uint8_t class_ecn(const Flow& flow) const {
        for (const TrafficClass& c : profile_.classes) {
            if (c.name == flow.class_name) return c.ecn;
        }
        return kNotEct;
    }
    ReplyMarks marks(const Flow& flow, std::string_view key, const std::string& name,
                     ReplyMarks without) {
        if (name.empty()) return with_priority(without);
        std::vector<std::string> names;
        for (const TrafficClass& c : profile_.classes) {
            names.push_back(c.name);
            if (c.name == name) return with_priority({c.dscp, c.ecn, c.priority()});
        }
        if (key != "class") {  // of that one build_plan() says it
            diagnostics_.error(
                flow.places.of(key),
                fmt::format("{}: {}: the profile has no such class{}", flow.places.path_of(key),
                            name, did_you_mean(name, names)));
        }
        return without;
    }
    /// What a pause of the network's class stops.
    ReplyMarks with_priority(ReplyMarks marks) const {
        if (testbed_.kind == Testbed::Kind::kDpdk) return marks;
        marks.priority = testbed_.fabric.qos.traffic_class(marks.priority, marks.dscp);
        return marks;
    }
    void check_dcqcn(const Flow& flow, const DcqcnParameters& parameters) {
        const BitRate line =
            testbed_.ports.empty() ? testbed_.fabric.link.rate : testbed_.ports.front().link_rate;
        for (const std::string& what : check(parameters, line)) {
            diagnostics_.error(
                flow.places.of("congestion_control"),
                fmt::format("{}.{}", flow.places.path_of("congestion_control"), what));
        }
    }

    const Profile& profile_;
    const Testbed& testbed_;
    Diagnostics& diagnostics_;
};

}  // namespace

std::vector<FlowBehaviour> behaviours_of(const Profile& profile, const Testbed& testbed,
                                         Diagnostics& diagnostics) {
    std::vector<FlowBehaviour> behaviours;
    Resolver resolve{profile, testbed, diagnostics};
    for (const Flow& flow : profile.flows) behaviours.push_back(resolve(flow));
    return behaviours;
}

}  // namespace rocegen
