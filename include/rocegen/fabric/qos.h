/// From a frame's mark to what a switch does with it: DSCP or PCP -> traffic class -> queue, priority
/// group, lossless or not. One map a testbed: vendors' defaults disagree, so none is built in.
///
/// Sources of the presets:
///   identity     queue = priority group = the plan's priority (PCP, else DSCP >> 3). Lossless: 3.
///   sonic-azure  sonic-buildimage, files/build_templates/qos_config.j2, the maps named AZURE: DSCP 3 and
///                4 -> TC 3 and 4, 5 -> 2, 8 -> 0, 46 -> 5, 48 -> 6, all others 1; TC -> queue alike;
///                TC -> priority group 0 0 0 3 4 0 0 7. Lossless: 3 and 4. So DSCP 26 is lossy here.
///   nvidia       Cumulus and Onyx RoCE pages: trust L3, switch priority = DSCP >> 3, RoCE (DSCP 26)
///                in traffic class 3, CNP (DSCP 48) in 6, strict. All others share group 0. Lossless: 3.
/// Thread: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rocegen {

struct QosMap {
    enum class Trust : std::uint8_t {
        kPriority,  ///< The plan's own priority is the traffic class.
        kDscp,
        kPcp,
    };
    Trust trust = Trust::kPriority;
    std::array<std::uint8_t, 64> dscp_to_tc{};
    std::array<std::uint8_t, 8> pcp_to_tc{0, 1, 2, 3, 4, 5, 6, 7};
    std::array<std::uint8_t, 8> tc_to_queue{0, 1, 2, 3, 4, 5, 6, 7};
    std::array<std::uint8_t, 8> tc_to_group{0, 1, 2, 3, 4, 5, 6, 7};
    /// Priority n of a received PFC frame stops these queues (bit mask); a priority group's XOFF names
    /// these priorities.
    std::array<std::uint8_t, 8> priority_to_queues{1, 2, 4, 8, 16, 32, 64, 128};
    std::array<std::uint8_t, 8> group_to_priorities{1, 2, 4, 8, 16, 32, 64, 128};
    /// Priority groups that pause instead of dropping, a bit each.
    std::uint8_t lossless_groups = 1u << 3;

    std::uint8_t traffic_class(std::uint8_t priority, std::uint8_t dscp) const {
        switch (trust) {
            case Trust::kDscp:
                return dscp_to_tc[dscp & 63u];
            case Trust::kPcp:
                return pcp_to_tc[priority & 7u];
            case Trust::kPriority:
                break;
        }
        return priority & 7u;
    }
    bool lossless(std::uint8_t group) const { return lossless_groups & 1u << group; }
};

QosMap identity_qos();
QosMap sonic_azure_qos();
QosMap nvidia_qos();
/// "identity", "sonic-azure", "nvidia".
std::optional<QosMap> qos_preset(std::string_view name);

}  // namespace rocegen
