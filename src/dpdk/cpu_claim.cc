#include "rocegen/dpdk/cpu_claim.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace rocegen {

CpuClaims::~CpuClaims() {
    for (const int socket : sockets_) close(socket);
}

bool CpuClaims::claim(unsigned cpu) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return true;  // nothing to claim with: as if alone
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("rocegen/polls-on-cpu/{}", cpu);
    std::copy(name.begin(), name.end(), address.sun_path + 1);  // a first byte of 0: abstract
    const auto length = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        const bool taken = errno == EADDRINUSE;
        close(fd);
        return !taken;
    }
    sockets_.push_back(fd);
    return true;
}

unsigned CpuClaims::claim_one(const std::vector<unsigned>& allowed) {
    const auto found =
        std::find_if(allowed.rbegin(), allowed.rend(), [this](unsigned cpu) { return claim(cpu); });
    return found == allowed.rend() ? allowed.back() : *found;
}

}  // namespace rocegen
