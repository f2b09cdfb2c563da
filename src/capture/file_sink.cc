#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rocegen/base/error.h"
#include "rocegen/capture/writer.h"

namespace rocegen {
namespace {

constexpr std::size_t kSinkBytes = 1u << 20;

}  // namespace

FileSink::FileSink(const std::string& path)
    : name_(path == "-" ? "standard output" : path),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kSinkBytes)) {
    if (path == "-") {
        fd_ = STDOUT_FILENO;
        return;
    }
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) {
        throw Failure(ExitStatus::kBadInput, fmt::format("{}: {}", path, std::strerror(errno)));
    }
    owned_ = true;
}

FileSink::~FileSink() {
    flush();
    if (owned_) ::close(fd_);
}

void FileSink::append(std::span<const std::byte> bytes) noexcept {
    bytes_ += bytes.size();
    if (used_ + bytes.size() > kSinkBytes) flush();
    if (bytes.size() > kSinkBytes) return write_out(bytes);
    if (bytes.empty()) return;
    std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
}

void FileSink::flush() noexcept {
    write_out({buffer_.get(), used_});
    used_ = 0;
}

void FileSink::write_out(std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty() && errno_ == 0) {
        const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
        if (put >= 0) {
            bytes = bytes.subspan(std::size_t(put));
        } else if (errno != EINTR) {
            errno_ = errno;
        }
    }
}

std::string FileSink::error() const {
    return errno_ == 0 ? std::string() : fmt::format("{}: {}", name_, std::strerror(errno_));
}

void FileSink::close() {
    flush();
    if (owned_) {
        owned_ = false;
        // Some file systems say only here that the disk is full.
        if (::close(fd_) != 0 && errno_ == 0) errno_ = errno;
    }
    if (errno_ != 0) throw Failure(ExitStatus::kMachineCannot, error());
}

}  // namespace rocegen
