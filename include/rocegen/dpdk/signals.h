/// How main waits: SIGINT and SIGTERM are blocked in all threads and taken here, so that no system
/// call of a driver is interrupted and a run always ends with a whole report.
/// Thread: main; make it before any other thread starts.
#pragma once

#include <signal.h>

#include <chrono>

namespace rocegen {

class SignalWaiter {
public:
    /// Blocks the signals.
    SignalWaiter();
    /// Restores the mask.
    ~SignalWaiter();
    SignalWaiter(const SignalWaiter&) = delete;
    SignalWaiter& operator=(const SignalWaiter&) = delete;

    /// Sleeps for `span`; true at once when a signal came.
    bool wait(std::chrono::nanoseconds span);

private:
    sigset_t waited_, before_;
};

}  // namespace rocegen
