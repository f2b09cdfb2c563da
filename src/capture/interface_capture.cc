#include "rocegen/capture/interface_capture.h"

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "rocegen/base/error.h"
#include "rocegen/capture/writer.h"

namespace rocegen {

using namespace std::chrono_literals;

namespace {

constexpr int kSnapBytes = 262'144, kKernelBytes = 64 << 20, kWaitMs = 100, kAtOnce = 4096;

/// Its ends are opened again by name, each by who uses it.
struct Pipe {
    Pipe() {
        if (pipe(ends.data()) != 0) {
            throw Failure(ExitStatus::kMachineCannot,
                          fmt::format("a pipe: {}", std::strerror(errno)));
        }
    }
    ~Pipe() {
        close(ends[0]);
        close(ends[1]);
    }
    static std::string name(int end) { return fmt::format("/dev/fd/{}", end); }
    std::array<int, 2> ends{};
};

[[noreturn]] void refuse(pcap_t* handle, const std::string& interface, int status) {
    const char* what_to_do = "rocegen ports lists the interfaces";
    if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED) {
        what_to_do = "run as root or give the command cap_net_raw";
    } else if (status == PCAP_ERROR_IFACE_NOT_UP) {
        what_to_do = "ip link set it up";
    }
    const std::string detail = pcap_geterr(handle);
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("interface {}: {}{}{}; {}", interface, pcap_statustostr(status),
                              detail.empty() ? "" : ": ", detail, what_to_do));
}

/// What the thread needs; the writer's end of the pipe closes with it.
struct Pump {
    explicit Pump(const std::string& path) : writer(path) {}
    void write(const pcap_pkthdr& header, const std::uint8_t* bytes) {
        // libpcap's fraction is ns here, whatever the field's name.
        const std::int64_t when = header.ts.tv_sec * 1'000'000'000 + header.ts.tv_usec;
        writer.write(0, when, std::as_bytes(std::span{bytes, header.caplen}), header.len);
    }
    PcapngWriter writer;
};

/// Why it ended too early; empty: it did not.
std::string capture(pcap_t* handle, Pump& pump, std::optional<std::chrono::nanoseconds> duration,
                    const std::atomic<bool>* stop, const std::atomic<bool>& ended) {
    sigset_t broken_pipe;  // who reads may have gone: an error, not the end of the process
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    pollfd waits{pcap_get_selectable_fd(handle), POLLIN, 0};
    std::string broken;
    const auto until = std::chrono::steady_clock::now() + duration.value_or(0ns);
    for (bool last = false; !last && pump.writer.error().empty();) {
        last = ended.load() || (stop && stop->load()) ||
               (duration && std::chrono::steady_clock::now() >= until);
        if (!last) poll(&waits, 1, kWaitMs);  // libpcap's own waiting has no end on a silent link
        const int count = pcap_dispatch(
            handle, kAtOnce,
            [](u_char* user, const pcap_pkthdr* header, const u_char* bytes) {
                reinterpret_cast<Pump*>(user)->write(*header, bytes);
            },
            reinterpret_cast<u_char*>(&pump));
        if (count < 0) {  // the interface went away
            broken = pcap_geterr(handle);
            break;
        }
        pump.writer.flush();
    }
    pcap_stat seen{};
    if (pcap_stats(handle, &seen) == 0) {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        pump.writer.write_statistics(
            0, {.end_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                .received = seen.ps_recv,
                .dropped = seen.ps_ifdrop,
                .os_dropped = seen.ps_drop});
    }
    pump.writer.flush();
    return broken;
}

}  // namespace

void InterfaceCapture::Close::operator()(pcap* handle) const { pcap_close(handle); }

InterfaceCapture::InterfaceCapture(const std::string& interface,
                                   std::optional<std::chrono::nanoseconds> duration,
                                   const std::atomic<bool>* stop) {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    handle_.reset(pcap_create(interface.c_str(), why.data()));
    if (!handle_)
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("interface {}: {}", interface, why.data()));
    pcap_set_snaplen(handle_.get(), kSnapBytes);
    pcap_set_promisc(handle_.get(), interface != "any");
    pcap_set_timeout(handle_.get(), kWaitMs);
    pcap_set_buffer_size(handle_.get(), kKernelBytes);
    const bool nanoseconds =
        pcap_set_tstamp_precision(handle_.get(), PCAP_TSTAMP_PRECISION_NANO) == 0;
    if (const int status = pcap_activate(handle_.get()); status < 0) {
        refuse(handle_.get(), interface, status);
    }
    if (!nanoseconds) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("interface {}: gives no times in nanoseconds", interface));
    }
    if (pcap_setnonblock(handle_.get(), 1, why.data()) != 0) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("interface {}: {}", interface, why.data()));
    }
    const Pipe pipe;
    input_ = open_input(Pipe::name(pipe.ends[0]));
    auto pump = std::make_unique<Pump>(Pipe::name(pipe.ends[1]));
    pump->writer.add_interface({.name = interface,
                                .link_type = LinkType(pcap_datalink(handle_.get())),
                                .snaplen = std::uint32_t(kSnapBytes)});
    pump->writer.flush();
    thread_ = std::thread{[this, duration, stop, owned = std::move(pump)] {
        end_reason_ = capture(handle_.get(), *owned, duration, stop, ended_);
    }};
}

std::string InterfaceCapture::end_reason() {
    if (thread_.joinable()) thread_.join();
    return end_reason_;
}

InterfaceCapture::~InterfaceCapture() {
    ended_.store(true);
    input_.reset();
    if (thread_.joinable()) thread_.join();
}

}  // namespace rocegen
