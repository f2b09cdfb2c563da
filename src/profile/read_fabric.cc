#include "profile/read_fabric.h"

#include <fmt/format.h>

namespace rocegen {
namespace {

using Kind = TopologyConfig::Kind;

/// In the order of the key's choices.
constexpr Kind kKinds[] = {Kind::kLink, Kind::kSingle, Kind::kLeafSpine, Kind::kRail,
                           Kind::kExplicit};

QosMap preset(std::size_t choice) {
    return choice == 0 ? identity_qos() : choice == 1 ? sonic_azure_qos() : nvidia_qos();
}

QosMap read_qos_map(MapReader map) {
    const auto base = map.choice("base");
    QosMap out = preset(base.value_or(0));
    if (!base || *base == 0) {  // what identity does with a DSCP alone
        for (std::size_t dscp = 0; dscp < 64; ++dscp)
            out.dscp_to_tc[dscp] = std::uint8_t(dscp >> 3);
    }
    map.choice("trust", out.trust);
    map.number_map("dscp_to_tc", out.dscp_to_tc);
    map.number_map("pcp_to_tc", out.pcp_to_tc);
    map.number_map("tc_to_queue", out.tc_to_queue);
    map.number_map("tc_to_pg", out.tc_to_group);
    map.priorities("lossless", out.lossless_groups);
    if (map.given("dscp_to_tc") && out.trust != QosMap::Trust::kDscp) {
        map.error("dscp_to_tc", "does nothing unless trust is dscp");
    }
    if (map.given("pcp_to_tc") && out.trust != QosMap::Trust::kPcp) {
        map.error("pcp_to_tc", "does nothing unless trust is pcp");
    }
    return out;
}

void read_topology(MapReader map, Testbed& testbed) {
    TopologyConfig& out = testbed.fabric.topology;
    const auto type = map.choice("type");
    map.count("leaves", out.leaves);
    map.count("spines", out.spines);
    map.count("hosts_per_leaf", out.hosts_per_leaf);
    map.count("rails", out.rails);
    map.count("uplinks", out.uplinks);
    map.bit_rate("uplink_rate", out.uplink.rate);
    map.time("uplink_delay", out.uplink.delay);
    Fixed32 oversubscription;
    map.share("oversubscription", oversubscription);
    out.oversubscription_milli = std::uint32_t((oversubscription.q32 * 1000) >> 32);
    map.time("reroute", testbed.fabric.reroute);
    out.kind = type ? kKinds[*type] : Kind::kLink;
    read_explicit(map, testbed);
    const auto refuse = [&](std::initializer_list<std::string_view> keys, std::string_view types) {
        for (const std::string_view key : keys) {
            if (map.given(key)) map.error(key, fmt::format("belongs to type: {}", types));
        }
    };
    const bool tiers = out.kind == Kind::kLeafSpine || out.kind == Kind::kRail;
    if (out.kind != Kind::kLeafSpine) refuse({"leaves", "hosts_per_leaf"}, "leaf-spine");
    if (out.kind != Kind::kRail) refuse({"rails"}, "rail");
    if (!tiers) {
        refuse({"spines", "uplinks", "uplink_rate", "uplink_delay", "oversubscription"},
               "leaf-spine and rail");
    }
    if (out.kind != Kind::kExplicit) refuse({"switches", "links"}, "explicit");
    if (out.kind == Kind::kLink) refuse({"reroute"}, "a topology with switches");
    if (map.given("uplink_rate") && map.given("oversubscription")) {
        map.error("oversubscription", "sets the uplinks' rate too; give it or uplink_rate");
    }
}

void read_nic(MapReader map, NicConfig& out) {
    map.bit_rate("rx_rate", out.rx_rate);
    map.bytes("rx_buffer", out.rx_buffer_bytes);
    map.bytes("rx_xoff", out.rx_xoff_bytes);
    map.bytes("rx_xon", out.rx_xon_bytes);
    if (out.rx_xon_bytes >= out.rx_xoff_bytes) map.error("rx_xon", "must be below rx_xoff");
    if (out.rx_xoff_bytes >= out.rx_buffer_bytes) map.error("rx_xoff", "must be below rx_buffer");
}

void read_link(MapReader map, Testbed& out) {
    map.bit_rate("rate", out.fabric.link.rate);
    map.time("delay", out.fabric.link.delay);
    map.count("mtu", out.link_mtu);
}

/// A pause names the priority of its group, and NICs pause traffic classes: both must be one.
/// At `key`, which chose it.
void check_lossless(MapReader& map, std::string_view key, const QosMap& qos) {
    for (unsigned group = 0; group < 8; ++group) {
        if (!qos.lossless(std::uint8_t(group))) continue;
        unsigned classes = 0;
        for (unsigned tc = 0; tc < 8; ++tc) classes |= unsigned{qos.tc_to_group[tc] == group} << tc;
        if (classes == 1u << group) continue;
        map.error(key,
                  fmt::format("{}: in the chosen qos, priority group {} is not of traffic class {} "
                              "alone, so a pause would not stop what fills it",
                              group, group, group));
    }
}

void read_pfc(MapReader map, bool alpha_given, bool all, FabricConfig& out) {
    PfcConfig& pfc = out.switches.pfc;
    if (!all && map.given("priorities")) {
        map.error("priorities", "is of the whole fabric: give it at switch.pfc");
    }
    map.priorities("priorities", out.qos.lossless_groups);
    pfc.dynamic = !map.bytes_or_word("xoff_threshold", pfc.xoff_bytes);
    map.bytes("xon_offset", pfc.xon_offset_bytes);
    map.bytes("headroom", pfc.headroom_bytes);
    map.bytes("headroom_pool", pfc.headroom_pool_bytes);
    map.time("response", pfc.response);
    if (all) out.nic.response = pfc.response;
    map.count("quanta", pfc.quanta);
    Fixed32 refresh{std::uint64_t{pfc.refresh_per_mille} * (std::uint64_t{1} << 32) / 1000};
    map.share("refresh", refresh);
    pfc.refresh_per_mille = std::uint32_t((refresh.q32 * 1000 + (std::uint64_t{1} << 31)) >> 32);
    pfc.enabled = out.qos.lossless_groups != 0;
    check_lossless(map, "priorities", out.qos);
    for (const std::string_view key : {"xoff_threshold", "xon_offset", "headroom", "headroom_pool",
                                       "response", "quanta", "refresh"}) {
        if (!pfc.enabled && map.given(key)) {
            map.error(key, "does nothing, since no priority is lossless; leave it out");
        }
    }
    if (!pfc.dynamic && alpha_given) {
        map.error("xoff_threshold",
                  "is a size, so switch.alpha.lossless would do nothing; leave "
                  "one of them out");
    }
}

void read_ecn(MapReader map, EcnConfig& out) {
    map.priorities("priorities", out.queues);
    map.bytes("kmin", out.kmin_bytes);
    map.bytes("kmax", out.kmax_bytes);
    map.share("pmax", out.pmax);
    map.count("average_shift", out.average_shift);
    if (const auto at = map.choice("mark_at")) out.at_dequeue = *at == 1;
    if (const auto not_ect = map.choice("not_ect")) out.drop_not_ect = *not_ect == 0;
}

void read_scheduler(MapReader map, SchedulerConfig& out) {
    map.priorities("strict", out.strict);
    std::uint64_t quantum = out.quantum_bytes;
    map.bytes("quantum", quantum);
    out.quantum_bytes = std::uint32_t(quantum);
    const auto weights = map.node("dwrr");
    if (!weights) return;
    const Key& key = *find_key(KeyDoc::File::kTestbed, "switch.scheduler.dwrr.<queue>");
    ReadContext& context = map.context();
    each_named(context, *weights, map.path_of("dwrr"),
               [&](const std::string& name, const YAML::Node& value, const std::string& path) {
                   const auto queue = parse_count(name, 0, 7);
                   if (!queue.ok()) {
                       return context.error(value, path,
                                            fmt::format("{}: is no queue; 0 to 7 are", name));
                   }
                   if (out.strict & 1u << queue.value()) {
                       return context.error(value, path, "is a strict queue, which has no weight");
                   }
                   const auto weight =
                       parse_count(value.IsScalar() ? value.Scalar() : "", key.min, key.max);
                   if (!weight.ok()) {
                       return context.error(value, path,
                                            fmt::format("{}: {}", shown(value), weight.why()));
                   }
                   out.weights[queue.value()] = std::uint16_t(weight.value());
               });
}

void read_watchdog(MapReader map, WatchdogConfig& out) {
    out.enabled = true;
    map.time("detection", out.detection);
    map.time("poll", out.poll);
    map.time("restoration", out.restoration);
    map.choice("action", out.action);
}

/// `all`: the map that is of every switch, else one's own.
void read_switch(MapReader map, const std::string& path, bool all, FabricConfig& out) {
    SwitchConfig& to = out.switches;
    map.choice("architecture", to.architecture);
    std::uint64_t cell = to.cell_bytes;
    map.bytes("cell", cell);
    to.cell_bytes = std::uint32_t(cell);
    map.bytes("buffer", to.buffer_bytes);
    map.bytes("queue_limit", to.queue_limit_bytes);
    if (const auto reserve = map.node("reserve")) {
        MapReader inner{map.context(), *reserve, path + ".reserve", "switch.reserve"};
        inner.bytes("group", to.group_reserve_bytes);
        inner.bytes("queue", to.queue_reserve_bytes);
    }
    bool alpha_given = false;
    ReadContext& context = map.context();
    if (const auto alpha = map.node("alpha")) {
        MapReader inner{context, *alpha, path + ".alpha", "switch.alpha"};
        inner.share("lossless", to.pfc.alpha);
        inner.share("lossy", to.alpha_lossy);
        alpha_given = inner.given("lossless");
    }
    if (const auto pfc = map.node("pfc")) {
        read_pfc({context, *pfc, path + ".pfc", "switch.pfc"}, alpha_given, all, out);
    }
    if (const auto ecn = map.node("ecn")) {
        read_ecn({context, *ecn, path + ".ecn", "switch.ecn"}, to.ecn);
    }
    if (const auto scheduler = map.node("scheduler")) {
        read_scheduler({context, *scheduler, path + ".scheduler", "switch.scheduler"},
                       to.scheduler);
    }
    if (const auto watchdog = map.node("watchdog")) {
        read_watchdog({context, *watchdog, path + ".watchdog", "switch.watchdog"}, to.watchdog);
    }
}

}  // namespace

void read_fabric(MapReader& map, Testbed& out) {
    ReadContext& context = map.context();
    FabricConfig& fabric = out.fabric;
    if (const auto qos = map.node("qos"); qos && qos->IsMap()) {
        fabric.qos = read_qos_map({context, *qos, "qos", "qos"});
        if (fabric.qos.lossless_groups == 0) fabric.switches.pfc.enabled = false;
    } else if (const auto word = map.choice("qos")) {
        fabric.qos = preset(*word);
    }
    if (const auto topology = map.node("topology")) {
        read_topology({context, *topology, "topology", "topology"}, out);
    }
    if (fabric.topology.kind != Kind::kLink) fabric.nic.response = NicConfig{}.response;
    if (const auto link = map.node("link")) read_link({context, *link, "link", "link"}, out);
    bool pfc_given = false;
    if (const auto node = map.node("switch")) {
        pfc_given = node->IsMap() && (*node)["pfc"].IsDefined();
        read_switch({context, *node, "switch", "switch"}, "switch", true, fabric);
    }
    if (!pfc_given && fabric.topology.kind != Kind::kLink && fabric.switches.pfc.enabled) {
        check_lossless(map, "qos", fabric.qos);
    }
    if (const auto nodes = map.node("switches")) {
        each_named(context, *nodes, "switches",
                   [&](const std::string& name, const YAML::Node& value, const std::string& path) {
                       FabricConfig one = fabric;
                       read_switch({context, value, path, "switch"}, path, false, one);
                       out.fabric_names.overrides.push_back(
                           {{name, context.place(value), path}, one.switches});
                   });
    }
    if (const auto nic = map.node("nic")) read_nic({context, *nic, "nic", "nic"}, fabric.nic);
    if (const auto ecmp = map.node("ecmp")) {
        MapReader inner{context, *ecmp, "ecmp", "ecmp"};
        if (const auto hash = inner.choice("hash")) fabric.ecmp.same_seed = *hash == 1;
        inner.count("seed", fabric.ecmp.seed);
    }
    if (const auto faults = map.node("faults")) read_faults(context, *faults, out);
    // A topology that suits any number of ports leaves what is wrong with the switches.
    FabricConfig switches = fabric;
    switches.topology = {};
    for (const auto& o : out.fabric_names.overrides) switches.overrides.push_back({0, o.config});
    for (const std::string& what : problems(switches, 1)) map.error("switch", what);
}

}  // namespace rocegen
