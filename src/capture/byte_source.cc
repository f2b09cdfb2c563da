#include "rocegen/capture/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "rocegen/base/error.h"
#include "rocegen/capture/mapped_pages.h"

namespace rocegen {
namespace {

class FileInput : public ByteInput {
public:
    FileInput(int fd, bool owned) : fd_(fd), owned_(owned) {}
    ~FileInput() override {
        watched_.reset();
        if (!map_.empty()) ::munmap(const_cast<std::byte*>(map_.data()), map_.size());
        if (owned_) ::close(fd_);
    }
    FileInput(const FileInput&) = delete;
    FileInput& operator=(const FileInput&) = delete;

    std::size_t read(std::span<std::byte> into) override {
        for (;;) {
            const ssize_t got = ::read(fd_, into.data(), into.size());
            if (got >= 0) return std::size_t(got);
            if (errno == EINTR) continue;
            damage_ = fmt::format("read error: {}", std::strerror(errno));
            return 0;
        }
    }
    std::span<const std::byte> map() override {
        struct stat status {};
        if (!owned_ || ::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return {};
        if (status.st_size < off_t(kLeastMapped)) return {};
        const auto bytes = std::size_t(status.st_size);
        void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, 0);
        if (at == MAP_FAILED) return {};
        if (::madvise(at, kPageBytes, MADV_POPULATE_READ) != 0) {  // before Linux 5.14
            ::munmap(at, bytes);
            return {};
        }
        map_ = {static_cast<const std::byte*>(at), bytes};
        watched_.emplace(map_);
        return map_;
    }
    /// Pages are read here, where a file that became shorter is an error. Those that vanish later,
    /// before they are used, are zeros by then.
    bool prepare(std::size_t done, std::size_t from, std::size_t to) override {
        auto* const base = const_cast<std::byte*>(map_.data());
        const std::size_t first = from & ~(kPageBytes - 1);
        done &= ~(kPageBytes - 1);
        if (done > released_) ::madvise(base + released_, done - released_, MADV_DONTNEED);
        released_ = std::max(released_, done);
        if (watched_->vanished()) return false;  // damage() says so
        while (::madvise(base + first, to - first, MADV_POPULATE_READ) != 0) {
            if (errno == EINTR || errno == EAGAIN) continue;
            damage_ =
                errno == EFAULT ? kShorter : fmt::format("read error: {}", std::strerror(errno));
            return false;
        }
        return true;
    }
    std::string damage() const override {
        return damage_.empty() && watched_ && watched_->vanished() ? kShorter : damage_;
    }

private:
    static constexpr const char* kShorter = "read error: the file became shorter while it was read";
    static constexpr std::size_t kLeastMapped = 1u << 20, kPageBytes = 4096;

    int fd_;
    bool owned_;
    std::span<const std::byte> map_;
    std::optional<WatchedMapping> watched_;  ///< `map_`, if there is one.
    std::size_t released_ = 0;
    std::string damage_;
};

class MemoryInput : public ByteInput {
public:
    explicit MemoryInput(std::span<const std::byte> bytes) : left_(bytes) {}
    std::size_t read(std::span<std::byte> into) override {
        const std::size_t got = std::min(into.size(), left_.size());
        if (got > 0) std::memcpy(into.data(), left_.data(), got);
        left_ = left_.subspan(got);
        return got;
    }

private:
    std::span<const std::byte> left_;
};

}  // namespace

std::unique_ptr<ByteInput> open_input(const std::string& path) {
    const auto fail = [&path](int error) {
        throw Failure(ExitStatus::kBadInput, fmt::format("{}: {}", path, std::strerror(error)));
    };
    if (path == "-") return std::make_unique<FileInput>(STDIN_FILENO, false);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(errno);
    auto input = std::make_unique<FileInput>(fd, true);
    struct stat status {};
    if (::fstat(fd, &status) != 0) fail(errno);
    if (S_ISDIR(status.st_mode)) fail(EISDIR);
    ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);  // a hint: pipes refuse it
    return input;
}

std::unique_ptr<ByteInput> memory_input(std::span<const std::byte> bytes) {
    return std::make_unique<MemoryInput>(bytes);
}

ByteSource::ByteSource(std::unique_ptr<ByteInput> input, std::size_t buffer_bytes)
    : input_(std::move(input)), map_(input_->map()), base_(map_.data()), capacity_(buffer_bytes) {
    if (!map_.empty()) return;
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    base_ = buffer_.get();
}

void ByteSource::widen_window(std::size_t bytes) {
    constexpr std::size_t kWindow = 2u << 20;
    const std::size_t wanted = std::max(begin_ + bytes, end_ + kWindow);
    const std::size_t end = std::min(wanted, map_.size());
    if (end == end_ || !input_->prepare(begin_, end_, end)) {
        ended_ = true;
    } else {
        end_ = end;
    }
}

std::span<const std::byte> ByteSource::refill(std::size_t bytes) {
    const std::size_t kept = end_ - begin_;
    if (ended_) return {base_ + begin_, kept};
    if (!map_.empty()) {
        widen_window(bytes);
        return {base_ + begin_, end_ - begin_};
    }
    if (bytes > capacity_) {
        const std::size_t capacity = std::max(bytes, 2 * capacity_);
        auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
        std::memcpy(larger.get(), buffer_.get() + begin_, kept);
        buffer_ = std::move(larger);
        base_ = buffer_.get();
        capacity_ = capacity;
    } else if (begin_ > 0) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
    }
    begin_ = 0;
    end_ = kept;
    while (end_ < bytes) {
        const std::size_t got = input_->read({buffer_.get() + end_, capacity_ - end_});
        if (got == 0) {
            ended_ = true;
            break;
        }
        end_ += got;
    }
    return {buffer_.get(), end_};
}

bool ByteSource::skip(std::uint64_t bytes) {
    while (bytes > 0) {
        const std::size_t piece = std::size_t(std::min<std::uint64_t>(bytes, need(1).size()));
        if (piece == 0) return false;
        consume(piece);
        bytes -= piece;
    }
    return true;
}

}  // namespace rocegen
