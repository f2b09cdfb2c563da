#include "rocegen/report/write.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "report/series_rows.h"
#include "rocegen/base/error.h"
#include "rocegen/report/html.h"
#include "rocegen/report/text.h"

namespace rocegen {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view verb, int error) {
    throw Failure(ExitStatus::kMachineCannot,
                  fmt::format("{}: cannot {}: {}; name another directory with --out", path.string(),
                              verb, std::generic_category().message(error)));
}

/// A file that is removed again unless it was renamed to its place.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::filesystem::path& target)
        : target_(target), path_(target.string() + fmt::format(".{}.tmp", getpid())) {
        descriptor_ =
            open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (descriptor_ < 0) fail(target_, "create", errno);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() {
        if (descriptor_ >= 0) close(descriptor_);
        if (!renamed_) unlink(path_.c_str());
    }

    void write_all(std::string_view text) {
        while (!text.empty()) {
            const ssize_t written = ::write(descriptor_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(target_, "write", errno);
            text.remove_prefix(std::size_t(written));
        }
    }
    /// Full disks show here at the latest.
    void rename_to_target() {
        if (fsync(descriptor_) != 0 && errno != EINVAL) fail(target_, "write", errno);
        const int closed = close(descriptor_);
        descriptor_ = -1;
        if (closed != 0) fail(target_, "write", errno);
        if (rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "replace", errno);
        renamed_ = true;
    }

private:
    std::filesystem::path target_, path_;
    int descriptor_ = -1;
    bool renamed_ = false;
};

}  // namespace

void write_file(const std::filesystem::path& path, std::string_view text) {
    TemporaryFile file(path);
    file.write_all(text);
    file.rename_to_target();
}

void make_directory(const std::filesystem::path& dir) {
    std::error_code error;
    std::filesystem::create_directories(dir, error);
    if (error) fail(dir, "make the directory", error.value());
}

void write_report(const std::filesystem::path& dir, const Result& result, const Plan& plan,
                  const Evidence& evidence, const Meta& meta, const FabricResult* fabric) {
    make_directory(dir);
    write_file(dir / "meta.json", meta_json(meta));
    write_file(dir / "report.txt", to_text(result, plan, fabric));
    write_file(dir / "series.csv", series_csv(series_rows(result, plan, fabric)));
    write_file(dir / "report.html", to_html(result, plan, evidence, meta, fabric));
    write_file(dir / "report.json", to_json(result, plan, evidence, fabric));
}

}  // namespace rocegen
