#include "cli/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

#include "rocegen/base/error.h"

namespace rocegen::cli {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

[[noreturn]] void fail(std::string_view what) {
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

/// In the child: only calls that are allowed between fork and exec. Does not come back.
[[noreturn]] void become(char* const* argv, int log, const sigset_t& mask, pid_t parent) {
    setpgid(0, 0);  // a terminal's interrupt reaches us alone, and we hand it on once
    prctl(PR_SET_PDEATHSIG, SIGINT);
    if (getppid() != parent) _exit(int(ExitStatus::kMachineCannot));
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
    }
    dup2(log, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    execv(kSelf, argv);
    _exit(int(ExitStatus::kMachineCannot));
}

}  // namespace

ChildRunner::ChildRunner() {
    sigemptyset(&watched_);
    for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&watched_, signal);
    sigprocmask(SIG_BLOCK, &watched_, &before_);
}

ChildRunner::~ChildRunner() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

void ChildRunner::poll() {
    const timespec now{};
    for (int signal = 0; (signal = sigtimedwait(&watched_, nullptr, &now)) > 0;) {
        interrupted_ |= signal != SIGCHLD;
    }
}

int ChildRunner::run(const std::vector<std::string>& arguments, const std::string& log) {
    std::vector<std::string> all{"rocegen"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail(log);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) become(argv.data(), file, before_, parent);
    const int error = errno;
    close(file);
    errno = error;
    if (child < 0) fail("cannot start a run in a process of its own");
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (ended < 0 && errno != EINTR) fail("cannot wait for a run");
        const timespec longest{1, 0};
        const int signal = sigtimedwait(&watched_, nullptr, &longest);
        if (signal != SIGINT && signal != SIGTERM) continue;
        interrupted_ = true;
        kill(child, signal);
    }
}

}  // namespace rocegen::cli
