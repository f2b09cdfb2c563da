#include <fmt/format.h>

#include <algorithm>

#include "rocegen/report/capture_report.h"
#include "rocegen/report/format.h"
#include "rocegen/wire/aeth.h"

namespace rocegen {
namespace {

std::string duration(std::uint64_t ns) { return with_unit(double(ns), "ns", 6); }
std::string rate(std::uint64_t bits_per_sec) { return with_unit(double(bits_per_sec), "bit/s", 4); }

std::string priority(const TimelineEvent& event) {
    if (event.priority == 8) return "802.3x";
    return fmt::format("priority {}", event.priority);
}

std::string what(const TimelineEvent& e) {
    switch (e.kind) {
        case TimelineKind::kBurst:
            return fmt::format("burst begins: {} bytes from {} sources", e.value, e.more);
        case TimelineKind::kCeMark:
            return fmt::format("first CE of an epoch, PSN {}", e.value);
        case TimelineKind::kCnp:
            return fmt::format("CNP to QP {:#x}", e.value);
        case TimelineKind::kRateFall:
            return fmt::format("sender's rate falls from {} to {} (L1)", rate(e.value),
                               rate(e.more));
        case TimelineKind::kXoff:
            return fmt::format("XOFF of {} by {}, {} quanta", priority(e), to_text(e.mac), e.value);
        case TimelineKind::kSilence:
            return fmt::format("silent for {} in {}", duration(e.value), priority(e));
        case TimelineKind::kXon:
            return e.value == 0 ? fmt::format("XON of {} by {}", priority(e), to_text(e.mac))
                                : fmt::format("XON of {} by {} after {}", priority(e),
                                              to_text(e.mac), duration(e.value));
        case TimelineKind::kGap:
            return fmt::format("PSN {} missing: {} passed", e.value, e.more);
        case TimelineKind::kLostAgain:
            return fmt::format("PSN {} missing in the resend: {} passed", e.value, e.more);
        case TimelineKind::kCorrupt:
            return fmt::format("bad ICRC, PSN {}", e.value);
        case TimelineKind::kNak:
            return fmt::format("NAK ({}), PSN {}", syndrome_name(std::uint8_t(e.more)), e.value);
        case TimelineKind::kRnrNak:
            return fmt::format("RNR NAK, PSN {}, wait {}", e.value, duration(e.more));
        case TimelineKind::kRetransmission:
            return fmt::format("sender goes back, PSN {}", e.value);
        case TimelineKind::kRecovery:
            return fmt::format("recovered: last gap filled, PSN {}", e.value);
        case TimelineKind::kRestart:
            return fmt::format("new session from PSN {}", e.value);
        case TimelineKind::kStorm:
            return fmt::format("storm: {} paused by {} for {} without lapse", priority(e),
                               to_text(e.mac), duration(e.value));
        case TimelineKind::kDeadlock:
            return fmt::format("possible deadlock: {} sources held {} paused for {}", e.more,
                               priority(e), duration(e.value));
    }
    return "";
}

}  // namespace

std::string describe(const CaptureReport& report, const TimelineEvent& event) {
    std::string text = what(event);
    if (event.flow != kNoTimelineFlow) {
        text = fmt::format("{}: {}", flow_name(report.flows.flows()[event.flow]), text);
    }
    if (event.cause != kNoCause) {
        const TimelineEvent& cause = report.timeline.events()[event.cause];
        const std::int64_t delay = report.timeline.delay_ns(event);
        text += fmt::format(
            "; {} after the {}",
            delay < 0 ? "-" + duration(std::uint64_t(-delay)) : duration(std::uint64_t(delay)),
            to_text(cause.kind));
        if (cause.frame != 0) text += fmt::format(" in frame {}", cause.frame);
    }
    return text;
}

std::vector<Annotation> annotations(const CaptureReport& report) {
    std::vector<Annotation> list;
    for (const TimelineEvent& event : report.timeline.events()) {
        if (event.frame != 0) list.push_back({event.frame, describe(report, event)});
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const Annotation& a, const Annotation& b) { return a.frame < b.frame; });
    return list;
}

std::string timeline_text(const CaptureReport& report, std::size_t most) {
    const auto& events = report.timeline.events();
    std::string text;
    const std::int64_t base = report.totals.first_ns.value_or(0);
    for (std::size_t i = 0; i < std::min(most, events.size()); ++i) {
        const TimelineEvent& event = events[i];
        text += fmt::format(
            "{:>16} us  frame {:<8} {}\n", fmt::format("{:.3f}", double(event.ns - base) / 1000),
            event.frame == 0 ? "-" : std::to_string(event.frame), describe(report, event));
    }
    const std::uint64_t more = events.size() - std::min(most, events.size());
    if (more > 0) text += fmt::format("and {} events more; --json lists them\n", more);
    if (report.timeline.not_kept() > 0) {
        text += fmt::format("and {} over the limit of a kind, counted only\n",
                            report.timeline.not_kept());
    }
    return text;
}

}  // namespace rocegen
