#include "rocegen/capture/mapped_pages.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace rocegen {
namespace {

constexpr std::uintptr_t kPageBytes = 4096;

/// Owned by who set `begin` from 0 with `taken`; the handler reads.
struct Slot {
    std::atomic<bool> taken{false};
    std::atomic<std::uintptr_t> begin{0}, end{0};  ///< 0: not watched.
    std::atomic<bool> vanished{false};
};
std::array<Slot, WatchedMapping::kMost> slots;  // a signal handler can reach nothing else

void on_bus_error(int signal, siginfo_t* info, void*) {
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    for (Slot& slot : slots) {
        // Acquire pairs with the constructor: `begin` is that of this `end`.
        const std::uintptr_t end = slot.end.load(std::memory_order_acquire);
        if (at < slot.begin.load(std::memory_order_relaxed) || at >= end) continue;
        void* const page = reinterpret_cast<void*>(at & ~(kPageBytes - 1));
        const std::size_t rest = end - (at & ~(kPageBytes - 1));
        void* const zeros = ::mmap(page, rest, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        slot.vanished.store(true, std::memory_order_relaxed);
        if (zeros != MAP_FAILED) return;
        break;
    }
    // None of ours: what happens without this handler.
    std::signal(signal, SIG_DFL);
}

void install() {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

WatchedMapping::WatchedMapping(std::span<const std::byte> pages) : slot_(0) {
    static std::once_flag once;
    std::call_once(once, install);
    while (slot_ < kMost && slots[slot_].taken.exchange(true)) ++slot_;
    if (slot_ == kMost) return;
    Slot& slot = slots[slot_];
    const auto begin = reinterpret_cast<std::uintptr_t>(pages.data());
    slot.vanished.store(false, std::memory_order_relaxed);
    slot.begin.store(begin, std::memory_order_relaxed);
    slot.end.store(begin + pages.size(), std::memory_order_release);
}

WatchedMapping::~WatchedMapping() {
    if (slot_ == kMost) return;
    slots[slot_].end.store(0, std::memory_order_release);
    slots[slot_].taken.store(false);
}

bool WatchedMapping::vanished() const noexcept {
    return slot_ < kMost && slots[slot_].vanished.load(std::memory_order_relaxed);
}

}  // namespace rocegen
