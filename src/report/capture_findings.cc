#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rocegen/report/capture_report.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

/// So many of one kind are named; the rest is counted.
constexpr std::size_t kNamed = 8;
/// A flow of fewer frames is not judged by its marks.
constexpr std::uint64_t kJudged = 4;
/// QPs of one source on one UDP port; and XONs in a row that end nothing.
constexpr std::size_t kCrowd = 8, kXonStorm = 100;

std::string duration(std::int64_t ns) { return with_unit(double(ns), "ns", 6); }

class Findings {
public:
    explicit Findings(const CaptureReport& report) : report_(report) {}
    std::vector<Finding> all() {
        marks();
        answers();
        ports();
        classes();
        pauses();
        copies();
        clocks();
        return std::move(list_);
    }

private:
    const std::deque<CaptureFlow>& flows() const { return report_.flows.flows(); }
    void add(std::string_view kind, std::string text) { list_.push_back({kind, std::move(text)}); }
    void add(std::string_view kind, std::vector<std::string> names, std::string_view text) {
        if (names.empty()) return;
        const std::size_t count = names.size();
        names.resize(std::min(count, kNamed));
        std::string joined = fmt::format("{}", fmt::join(names, "; "));
        if (count > kNamed) joined += fmt::format("; and {} more", count - kNamed);
        add(kind, fmt::format("{}: {}", text, joined));
    }
    static bool is_data(const CaptureFlow& flow) {
        return flow.psn.started() && flow.key.dest_qp > 1;
    }
    static bool has_dscp(const std::vector<std::uint8_t>& list, std::uint8_t dscp) {
        return std::find(list.begin(), list.end(), dscp) != list.end();
    }

    void marks() {
        std::array<bool, 64> marked_class{};
        for (const CaptureFlow& flow : flows()) {
            if (flow.ecn[kCe] == 0) continue;
            for (const auto& [dscp, count] : flow.dscp) marked_class[dscp & 63] = true;
        }
        std::vector<std::string> at_source, not_capable, silent;
        for (const CaptureFlow& flow : flows()) {
            if (!is_data(flow)) continue;
            if (flow.ecn[kCe] == flow.frames && flow.frames >= kJudged) {
                at_source.push_back(flow_name(flow));
            }
            const bool shares = std::any_of(flow.dscp.begin(), flow.dscp.end(), [&](const auto& d) {
                return marked_class[d.first & 63];
            });
            if (flow.ecn[kNotEct] == flow.frames && shares) not_capable.push_back(flow_name(flow));
            if (flow.ecn[kCe] > 0 && report_.flows.answered(flow) && !cnp_between(flow)) {
                silent.push_back(flow_name(flow));
            }
        }
        add("marked_at_source", at_source,
            "CE from the first frame on, and on every one: marked at the source or in front of the "
            "first queue");
        add("not_ecn_capable", not_capable,
            "Not-ECT in a class in which others are marked: dropped where these are marked");
        add("no_cnp", silent, "receiver sends no CNP, though it gets CE and answers");
        if (report_.totals.ce_on_cnp > 0) {
            add("ce_on_cnp", fmt::format("{} CNPs arrived with CE", report_.totals.ce_on_cnp));
        }
        if (report_.totals.ce_on_ack > 0) {
            add("ce_on_ack", fmt::format("{} ACKs arrived with CE", report_.totals.ce_on_ack));
        }
    }
    /// Whether any CNP went back from the flow's destination.
    bool cnp_between(const CaptureFlow& flow) {
        if (!indexed_) {
            for (const CnpTarget& target : report_.flows.cnp_targets()) {
                for (const auto& [source, count] : target.sources) {
                    cnp_pairs_.insert({target.address.bytes, source.bytes});
                }
            }
            indexed_ = true;
        }
        return flow.watch.cnps > 0 ||
               cnp_pairs_.contains({flow.key.source.bytes, flow.key.destination.bytes});
    }

    void answers() {
        std::vector<std::string> rnr;
        for (const CaptureFlow& flow : flows()) {
            std::uint64_t count = 0;
            for (const auto& [syndrome, n] : flow.syndromes) {
                if (syndrome >> 5 == 1) count += n;
            }
            if (count > 0) rnr.push_back(fmt::format("{} {}", flow_name(flow), count));
        }
        add("rnr", rnr, "receiver not ready: no receive request was posted");
    }

    void ports() {
        struct Crowd {
            std::map<std::uint16_t, std::size_t> by_port;
            std::size_t flows = 0;
        };
        std::map<std::array<std::uint8_t, 16>, Crowd> sources;
        for (const CaptureFlow& flow : flows()) {
            if (flow.key.response || !is_data(flow) || flow.source_ports.empty()) continue;
            Crowd& crowd = sources[flow.key.source.bytes];
            ++crowd.flows;
            for (const auto& [port, count] : flow.source_ports) ++crowd.by_port[port];
        }
        std::vector<std::string> crowded;
        for (const auto& [source, crowd] : sources) {
            for (const auto& [port, count] : crowd.by_port) {
                if (count < kCrowd || count * 2 < crowd.flows) continue;
                crowded.push_back(fmt::format("{} port {}: {} of {} QPs",
                                              to_text(IpAddress{source}), port, count,
                                              crowd.flows));
            }
        }
        add("one_source_port", crowded,
            "queue pairs crowded on one UDP source port take one path through ECMP and bonds");
    }

    void classes() {
        std::array<std::uint64_t, 64> data{}, cnp{};
        std::vector<std::string> lossy;
        for (const CaptureFlow& flow : flows()) {
            if (flow.key.response || !is_data(flow)) continue;
            for (const auto& [dscp, count] : flow.dscp) {
                data[dscp & 63] += count;
                if (!report_.lossless_dscp.empty() && !has_dscp(report_.lossless_dscp, dscp)) {
                    lossy.push_back(fmt::format("{} DSCP {}", flow_name(flow), dscp));
                }
            }
        }
        for (const CnpTarget& target : report_.flows.cnp_targets()) {
            for (const auto& [dscp, count] : target.dscp) cnp[dscp & 63] += count;
        }
        for (std::size_t dscp = 0; dscp < 64; ++dscp) {
            if (cnp[dscp] == 0) continue;
            const bool lossless = has_dscp(report_.lossless_dscp, std::uint8_t(dscp));
            if (data[dscp] == 0 && !lossless) continue;
            add("cnp_in_data_class",
                fmt::format("{} CNPs have the data's DSCP {}: they wait behind what they should "
                            "slow",
                            cnp[dscp], dscp));
        }
        add("lossy_class", lossy, "RDMA data outside of the lossless DSCPs");
    }

    void pauses() {
        const PauseLedger& pause = report_.pause;
        for (const PauseSpan& s : pause.storms()) {
            add("storm", fmt::format("storm: {} kept {} paused for {} without lapse, from {} s on",
                                     to_text(s.by), priority(s.priority), duration(s.length_ns),
                                     seconds_text(s.start_ns)));
        }
        for (const PauseSpan& s : pause.deadlocks()) {
            std::string who = to_text(s.by);
            for (const MacAddress& other : s.others) {
                who += (&other == &s.others.back() ? " and " : ", ") + to_text(other);
            }
            add("deadlock", fmt::format("possible deadlock: {} held {} paused at the same time for "
                                        "{}, from {} s on",
                                        who, priority(s.priority), duration(s.length_ns),
                                        seconds_text(s.start_ns)));
        }
        for (const PauseLedger::Source& source : pause.sources()) {
            if (source.mac_known && source.mac == MacAddress{}) {
                add("zero_mac", "pause frames whose source MAC is 00:00:00:00:00:00");
            }
            const std::string by = source.mac_known ? to_text(source.mac) : "-";
            for (std::uint8_t i = 0; i < 9; ++i) {
                const PauseCounts& c = i < 8 ? source.priorities[i] : source.global;
                pause_of(by, i, c);
            }
        }
    }
    void pause_of(const std::string& by, std::uint8_t index, const PauseCounts& c) {
        if (c.xon_idle_run >= kXonStorm) {
            add("xon_storm", fmt::format("XON storm: {} sent {} XONs of {} in a row that ended no "
                                         "pause",
                                         by, c.xon_idle_run, priority(index)));
        }
        if (c.lapses > 0) {
            add("lapse", fmt::format("{} let its pause of {} run out {} times before it paused "
                                     "again, {} in all",
                                     by, priority(index), c.lapses, duration(whole_ns(c.lapsed))));
        }
        const auto limit = report_.pause.link_rate()
                               ? reaction_limit_quanta(*report_.pause.link_rate())
                               : std::nullopt;
        const auto seen = reaction_quanta(c, report_.pause.link_rate());
        if (limit && seen && *seen > double(*limit)) {
            add("slow_reaction",
                fmt::format("data of {} went on for {:.1f} quanta behind an XOFF of {}; {} are "
                            "allowed",
                            priority(index), *seen, by, *limit));
        }
        const bool lossy = index < 8 && !report_.lossless.empty() &&
                           !has_dscp(report_.lossless, index) && c.xoff + c.xon > 0;
        if (lossy) {
            add("pfc_of_lossy_class", fmt::format("{} sent PFC of {}, which is not lossless; first "
                                                  "at {} s",
                                                  by, priority(index), seconds_text(c.first_ns)));
        }
    }
    static std::string priority(std::uint8_t index) {
        return index == 8 ? "the link (802.3x)" : fmt::format("priority {}", index);
    }

    void copies() {
        const FlowSums sum = sums(report_.flows);
        const PsnCounts& c = sum.requests;
        if (c.unique >= 4 && c.duplicated * 10 >= c.unique * 9) {
            add("double_copies",
                "nearly every frame is there twice: a mirror of both directions, or two taps");
        }
    }

    /// How far one clock is ahead of another, in words; empty: as near as clocks are.
    static std::string apart(std::int64_t ns) {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const std::int64_t far = std::abs(ns);
        if (far < kSecond) return {};
        const bool tai = far >= 35 * kSecond && far <= 38 * kSecond;
        return fmt::format("{} s {}{}", seconds_text(far), ns > 0 ? "ahead of" : "behind",
                           tai ? " (TAI against UTC?)" : "");
    }
    void clocks() {
        const CaptureTotals& t = report_.totals;
        const std::string card = t.clock_ns_max ? apart(*t.clock_ns_max) : "";
        if (!card.empty()) {
            add("clocks", fmt::format("the card's clock is {} the file's: it is not set, or counts "
                                      "from elsewhere; times here are the card's",
                                      card));
        }
        std::vector<std::string> points;
        std::set<std::pair<std::uint32_t, std::uint32_t>> said;
        for (const CaptureFlow& flow : flows()) {
            if (flow.upstream == kNoFlow) continue;
            const CaptureFlow& before = flows()[flow.upstream];
            const std::int64_t at_first = flow.first_ns - before.first_ns;
            const std::int64_t at_last = flow.last_ns - before.last_ns;
            // Both ends alike: it is the clock, and not that one capture began later.
            const bool alike = at_first - 100'000'000 < at_last && at_last - 100'000'000 < at_first;
            if (!alike || apart(at_first).empty()) continue;
            if (!said.insert({before.first_point, flow.first_point}).second) continue;
            points.push_back(fmt::format("{} is {} {}", point_name(flow.first_point),
                                         apart(at_first), point_name(before.first_point)));
        }
        add("clocks", points, "clocks differ, so that times between these points mean nothing");
    }

    const CaptureReport& report_;
    std::vector<Finding> list_;
    using Bytes = std::array<std::uint8_t, 16>;
    std::set<std::pair<Bytes, Bytes>> cnp_pairs_;  ///< To, from.
    bool indexed_ = false;
};

}  // namespace

std::optional<double> reaction_quanta(const PauseCounts& counts, std::optional<BitRate> rate) {
    if (!counts.reaction_ns || !rate) return std::nullopt;
    return double(*counts.reaction_ns) * double(rate->bits_per_sec) / 512e9;
}

std::vector<Finding> CaptureReport::findings() const { return Findings{*this}.all(); }

void CaptureReport::watch() {
    pause.watch(&timeline, &bursts);
    flows.watch({.timeline = &timeline,
                 .bursts = &bursts,
                 .pauses = &pause,
                 .intervals = intervals ? &*intervals : nullptr,
                 .cnp_interval_ns = cnp_interval_ns});
}

void CaptureReport::finish() {
    bursts.finish();
    pause.finish();
    timeline.finish();
}

}  // namespace rocegen
