#include "profile/place_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "profile/yaml_reader.h"

namespace rocegen {
namespace {

constexpr std::uint32_t kNoPort = ~0u;

/// Groups that the flows name as `from` before they name them as `to`.
std::set<std::string_view> source_groups(const Profile& profile) {
    std::set<std::string_view> sources, seen;
    for (const Flow& flow : profile.flows) {
        if (seen.insert(flow.from.group).second) sources.insert(flow.from.group);
        seen.insert(flow.to.group);
    }
    return sources;
}

/// Takes the hosts of `span` for `port`; the first one that has another port already is returned.
std::optional<std::uint32_t> take(HostSpan span, std::uint32_t port,
                                  std::vector<std::uint32_t>& port_of) {
    for (std::uint32_t host = span.first; host < span.end(); ++host) {
        if (port_of[host] != kNoPort) return host;
        port_of[host] = port;
    }
    return std::nullopt;
}

void take_listed(const Testbed& testbed, const std::vector<GroupSpan>& groups,
                 std::vector<std::uint32_t>& port_of, Diagnostics& diagnostics) {
    for (std::uint32_t port = 0; port < testbed.ports.size(); ++port) {
        const TestbedPort& from = testbed.ports[port];
        const std::string path = from.places.path_of("hosts");
        for (const HostRef& ref : from.hosts.listed) {
            const auto span = resolve(ref, path, groups, diagnostics);
            if (!span) continue;
            if (const auto twice = take(*span, port, port_of)) {
                diagnostics.error(
                    ref.place, fmt::format("{}: {}: port {} carries it already, at least in part",
                                           path, ref.text, testbed.ports[port_of[*twice]].name));
            }
        }
    }
}

void take_rest(const Profile& profile, const Testbed& testbed, const std::vector<GroupSpan>& groups,
               HostSet::Kind kind, std::vector<std::uint32_t>& port_of, Diagnostics& diagnostics) {
    const auto sources = source_groups(profile);
    const TestbedPort* taken = nullptr;
    for (std::uint32_t port = 0; port < testbed.ports.size(); ++port) {
        const TestbedPort& from = testbed.ports[port];
        if (from.hosts.kind != kind) continue;
        if (taken) {
            diagnostics.error(from.places.of("hosts"),
                              fmt::format("{}: port {} has the same word; list the groups instead",
                                          from.places.path_of("hosts"), taken->name));
            continue;
        }
        taken = &from;
        for (const GroupSpan& group : groups) {
            if (kind == HostSet::Kind::kSources && !sources.contains(group.group->name)) continue;
            for (std::uint32_t h = group.hosts.first; h < group.hosts.end(); ++h) {
                if (port_of[h] == kNoPort) port_of[h] = port;
            }
        }
    }
}

void refuse_unplaced(const Testbed& testbed, const std::vector<GroupSpan>& groups,
                     const std::vector<std::uint32_t>& port_of, Diagnostics& diagnostics) {
    for (const GroupSpan& group : groups) {
        std::uint32_t missing = 0, first = 0;
        for (std::uint32_t h = group.hosts.end(); h-- > group.hosts.first;) {
            if (port_of[h] != kNoPort) continue;
            ++missing;
            first = h - group.hosts.first;
        }
        if (missing == 0) continue;
        diagnostics.error(
            group.group->places.self,
            fmt::format("hosts.{}: no port of testbed {} carries {}[{}]{}; add it to a port's "
                        "hosts, or say hosts: rest at one",
                        group.group->name, testbed.name, group.group->name, first,
                        missing == 1 ? "" : fmt::format(" and {} more", missing - 1)));
    }
}

MacAddress mac_of(std::uint32_t host) {
    MacAddress mac{{0x02, 0x00}};  // locally administered, unicast
    for (unsigned i = 0; i < 4; ++i) mac.bytes[2 + i] = std::uint8_t((host + 1) >> (24 - 8 * i));
    return mac;
}

}  // namespace

std::vector<GroupSpan> group_spans(const Profile& profile) {
    std::vector<GroupSpan> spans;
    std::uint32_t next = 0;
    for (const HostGroup& group : profile.hosts) {
        spans.push_back({&group, {next, group.count}});
        next += group.count;
    }
    return spans;
}

std::optional<HostSpan> resolve(const HostRef& ref, std::string_view path,
                                const std::vector<GroupSpan>& groups, Diagnostics& diagnostics) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const GroupSpan& g) { return g.group->name == ref.group; });
    if (found == groups.end()) {
        std::vector<std::string> names;
        for (const GroupSpan& g : groups) names.push_back(g.group->name);
        diagnostics.error(ref.place,
                          fmt::format("{}: {}: the profile has no host group {}{}", path, ref.text,
                                      ref.group, did_you_mean(ref.group, names)));
        return std::nullopt;
    }
    if (!ref.range) return found->hosts;
    if (ref.range->last >= found->hosts.count) {
        diagnostics.error(ref.place,
                          fmt::format("{}: {}: {} has {} host{}: its members are 0 to {}", path,
                                      ref.text, ref.group, found->hosts.count,
                                      found->hosts.count == 1 ? "" : "s", found->hosts.count - 1));
        return std::nullopt;
    }
    return HostSpan{found->hosts.first + ref.range->first, ref.range->last - ref.range->first + 1};
}

std::vector<HostPlan> place_hosts(const Profile& profile, const Testbed& testbed,
                                  const std::vector<GroupSpan>& groups, Diagnostics& diagnostics) {
    const std::uint32_t count = groups.empty() ? 0 : groups.back().hosts.end();
    const bool common = std::any_of(testbed.ports.begin(), testbed.ports.end(),
                                    [](const TestbedPort& port) { return !port.prefix; });
    if ((common || testbed.ports.empty()) && count > testbed.prefix.host_count()) {
        diagnostics.error(testbed.places.of("prefix"),
                          fmt::format("prefix: {}: has addresses for {} hosts and the profile has "
                                      "{}; give a shorter prefix",
                                      to_text(testbed.prefix), testbed.prefix.host_count(), count));
    }
    std::vector<std::uint32_t> port_of(count, kNoPort);
    if (testbed.has_switches()) std::iota(port_of.begin(), port_of.end(), 0u);
    take_listed(testbed, groups, port_of, diagnostics);
    take_rest(profile, testbed, groups, HostSet::Kind::kSources, port_of, diagnostics);
    take_rest(profile, testbed, groups, HostSet::Kind::kRest, port_of, diagnostics);
    refuse_unplaced(testbed, groups, port_of, diagnostics);

    std::vector<HostPlan> hosts;
    hosts.reserve(count);
    std::vector<std::uint64_t> next(testbed.ports.size());  // address of a port's own prefix
    const auto ip_of = [&](const HostGroup& group, std::uint32_t member, std::uint32_t index) {
        if (group.prefix) return group.prefix->host(member);
        const std::uint32_t port = port_of[index];
        if (port >= testbed.ports.size() || !testbed.ports[port].prefix) {
            return testbed.prefix.host(index);
        }
        const TestbedPort& from = testbed.ports[port];
        IpAddress ip = from.prefix->host(next[port]++);
        if (ip == from.gateway) ip = from.prefix->host(next[port]++);
        return ip;
    };
    for (const GroupSpan& group : groups) {
        for (std::uint32_t i = 0; i < group.hosts.count; ++i) {
            const std::uint32_t index = group.hosts.first + i;
            hosts.push_back({.name = fmt::format("{}[{}]", group.group->name, i),
                             .group = group.group->name,
                             .port = port_of[index],
                             .mac = mac_of(index),
                             .ip = ip_of(*group.group, i, index)});
        }
    }
    for (std::uint32_t port = 0; port < testbed.ports.size(); ++port) {
        const TestbedPort& from = testbed.ports[port];
        if (!from.prefix || next[port] <= from.prefix->host_count()) continue;
        diagnostics.error(from.places.of("prefix"),
                          fmt::format("{}: {}: has {} addresses and the port needs {}, the "
                                      "gateway's among them; give a shorter prefix",
                                      from.places.path_of("prefix"), to_text(*from.prefix),
                                      from.prefix->host_count(), next[port]));
    }
    return hosts;
}

}  // namespace rocegen
