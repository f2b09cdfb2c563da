/// Which CPUs other runs of rocegen poll on. Two polling workers on one CPU take turns of whole time
/// slices, so a run that may choose avoids CPUs that another one has claimed.
/// A claim is a name in the abstract socket space: the kernel drops it with the process, and no
/// file is left. Thread: main.
#pragma once

#include <vector>

namespace rocegen {

class CpuClaims {
public:
    CpuClaims() = default;
    ~CpuClaims();
    CpuClaims(const CpuClaims&) = delete;
    CpuClaims& operator=(const CpuClaims&) = delete;

    /// False: another process has it. Held until this object goes.
    bool claim(unsigned cpu);
    /// The last of `allowed` that nobody has, claimed; the last one if all are taken. Interrupts go
    /// to the first CPUs by default.
    unsigned claim_one(const std::vector<unsigned>& allowed);

private:
    std::vector<int> sockets_;
};

}  // namespace rocegen
