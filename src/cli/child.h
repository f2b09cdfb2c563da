/// One run in a process of its own: DPDK's EAL starts once a process. Signals that would end us are
/// handed to the child, whose report then still comes. Thread: main.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace rocegen::cli {

/// Blocks SIGINT, SIGTERM and SIGCHLD while it lives, so that none is missed between two looks.
class ChildRunner {
public:
    ChildRunner();
    ChildRunner(const ChildRunner&) = delete;
    ChildRunner& operator=(const ChildRunner&) = delete;
    ~ChildRunner();

    /// Runs this program with `arguments`, its messages in the file `log`, nothing on standard output.
    /// Its exit status, or 128 and the signal's number that ended it. Throws Failure(kMachineCannot).
    int run(const std::vector<std::string>& arguments, const std::string& log);
    /// A signal came: start no more.
    bool interrupted() const { return interrupted_; }
    /// Looks for one that came while no child ran.
    void poll();

private:
    sigset_t watched_, before_;
    bool interrupted_ = false;
};

}  // namespace rocegen::cli
