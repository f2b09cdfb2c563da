/// Packets of a network interface of this machine as they come, through libpcap, for a CaptureReader:
/// a thread takes them from the kernel and writes pcapng into a pipe, until a time has passed or it is
/// told to stop; last come libpcap's counters, packets that the kernel dropped among them.
/// What a NIC handles itself does not pass through the kernel: RDMA of its own queue pairs, and as a
/// rule pause frames. A mirror port's traffic does. Needs root or cap_net_raw.
///
///     InterfaceCapture live{"eth0", 10s, &stop};
///     CaptureReader reader{live.input(), "interface eth0"};
///     while (reader.next(record)) ...
///
/// Thread: one owner, who reads; the capturing thread is its own and ends before the object.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "rocegen/capture/byte_source.h"

struct pcap;

namespace rocegen {

class InterfaceCapture {
public:
    /// "any": all interfaces. No `duration`: until `stop` is set, which is looked at ten times a second.
    /// Throws Failure(kMachineCannot) with what to do.
    InterfaceCapture(const std::string& interface, std::optional<std::chrono::nanoseconds> duration,
                     const std::atomic<bool>* stop);
    ~InterfaceCapture();
    InterfaceCapture(const InterfaceCapture&) = delete;
    InterfaceCapture& operator=(const InterfaceCapture&) = delete;

    /// What is captured, as a pcapng file. Once.
    std::unique_ptr<ByteInput> input() { return std::move(input_); }
    /// When all of it was read: why the capture ended too early, in words; empty: it did not.
    std::string end_reason();

private:
    struct Close {
        void operator()(pcap* handle) const;
    };
    std::unique_ptr<pcap, Close> handle_;
    std::unique_ptr<ByteInput> input_;
    std::atomic<bool> ended_{false};  ///< The owner reads no more.
    std::string end_reason_;          ///< The thread's until it has ended.
    std::thread thread_;
};

}  // namespace rocegen
