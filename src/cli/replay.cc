#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cli/cli.h"
#include "rocegen/capture/link.h"
#include "rocegen/capture/reader.h"
#include "rocegen/profile/load_map.h"
#include "rocegen/wire/headers.h"

namespace rocegen::cli {
namespace {

constexpr std::uint32_t kL2Bytes = sizeof(EthernetHeader) + 2 * sizeof(VlanTag);

[[noreturn]] void refuse(const std::string& what) { throw Failure(ExitStatus::kBadInput, what); }

RewriteMap map_of(const std::vector<std::string>& options) {
    RewriteMap map;
    Diagnostics diagnostics;
    for (const std::string& option : options) {
        const std::size_t equals = option.find('=');
        const std::size_t colon = option.find(':');
        if (equals == std::string::npos) {
            for (const MapEntry& entry : load_map(option, diagnostics)) {
                const std::string why = map.add(entry.kind, entry.from, entry.to);
                if (!why.empty()) {
                    diagnostics.error(entry.place, fmt::format("{} {}: {} {}", entry.kind,
                                                               entry.from, entry.to, why));
                }
            }
            continue;
        }
        const std::string why =
            colon > equals
                ? "is no map: ip:10.0.0.1=198.18.0.1, or a file of maps"
                : map.add(option.substr(0, colon), option.substr(colon + 1, equals - colon - 1),
                          option.substr(equals + 1));
        if (!why.empty()) diagnostics.error({"--map"}, option + " " + why);
    }
    if (diagnostics.failed()) refuse(diagnostics.text());
    return map;
}

/// A record as a frame to send: rewritten, and completed where the capture cut it.
class FrameMaker {
public:
    explicit FrameMaker(const RewriteMap& map) : map_(map) {}

    std::span<const std::byte> make(const LinkPayload& link) {
        cut_ = link.wire_bytes > link.bytes.size();
        completed_ = rewritten_ = false;
        if (!cut_ && map_.empty()) return link.bytes;
        frame_.resize(std::max<std::size_t>(link.wire_bytes, link.bytes.size()));
        std::copy(link.bytes.begin(), link.bytes.end(), frame_.begin());
        if (cut_) completed_ = complete(frame_, link.bytes.size());
        rewritten_ = map_.rewrite(frame_);
        return frame_;
    }
    bool cut() const { return cut_; }
    bool completed() const { return completed_; }
    bool rewritten() const { return rewritten_; }

private:
    const RewriteMap& map_;
    std::vector<std::byte> frame_;
    bool cut_ = false, completed_ = false, rewritten_ = false;
};

ReplayScan scan_of(const std::string& file, const RewriteMap& map) {
    ReplayScan scan;
    CaptureReader reader(file);
    FrameMaker maker(map);
    for (CaptureRecord record; reader.next(record);) {
        if (record.bytes.empty()) continue;
        const LinkPayload link = read_link(record);
        if (link.kind != LinkKind::kEthernet || link.bytes.size() < sizeof(EthernetHeader)) {
            refuse(fmt::format("{}: frame {} has no Ethernet header ({}) and cannot be sent", file,
                               record.index + 1, to_text(record.link_type)));
        }
        if (link.wire_bytes > 9728) {
            refuse(fmt::format("{}: frame {} is {} bytes long; 9728 can be sent", file,
                               record.index + 1, link.wire_bytes));
        }
        const CaptureTime time = link.hardware_time.value_or(record.time);
        if (scan.frames++ == 0) scan.first = scan.last = time;
        scan.last = std::max(scan.last, time);
        scan.frame_bytes_max =
            std::max(scan.frame_bytes_max, std::uint32_t(maker.make(link).size()));
        scan.cut += maker.cut();
        scan.completed += maker.completed();
        scan.rewritten += maker.rewritten();
        if (std::find(scan.interfaces.begin(), scan.interfaces.end(), record.interface) ==
            scan.interfaces.end()) {
            scan.interfaces.push_back(record.interface);
        }
    }
    if (reader.issues().damaged()) {
        scan.damage = reader.issues().end_reason();
        if (scan.damage.empty()) scan.damage = file + ": the file is damaged";
    }
    for (const CaptureInterface& i : reader.interfaces()) scan.names.push_back(i.name);
    if (scan.frames == 0) refuse(file + ": no frame that could be sent");
    if (!scan.first.in_range() || !scan.last.in_range()) refuse(file + ": its times make no sense");
    return scan;
}

/// By interface of the capture: the index of its port.
std::vector<std::uint32_t> ports_of(const ReplayArguments& arguments, const ReplayScan& scan,
                                    const std::vector<TestbedPort>& ports) {
    constexpr std::uint32_t kNone = ~0u;
    const std::vector<std::string>& interfaces = scan.names;
    std::vector<std::uint32_t> result(interfaces.size(), kNone);
    for (const std::string& option : arguments.ports) {
        const std::size_t equals = option.rfind('=');
        const std::string from = option.substr(0, equals);
        const auto port = std::find_if(ports.begin(), ports.end(), [&](const TestbedPort& p) {
            return equals != std::string::npos && p.name == option.substr(equals + 1);
        });
        bool found = false;
        for (std::size_t i = 0; i < interfaces.size() && port != ports.end(); ++i) {
            if (interfaces[i] != from && std::to_string(i) != from) continue;
            result[i] = std::uint32_t(port - ports.begin());
            found = true;
        }
        if (!found) {
            refuse(
                fmt::format("--port: {} is no INTERFACE=PORT of an interface of the capture (its "
                            "name or number) and a port of the testbed",
                            option));
        }
    }
    std::uint32_t next = 0;
    for (const std::uint32_t interface : scan.interfaces) {
        if (interface == kNoInterface)
            refuse("a frame's interface is not described in the capture");
        if (result[interface] != kNone) continue;
        if (next == ports.size()) {
            refuse(
                fmt::format("the capture has frames of {} interfaces and the testbed {} ports; "
                            "say which goes where with --port INTERFACE=PORT",
                            scan.interfaces.size(), ports.size()));
        }
        result[interface] = next++;
    }
    return result;
}

Pacing pacing_of(const ReplayArguments& arguments, const ReplayScan& scan) {
    if (arguments.at_once + !arguments.rate.empty() + (arguments.speed != "1") > 1) {
        refuse("--speed, --rate and --back-to-back exclude each other");
    }
    if (arguments.at_once) return Pacing::at_once();
    if (!arguments.rate.empty()) {
        const auto rate = parse_bit_rate(arguments.rate);
        if (!rate.ok() || rate.value().bits_per_sec == 0) {
            refuse(fmt::format("--rate: {} is no rate, like 10Gbps", arguments.rate));
        }
        return Pacing::at_rate(rate.value());
    }
    const auto speed = parse_speed(arguments.speed);
    if (!speed.ok()) refuse(fmt::format("--speed: {} {}", arguments.speed, speed.why()));
    return Pacing::own(scan.first, scan.loop_ns(), speed.value());
}

}  // namespace

std::int64_t ReplayScan::loop_ns() const {
    const std::int64_t span = last.ns - first.ns;
    return frames > 1 ? span + span / std::int64_t(frames - 1) : span;
}

ExitStatus replay(const ReplayArguments& arguments) {
    if (arguments.file == "-") refuse("replay reads the capture twice: name a file, not -");
    const Testbed testbed = load_testbed_named(arguments.testbed);
    if (testbed.kind != Testbed::Kind::kDpdk) {
        refuse(fmt::format("{}: replay sends on real ports; use a testbed of kind dpdk",
                           arguments.testbed));
    }
    const RewriteMap map = map_of(arguments.maps);
    const ReplayScan scan = scan_of(arguments.file, map);
    if (scan.cut > 0 && arguments.refuse_cut) {
        refuse(fmt::format("{}: {} of {} frames were cut by the capture", arguments.file, scan.cut,
                           scan.frames));
    }
    if (!scan.damage.empty()) fmt::print(stderr, "{}\n", scan.damage);
    Pacing pacing = pacing_of(arguments, scan);
    const std::vector<std::uint32_t> port_of = ports_of(arguments, scan, testbed.ports);

    ReplayConfig config;
    for (const TestbedPort& port : testbed.ports) {
        config.ports.push_back(
            LivePortConfig{port.name, port.device, port.link_rate, port.mtu, port.driver});
    }
    for (const std::uint32_t interface : scan.interfaces) {
        const TestbedPort& port = testbed.ports[port_of[interface]];
        if (scan.frame_bytes_max > port.mtu + kL2Bytes) {
            refuse(fmt::format("{}: its longest frame has {} bytes, over the MTU {} of port {}",
                               arguments.file, scan.frame_bytes_max, port.mtu, port.name));
        }
    }
    if (!testbed.cores.workers.empty()) config.worker_cpu = testbed.cores.workers.front();
    config.main_cpu = testbed.cores.main;
    config.hugepages = testbed.hugepages;
    config.force = arguments.force;
    config.frame_bytes_max = scan.frame_bytes_max;
    std::optional<CaptureReader> reader(arguments.file);
    FrameMaker maker(map);
    CaptureRecord record;
    std::uint64_t loop = 0;
    config.next = [&](ReplayFrame& frame) {
        for (;;) {
            if (!reader->next(record)) {
                if (++loop >= arguments.loops) return false;
                reader.emplace(arguments.file);
                continue;
            }
            if (record.bytes.empty()) continue;
            const LinkPayload link = read_link(record);
            frame.bytes = maker.make(link);
            frame.port = port_of[record.interface];
            const auto l1 = std::max<std::uint32_t>(std::uint32_t(frame.bytes.size()), 60) +
                            kFcsBytes + kPreambleAndGapBytes;
            frame.due = pacing.due(loop, link.hardware_time.value_or(record.time), l1);
            return true;
        }
    };
    const ReplayResult result = run_replay(config);
    const ReplayReport report{arguments, scan, result, pacing.stepped_back()};
    fmt::print("{}", arguments.json ? report.json() : report.text());
    if (result.interrupted) return ExitStatus::kInterrupted;
    const bool all = report.tx_frames() == scan.frames * arguments.loops && scan.damage.empty();
    return all ? ExitStatus::kHolds : ExitStatus::kExpectationFailed;
}

}  // namespace rocegen::cli
