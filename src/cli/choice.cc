#include "cli/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "rocegen/base/error.h"
#include "rocegen/base/units.h"

namespace rocegen::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, std::string_view why) {
    throw Failure(ExitStatus::kBadInput, fmt::format("{}: {} {}", option, text, why));
}

/// "1700000000.5" as nanoseconds; exact.
std::optional<std::int64_t> parse_seconds(std::string_view text) {
    const std::size_t point = std::min(text.find('.'), text.size());
    const auto seconds = parse_count(text.substr(0, point), 0, 9'000'000'000);
    std::string fraction{text.substr(std::min(point + 1, text.size()))};
    const bool digits =
        std::all_of(fraction.begin(), fraction.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!seconds.ok() || !digits || fraction.size() > 9 || text.starts_with("0x")) return {};
    fraction.resize(9, '0');
    return std::int64_t(seconds.value()) * 1'000'000'000 + std::stoll(fraction);
}

}  // namespace

std::string ChoiceArguments::text() const {
    std::string text = filter;
    const auto add = [&text](std::string_view name, const std::string& value) {
        if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    };
    for (const std::string& flow : flows) add("flow", flow);
    add("from", from);
    add("to", to);
    return text;
}

void add_choice_options(CLI::App& command, ChoiceArguments& arguments) {
    command.add_option("--filter", arguments.filter,
                       "Only frames that match (pcap-filter(7)), seen without their tunnels");
    command.add_option("--flow", arguments.flows,
                       "Only RoCE frames from SOURCE to DESTINATION and its queue pair: "
                       "10.0.0.1,10.0.0.2,0x11; * for any; again for more flows");
    command.add_option("--from", arguments.from,
                       "Only from here on: 10ms behind the first frame, or seconds since 1970");
    command.add_option("--to", arguments.to, "Only before this time; as --from");
}

std::optional<Choice::Time> Choice::time_of(const std::string& option, const std::string& text) {
    if (text.empty()) return {};
    if (const auto since_epoch = parse_seconds(text)) return Time{*since_epoch, false};
    const auto behind = parse_time(text);
    if (!behind.ok()) {
        refuse(option, text,
               "is neither a time behind the first frame, like 10ms, nor seconds since 1970, like "
               "1700000000.5");
    }
    return Time{behind.value().count() / 1000, true};
}

Choice::Flow Choice::flow_of(const std::string& text) {
    constexpr std::string_view kForm =
        "is no SOURCE,DESTINATION,QP, like 10.0.0.1,10.0.0.2,0x11; each may be *";
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    if (parts.size() != 3) refuse("--flow", text, kForm);
    Flow flow;
    for (std::size_t i = 0; i < 2; ++i) {
        if (parts[i] == "*") continue;
        const auto ip = parse_ip(parts[i]);
        if (!ip.ok()) refuse("--flow", text, kForm);
        (i == 0 ? flow.source : flow.destination) = ip.value();
    }
    if (parts[2] != "*") {
        const auto qp = parse_count(parts[2], 0, 0xff'ffff);
        if (!qp.ok()) refuse("--flow", text, kForm);
        flow.dest_qp = std::uint32_t(qp.value());
    }
    return flow;
}

Choice::Choice(const ChoiceArguments& arguments)
    : from_(time_of("--from", arguments.from)), to_(time_of("--to", arguments.to)) {
    if (!arguments.filter.empty()) filter_.emplace(arguments.filter);
    for (const std::string& flow : arguments.flows) flows_.push_back(flow_of(flow));
}

bool Choice::chooses(std::int64_t when_ns, const Unwrapped& frame, bool readable) {
    if (!first_ns_) first_ns_ = when_ns;
    const auto at = [this](const Time& time) { return time.ns + (time.relative ? *first_ns_ : 0); };
    if (from_ && when_ns < at(*from_)) return false;
    if (to_ && when_ns >= at(*to_)) return false;
    if (!readable) return !by_flow();
    return !filter_ || filter_->matches(frame.frame, frame.wire_bytes);
}

bool Choice::chooses(const Packet& packet) const {
    if (flows_.empty()) return true;
    if (packet.verdict != Verdict::kRoce && packet.verdict != Verdict::kRoceV1) return false;
    return std::any_of(flows_.begin(), flows_.end(), [&packet](const Flow& flow) {
        return flow.source.value_or(packet.source_ip) == packet.source_ip &&
               flow.destination.value_or(packet.destination_ip) == packet.destination_ip &&
               flow.dest_qp.value_or(packet.roce.dest_qp) == packet.roce.dest_qp;
    });
}

}  // namespace rocegen::cli
