/// Which frames of a capture the user asked for: --filter, --flow, --from and --to. A frame must satisfy all
/// that were given. Thread: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/capture/filter.h"
#include "rocegen/capture/unwrap.h"
#include "rocegen/wire/packet.h"

namespace CLI {
class App;
}

namespace rocegen::cli {

struct ChoiceArguments {
    std::string filter;              ///< libpcap's language; empty: all frames.
    std::vector<std::string> flows;  ///< "SOURCE,DESTINATION,QP", each may be "*"; none: all.
    std::string from, to;            ///< "10ms" from the first frame on, or seconds since 1970.
    /// As a report says it; empty: all frames.
    std::string text() const;
};

void add_choice_options(CLI::App& command, ChoiceArguments& arguments);

class Choice {
public:
    /// Throws Failure(kBadInput) that names the option.
    explicit Choice(const ChoiceArguments& arguments);

    /// By time and filter; what needs no parse. `readable`: `frame` has a frame.
    bool chooses(std::int64_t when_ns, const Unwrapped& frame, bool readable);
    /// By flow.
    bool chooses(const Packet& packet) const;
    bool by_flow() const { return !flows_.empty(); }

private:
    struct Time {
        std::int64_t ns = 0;
        bool relative = false;  ///< To the first frame.
    };
    struct Flow {
        std::optional<IpAddress> source, destination;
        std::optional<std::uint32_t> dest_qp;
    };
    static std::optional<Time> time_of(const std::string& option, const std::string& text);
    static Flow flow_of(const std::string& text);

    std::optional<FrameFilter> filter_;
    std::vector<Flow> flows_;
    std::optional<Time> from_, to_;
    std::optional<std::int64_t> first_ns_;
};

}  // namespace rocegen::cli
