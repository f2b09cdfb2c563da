#include "rocegen/dpdk/eal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "rocegen/base/error.h"
#include "rocegen/dpdk/output_capture.h"

namespace rocegen {
namespace {

/// Sizes of the kernel's hugepages, bytes.
std::vector<std::uint64_t> hugepage_sizes() {
    std::vector<std::uint64_t> sizes;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", none)) {
        const std::string name = entry.path().filename().string();  // hugepages-2048kB
        const std::size_t dash = name.find('-');
        std::uint64_t kib = 0;
        if (dash != std::string::npos) {
            std::from_chars(name.data() + dash + 1, name.data() + name.size(), kib);
        }
        if (std::has_single_bit(kib)) sizes.push_back(kib * 1024);
    }
    return sizes;
}

/// Tries it for real: counters in /proc say nothing of limits and of what others reserved.
bool hugepages_hold(std::uint64_t bytes) {
    for (const std::uint64_t page : hugepage_sizes()) {
        const std::size_t size = std::size_t((bytes + page - 1) / page * page);
        const int kind = std::countr_zero(page) << MAP_HUGE_SHIFT;
        void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | kind, -1, 0);
        if (at == MAP_FAILED) continue;
        munmap(at, size);
        return true;
    }
    return false;
}

std::vector<std::string> arguments(const EalConfig& config, bool hugepages) {
    std::vector<std::string> args{"rocegen", "--no-telemetry", "--log-level=warning",
                                  fmt::format("--file-prefix=rocegen_{}", getpid())};
    if (hugepages) {
        args.push_back("--in-memory");
    } else {
        const std::uint64_t mib = (config.memory_bytes + (1 << 20) - 1) >> 20;
        args.insert(args.end(),
                    {"--no-huge", "--no-shconf", "--iova-mode=va", "-m", std::to_string(mib)});
    }
    if (config.pci_devices.empty()) args.push_back("--no-pci");
    for (const std::string& address : config.pci_devices) {
        args.insert(args.end(), {"-a", address});
    }
    std::vector<unsigned> main_cpus = allowed_cpus();
    // Main wakes up now and then: not on a CPU on which a worker polls, if there is another.
    const auto polls = [&config](unsigned cpu) {
        return std::find(config.worker_cpus.begin(), config.worker_cpus.end(), cpu) !=
               config.worker_cpus.end();
    };
    if (!std::all_of(main_cpus.begin(), main_cpus.end(), polls)) std::erase_if(main_cpus, polls);
    if (config.main_cpu) main_cpus = {*config.main_cpu};
    std::string lcores = fmt::format("--lcores=0@({})", fmt::join(main_cpus, ","));
    for (unsigned i = 0; i < config.worker_cpus.size(); ++i) {
        lcores += fmt::format(",{}@{}", Eal::lcore_of(i), config.worker_cpus[i]);
    }
    args.insert(args.end(), {lcores, "--main-lcore=0"});
    return args;
}

/// What the user can do about a failed start, by what the log speaks of.
std::string advice(const std::string& log, bool hugepages, std::uint64_t memory_bytes) {
    const auto speaks_of = [&log](std::string_view word) {
        return std::search(log.begin(), log.end(), word.begin(), word.end(), [](char a, char b) {
                   return std::tolower(static_cast<unsigned char>(a)) == b;
               }) != log.end();
    };
    if (speaks_of("permission") || speaks_of("not permitted")) {
        return "run as root, or give this user access to the device";
    }
    if (speaks_of("vfio") || speaks_of("probe") || speaks_of("device")) {
        return "check the device's driver with dpdk-devbind.py --status";
    }
    const std::uint64_t mib = memory_bytes >> 20;
    if (hugepages) return fmt::format("free {} MB of hugepages (dpdk-hugepages.py --show)", mib);
    return fmt::format("free {} MB of memory, or reserve as many hugepages", mib);
}

/// `rte_eal_init` keeps pointers into its arguments, so they live as long as the process.
int init(std::vector<std::string> args) {
    static std::vector<std::string> kept;
    static std::vector<char*> pointers;
    kept = std::move(args);
    pointers.clear();
    for (std::string& arg : kept) pointers.push_back(arg.data());
    pointers.push_back(nullptr);
    return rte_eal_init(int(kept.size()), pointers.data());
}

}  // namespace

std::vector<unsigned> allowed_cpus() {
    std::vector<unsigned> cpus;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("cannot read the CPU affinity: {}",
                                  std::generic_category().message(errno)));
    }
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

std::vector<unsigned> choose_worker_cpus(const std::vector<unsigned>& wanted,
                                         const std::vector<unsigned>& allowed) {
    if (wanted.empty()) return {allowed.back()};
    const auto refuse = [&allowed](std::string what) {
        throw Failure(ExitStatus::kMachineCannot, fmt::format("{}; this process may use CPUs {}",
                                                              what, fmt::join(allowed, ", ")));
    };
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const unsigned cpu = wanted[i];
        if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end()) {
            refuse(fmt::format("worker CPU {} does not exist or is not this process's", cpu));
        }
        if (std::find(wanted.begin(), wanted.begin() + std::ptrdiff_t(i), cpu) !=
            wanted.begin() + std::ptrdiff_t(i)) {
            // They would take turns of whole time slices, and wait for each other's rings.
            refuse(fmt::format("two polling workers on CPU {} would block each other", cpu));
        }
    }
    if (wanted.size() >= RTE_MAX_LCORE) {
        refuse(fmt::format("{} workers are more than DPDK's {}", wanted.size(), RTE_MAX_LCORE - 1));
    }
    return wanted;
}

Eal::Eal(const EalConfig& config) {
    static bool started = false;
    if (started) {
        throw Failure(ExitStatus::kMachineCannot,
                      "DPDK starts once per process: start the next run in a new one");
    }
    started = true;
    hugepages_ = config.hugepages != Hugepages::kNone && hugepages_hold(config.memory_bytes);
    if (config.hugepages == Hugepages::kRequired && !hugepages_) {
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("hugepages: required, but {} MB of them are not free for this "
                                  "user; reserve them as "
                                  "root (dpdk-hugepages.py --setup 1G), or say hugepages: auto",
                                  (config.memory_bytes + (1 << 20) - 1) >> 20));
    }
    // Its own stream keeps the log off syslog.
    rte_openlog_stream(stderr);
    std::string log;
    bool runs = false;
    {
        const OutputCapture capture;
        runs = init(arguments(config, hugepages_)) >= 0;
        log = capture.text();
    }
    if (!runs) {
        std::string why = last_log_lines(log);
        if (why.empty()) why = rte_strerror(rte_errno);
        throw Failure(ExitStatus::kMachineCannot,
                      fmt::format("DPDK does not start: {}; {}", why,
                                  advice(log, hugepages_, config.memory_bytes)));
    }
    runtime_directory_ = rte_eal_get_runtime_dir();
}

Eal::~Eal() {
    rte_eal_cleanup();
    // The EAL makes the directory even where it puts nothing there, and leaves it.
    rmdir(runtime_directory_.c_str());
}

}  // namespace rocegen
