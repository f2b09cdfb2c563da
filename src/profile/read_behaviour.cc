#include "profile/read_behaviour.h"

#include <fmt/format.h>

namespace rocegen {
namespace {

/// In the order of the key's choices.
constexpr CnpScope kScopes[] = {CnpScope::kQueuePair, CnpScope::kIpPair, CnpScope::kDestinationIp,
                                CnpScope::kPort};

struct ReadField {
    MapReader& map;
    const DcqcnField& field;
    DcqcnParameters& out;

    void operator()(Picoseconds DcqcnParameters::*member) { map.time(field.name, out.*member); }
    void operator()(RateSpec DcqcnParameters::*member) { map.line_rate(field.name, out.*member); }
    void operator()(bool DcqcnParameters::*member) { map.boolean(field.name, out.*member); }
    void operator()(std::uint64_t DcqcnParameters::*member) {
        if (field.unit == DcqcnUnit::kBytes) return map.bytes(field.name, out.*member);
        if (field.unit == DcqcnUnit::kCount) return map.count(field.name, out.*member);
        Fixed32 ratio{out.*member};
        map.share(field.name, ratio);
        out.*member = ratio.q32;
    }
};

void read_reno(MapReader map, TcpOptions& out) {
    map.count("initial_window", out.initial_window);
    map.count("slow_start_threshold", out.initial_slow_start_threshold);
    map.count("receive_window", out.receive_window);
    map.count("duplicate_acks", out.duplicate_acks);
    map.time("rto_initial", out.rto_initial);
    map.time("rto_min", out.rto_min);
    map.time("rto_max", out.rto_max);
    map.count("ack_every", out.ack_every);
    map.time("delayed_ack", out.delayed_ack);
    if (out.rto_min > out.rto_max) map.error("rto_min", "is more than rto_max; lower it");
}

void read_congestion_control(MapReader map, FlowBehaviour& out) {
    const auto set = map.choice("dcqcn");
    if (const auto reno = map.node("reno")) {
        read_reno({map.context(), *reno, map.path_of("reno"), "flows[].congestion_control.reno"},
                  out.reno.emplace());
        if (set) map.error("reno", "answers congestion of TCP, dcqcn of RoCE; take one of them");
    } else if (!set) {
        map.error("dcqcn", "is missing; name its set, or say reno");
    }
    const DcqcnSet& chosen = dcqcn_sets()[set.value_or(0)];
    DcqcnParameters parameters = chosen.parameters;
    if (const auto scope = map.choice("cnp_per")) out.cnp_scope = kScopes[*scope];
    for (const DcqcnField& field : dcqcn_fields()) {
        std::visit(ReadField{map, field, parameters}, field.member);
        if (!set && out.reno && map.given(field.name)) map.error(field.name, "is of dcqcn");
    }
    if (!set) return;
    out.dcqcn_set = chosen.name;
    out.dcqcn = parameters;
}

void read_reliable(MapReader map, FlowBehaviour& out) {
    map.count("window", out.requester.window);
    map.count("timeout", out.requester.timeout_code);
    map.count("retry_count", out.requester.retry_count);
    map.count("rnr_retry", out.requester.rnr_retry);
    map.count("max_reads", out.requester.max_reads);
    map.count("ack_every", out.responder.ack_every);
    map.boolean("ack_message_end", out.responder.ack_message_end);
    map.count("receives", out.responder.receives);
    map.time("repost", out.responder.repost);
    map.count("rnr_timer", out.responder.rnr_timer);
    if (map.given("repost") && !map.given("receives")) {
        map.error("repost", "does nothing where a receive is always ready; give receives too");
    }
}

}  // namespace

void read_behaviour(MapReader& map, Flow& out) {
    ReadContext& context = map.context();
    FlowBehaviour& behaviour = out.behaviour;
    std::string word;
    if (const auto node = map.map_or_word("congestion_control", word)) {
        read_congestion_control(
            {context, *node, map.path_of("congestion_control"), "flows[].congestion_control"},
            behaviour);
    }
    if (word == "reno") behaviour.reno.emplace();
    word.clear();
    const auto reliable = map.map_or_word("reliable", word);
    behaviour.reliable = behaviour.acknowledge = reliable || word == "true";
    if (reliable) {
        read_reliable({context, *reliable, map.path_of("reliable"), "flows[].reliable"}, behaviour);
    }
    // Each queue pair is slowed, stopped and sent again by itself.
    out.source_per_qp = behaviour.reacts();
    map.name("cnp_class", out.cnp_class);
    map.name("ack_class", out.ack_class);
    if (!behaviour.dcqcn && map.given("cnp_class")) {
        map.error("cnp_class", "marks CNPs, which only congestion_control: {dcqcn: ...} sends");
    }
    if (!behaviour.reliable && !behaviour.reno && map.given("ack_class")) {
        map.error("ack_class",
                  "marks ACKs, which only reliable: true and congestion_control: reno send");
    }
}

}  // namespace rocegen
