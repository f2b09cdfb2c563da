#include "rocegen/report/diff_report.h"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "rocegen/report/format.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;

struct Named {
    const char* name;
    const char* words;
    std::uint64_t DiffCounts::*value;
};
constexpr Named kCounts[] = {
    {"before", "before", &DiffCounts::before},
    {"after", "after", &DiffCounts::after},
    {"matched", "found again", &DiffCounts::matched},
    {"lost", "lost", &DiffCounts::lost},
    {"duplicated", "duplicated", &DiffCounts::duplicated},
    {"appeared", "after alone", &DiffCounts::appeared},
    {"outside", "outside of the other capture", &DiffCounts::outside},
    {"reordered", "reordered", &DiffCounts::reordered},
    {"sent_again", "sent again", &DiffCounts::sent_again},
    {"newly_ce", "newly CE", &DiffCounts::newly_ce},
    {"ce_cleared", "CE cleared", &DiffCounts::ce_cleared},
    {"ecn_changed", "ECN changed otherwise", &DiffCounts::ecn_changed},
    {"dscp_changed", "DSCP changed", &DiffCounts::dscp_changed},
    {"pcp_changed", "PCP changed", &DiffCounts::pcp_changed},
    {"vlan_changed", "VLAN changed", &DiffCounts::vlan_changed},
    {"ttl_changed", "TTL changed", &DiffCounts::ttl_changed},
    {"corrupted", "corrupted", &DiffCounts::corrupted},
};
static_assert(std::size(kCounts) * sizeof(std::uint64_t) == sizeof(DiffCounts));

void put_counts(Json& into, const DiffCounts& counts) {
    for (const Named& count : kCounts) into[count.name] = counts.*count.value;
}

Json changes_json(const CaptureDiff::Changes& changes) {
    Json list = Json::array();
    for (const auto& [change, frames] : changes) {
        list.push_back({{"before", change.first}, {"after", change.second}, {"frames", frames}});
    }
    return list;
}

std::string changes_text(const char* name, const CaptureDiff::Changes& changes) {
    std::string text;
    for (const auto& [change, frames] : changes) {
        text += fmt::format("{}{} to {}: {}", text.empty() ? "" : ", ", change.first, change.second,
                            frames);
    }
    return text.empty() ? text : fmt::format("{} {}\n", name, text);
}

/// What is taken off: with clocks that are not one, the least difference counts as no delay.
std::int64_t base_of(const DiffReport& report) {
    return report.same_clock || !report.matched_any() ? 0 : report.diff.delays().min();
}

std::string flow_text(const FlowKey& key) {
    return fmt::format("{} > {} QP {:#x}{}", to_text(key.source), to_text(key.destination),
                       key.dest_qp, key.response ? ", responses" : "");
}

/// Flows with most trouble first, and of equal ones those that came first.
std::vector<const CaptureDiff::Flow*> by_trouble(const CaptureDiff& diff) {
    std::vector<const CaptureDiff::Flow*> flows;
    for (const CaptureDiff::Flow& flow : diff.flows()) flows.push_back(&flow);
    const auto trouble = [](const DiffCounts& c) {
        return c.lost + c.duplicated + c.reordered + c.corrupted + c.newly_ce;
    };
    std::stable_sort(flows.begin(), flows.end(), [&](const auto* a, const auto* b) {
        return trouble(a->counts) > trouble(b->counts);
    });
    return flows;
}

}  // namespace

std::vector<std::string> DiffReport::remarks() const {
    std::vector<std::string> lines = damage;
    if (!matched_any()) {
        lines.push_back(
            "no frame of the first capture was found in the second: other traffic, or other times");
    }
    if (!diff.options().by_content) {
        lines.push_back(
            "a capture holds cut frames: matched by flow and PSN alone, not by content");
    }
    if (!same_clock && matched_any()) {
        lines.push_back(
            fmt::format("clocks: not known to be one; their offset and the least delay together "
                        "are {} ns, taken "
                        "as 0 (--same-clock if they are one)",
                        diff.delays().min()));
    }
    if (diff.delays().count() > 0 && diff.delays().unit_ns() > 1) {
        lines.push_back(fmt::format("delays: over a million different ones; in steps of {} ns",
                                    diff.delays().unit_ns()));
    }
    if (diff.settled_early() > 0) {
        lines.push_back(fmt::format(
            "{} frames were settled before the window ended, for want of room: use a shorter "
            "--window",
            diff.settled_early()));
    }
    if (diff.frames_not_tracked() > 0) {
        lines.push_back(fmt::format(
            "{} frames are of flows over the {} that are told apart (--max-flows): they "
            "are in no number",
            diff.frames_not_tracked(), diff.options().flow_limit));
    }
    return lines;
}

std::string to_text(const DiffReport& report, std::size_t most_flows) {
    std::string text;
    for (const std::string& line : report.remarks()) text += line + "\n";
    text += fmt::format("Before: {}\nAfter:  {}\n", report.before, report.after);
    if (!report.filter.empty()) text += fmt::format("Filter: {}\n", report.filter);
    const DiffCounts sum = report.diff.sum();
    text += "\nRoCE frames\n";
    for (const Named& count : kCounts) {
        text += fmt::format("  {:<30}{}\n", count.words, sum.*count.value);
    }
    const DelayCounts& delays = report.diff.delays();
    const std::int64_t base = base_of(report);
    if (delays.count() > 0) {
        text += fmt::format(
            "\n{}: min {} ns, p50 {} ns, p90 {} ns, p99 {} ns, p99.9 {} ns, max {} ns\n",
            report.same_clock ? "Delay" : "Delay above the least", delays.min() - base,
            delays.quantile(500) - base, delays.quantile(900) - base, delays.quantile(990) - base,
            delays.quantile(999) - base, delays.max() - base);
    }
    text += changes_text("DSCP", report.diff.dscp_changes());
    text += changes_text("PCP", report.diff.pcp_changes());
    text += changes_text("TTL", report.diff.ttl_changes());
    const auto flows = by_trouble(report.diff);
    if (flows.empty()) return text;
    Table table;
    table.column("flow", Table::Align::kLeft);
    for (const char* name :
         {"before", "lost", "dup", "reordered", "newly CE", "corrupted", "delay max ns"}) {
        table.column(name);
    }
    for (std::size_t i = 0; i < std::min(flows.size(), most_flows); ++i) {
        const DiffCounts& c = flows[i]->counts;
        table.row({flow_text(flows[i]->key), std::to_string(c.before), std::to_string(c.lost),
                   std::to_string(c.duplicated), std::to_string(c.reordered),
                   std::to_string(c.newly_ce), std::to_string(c.corrupted),
                   c.matched ? std::to_string(flows[i]->delay_ns_max - base) : "-"});
    }
    text += "\n" + table.text();
    if (flows.size() > most_flows) {
        text += fmt::format("{} more flows: see --json\n", flows.size() - most_flows);
    }
    return text;
}

std::string to_json(const DiffReport& report) {
    const DelayCounts& delays = report.diff.delays();
    const std::int64_t base = base_of(report);
    const bool any = delays.count() > 0;
    Json json;
    json["remarks"] = report.remarks();
    json["before_file"] = report.before;
    json["after_file"] = report.after;
    json["filter"] = report.filter.empty() ? Json(nullptr) : Json(report.filter);
    json["matched_by"] = report.diff.options().by_content ? "flow, PSN and ICRC" : "flow and PSN";
    json["same_clock"] = report.same_clock;
    json["clock_offset_ns"] = report.same_clock ? Json(0) : Json(nullptr);
    json["least_difference_ns"] = any ? Json(delays.min()) : Json(nullptr);
    json["window_ns"] = report.diff.options().window_ns;
    put_counts(json["frames"], report.diff.sum());
    json["frames_not_tracked"] = report.diff.frames_not_tracked();
    Json& delay = json["delay_ns"];
    delay["count"] = delays.count();
    delay["relative"] = !report.same_clock;
    const auto put = [&](const char* name, std::int64_t value) {
        delay[name] = any ? Json(value - base) : Json(nullptr);
    };
    put("min", delays.min());
    for (const auto& [name, permille] :
         {std::pair{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p999", 999}}) {
        put(name, any ? delays.quantile(std::uint64_t(permille)) : 0);
    }
    put("max", delays.max());
    json["dscp_changes"] = changes_json(report.diff.dscp_changes());
    json["pcp_changes"] = changes_json(report.diff.pcp_changes());
    json["ttl_changes"] = changes_json(report.diff.ttl_changes());
    Json& flows = json["flows"] = Json::array();
    for (const CaptureDiff::Flow& flow : report.diff.flows()) {
        Json& entry = flows.emplace_back();
        entry["source"] = to_text(flow.key.source);
        entry["destination"] = to_text(flow.key.destination);
        entry["dest_qp"] = flow.key.dest_qp;
        entry["space"] = flow.key.response ? "response" : "request";
        put_counts(entry, flow.counts);
        const bool matched = flow.counts.matched > 0;
        entry["delay_ns_min"] = matched ? Json(flow.delay_ns_min - base) : Json(nullptr);
        entry["delay_ns_max"] = matched ? Json(flow.delay_ns_max - base) : Json(nullptr);
    }
    return json.dump(2) + "\n";
}

}  // namespace rocegen
