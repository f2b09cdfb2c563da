#include "rocegen/dpdk/signals.h"

#include <time.h>

#include <algorithm>
#include <cerrno>

namespace rocegen {

SignalWaiter::SignalWaiter() {
    sigemptyset(&waited_);
    sigaddset(&waited_, SIGINT);
    sigaddset(&waited_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &waited_, &before_);
}

SignalWaiter::~SignalWaiter() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool SignalWaiter::wait(std::chrono::nanoseconds span) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + span;
    for (;;) {
        const std::chrono::nanoseconds left =
            std::max<std::chrono::nanoseconds>(end - Clock::now(), std::chrono::nanoseconds{0});
        timespec time{};
        time.tv_sec = left.count() / 1'000'000'000;
        time.tv_nsec = left.count() % 1'000'000'000;
        if (sigtimedwait(&waited_, nullptr, &time) > 0) return true;
        // A signal outside the set interrupts the wait (EINTR); only the time ends it (EAGAIN).
        if (errno == EAGAIN) return false;
    }
}

}  // namespace rocegen
