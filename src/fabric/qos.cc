#include "rocegen/fabric/qos.h"

namespace rocegen {

QosMap identity_qos() { return {}; }

QosMap sonic_azure_qos() {
    QosMap map;
    map.trust = QosMap::Trust::kDscp;
    map.dscp_to_tc.fill(1);
    map.dscp_to_tc[3] = 3;
    map.dscp_to_tc[4] = 4;
    map.dscp_to_tc[5] = 2;
    map.dscp_to_tc[8] = 0;
    map.dscp_to_tc[46] = 5;
    map.dscp_to_tc[48] = 6;
    map.pcp_to_tc = {1, 0, 2, 3, 4, 5, 6, 7};
    map.tc_to_group = {0, 0, 0, 3, 4, 0, 0, 7};
    map.lossless_groups = 1u << 3 | 1u << 4;
    return map;
}

QosMap nvidia_qos() {
    QosMap map;
    map.trust = QosMap::Trust::kDscp;
    for (std::size_t dscp = 0; dscp < 64; ++dscp) map.dscp_to_tc[dscp] = std::uint8_t(dscp >> 3);
    map.tc_to_group = {0, 0, 0, 3, 0, 0, 0, 0};
    map.lossless_groups = 1u << 3;
    return map;
}

std::optional<QosMap> qos_preset(std::string_view name) {
    if (name == "identity") return identity_qos();
    if (name == "sonic-azure") return sonic_azure_qos();
    if (name == "nvidia") return nvidia_qos();
    return std::nullopt;
}

}  // namespace rocegen
