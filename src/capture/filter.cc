#include "rocegen/capture/filter.h"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <new>

#include "rocegen/base/error.h"

namespace rocegen {

struct FrameFilter::Program {
    ~Program() { pcap_freecode(&code); }
    bpf_program code{};
};

FrameFilter::FrameFilter(const std::string& expression) : program_(std::make_unique<Program>()) {
    const std::unique_ptr<pcap_t, decltype(&pcap_close)> ethernet(
        pcap_open_dead(DLT_EN10MB, 262'144), &pcap_close);
    if (!ethernet) throw std::bad_alloc();
    if (pcap_compile(ethernet.get(), &program_->code, expression.c_str(), 1,
                     PCAP_NETMASK_UNKNOWN) != 0) {
        throw Failure(ExitStatus::kBadInput,
                      fmt::format("filter \"{}\": {}; its language is that of pcap-filter(7)",
                                  expression, pcap_geterr(ethernet.get())));
    }
}
FrameFilter::~FrameFilter() = default;
FrameFilter::FrameFilter(FrameFilter&&) noexcept = default;
FrameFilter& FrameFilter::operator=(FrameFilter&&) noexcept = default;

bool FrameFilter::matches(std::span<const std::byte> frame,
                          std::uint32_t wire_bytes) const noexcept {
    pcap_pkthdr header{};
    header.caplen = bpf_u_int32(frame.size());
    header.len = wire_bytes;
    return pcap_offline_filter(&program_->code, &header,
                               reinterpret_cast<const u_char*>(frame.data())) != 0;
}

}  // namespace rocegen
