#include "rocegen/traffic/plan.h"

#include <algorithm>
#include <cassert>

namespace rocegen {

FrameTemplates::FrameTemplates(const Plan& plan)
    : templates_(plan.template_groups.size() * kShapeCount) {
    for (std::size_t group = 0; group < plan.template_groups.size(); ++group) {
        for (std::size_t shape = 0; shape < kShapeCount; ++shape) {
            std::optional<FrameSpec> spec = plan.template_groups[group].shapes[shape];
            if (!spec) continue;
            spec->run = plan.run;
            templates_[group * kShapeCount + shape].emplace(*spec);
        }
    }
}

std::vector<Stream> make_streams(const Plan& plan, const FrameTemplates& templates) {
    std::vector<Stream> streams(plan.streams.size());
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const StreamPlan& from = plan.streams[i];
        Stream& stream = streams[i];
        const HostPlan& source = plan.hosts[from.source_host];
        const HostPlan& destination = plan.hosts[from.destination_host];
        stream.source_mac = source.mac;
        stream.destination_mac = destination.mac;
        if (plan.gateway_of(from)) {
            const auto& router = plan.ports[plan.sending_port(from)].gateway_mac;
            stream.destination_mac = router.value_or(destination.mac);
        }
        const auto low = [](const IpAddress& ip) {
            std::array<std::byte, 8> bytes{};
            const std::size_t skip = ip.is_v4() ? 4 : 0;
            for (std::size_t b = skip; b < 8; ++b) bytes[b] = std::byte(ip.bytes[8 + b]);
            return bytes;
        };
        stream.source_ip_low = low(source.ip);
        stream.destination_ip_low = low(destination.ip);
        stream.source_port = Be<2>{from.source_port};
        stream.dest_qp = Be<3>{from.dest_qp};
        stream.template_group = from.template_group;
        stream.psn = from.initial_psn;
        const auto& shapes = plan.template_groups[from.template_group].shapes;
        const auto any = std::find_if(shapes.begin(), shapes.end(),
                                      [](const auto& spec) { return spec.has_value(); });
        assert(any != shapes.end());
        // The residue depends on the headers before the QP alone: any shape of the group gives it.
        templates.of(from.template_group, Shape(any - shapes.begin())).bind(stream);
    }
    return streams;
}

}  // namespace rocegen
