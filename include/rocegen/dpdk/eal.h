/// Starts DPDK's environment (EAL), once per process, and ends it. With hugepages where there are
/// enough, else in ordinary memory: then no privilege and no file is needed, so that two runs, or two
/// users, do not meet.
/// Thread: main. Needs nothing of DPDK's headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rocegen/base/hugepages.h"

namespace rocegen {

/// CPUs this process may run on (sched_getaffinity), ascending.
std::vector<unsigned> allowed_cpus();

/// Checks `wanted` against `allowed`: each once, each allowed. Empty: the last of `allowed`, since
/// interrupts go to the first CPUs by default. Throws Failure (kMachineCannot).
std::vector<unsigned> choose_worker_cpus(const std::vector<unsigned>& wanted,
                                         const std::vector<unsigned>& allowed);

struct EalConfig {
    std::vector<unsigned> worker_cpus;     ///< As chosen; worker i polls on worker_cpus[i].
    std::optional<unsigned> main_cpu;      ///< Empty: main floats over all allowed CPUs.
    std::vector<std::string> pci_devices;  ///< Addresses; empty: the PCI bus is left alone.
    std::uint64_t memory_bytes = 0;        ///< What pools and rings will take.
    Hugepages hugepages = Hugepages::kAuto;
};

class Eal {
public:
    /// Throws Failure (kMachineCannot) with a sentence; stdout stays clean.
    explicit Eal(const EalConfig& config);
    ~Eal();
    Eal(const Eal&) = delete;
    Eal& operator=(const Eal&) = delete;

    bool hugepages() const { return hugepages_; }
    /// DPDK's number of worker i's thread. Main is lcore 0, and sleeps.
    static unsigned lcore_of(unsigned worker) { return worker + 1; }

private:
    bool hugepages_ = false;
    std::string runtime_directory_;
};

}  // namespace rocegen
