#include "rocegen/dpdk/output_capture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <vector>

namespace rocegen {
namespace {

/// "EAL: text" or "net_pcap(): text": a word, then a colon. Usage pages are indented or have none.
bool is_log_line(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos || colon == 0 || line.starts_with("Usage")) return false;
    return std::all_of(line.begin(), line.begin() + std::ptrdiff_t(colon), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '(' || c == ')';
    });
}

/// DPDK says its failures twice: once loud, once as a log line.
std::string_view strip(std::string_view line) {
    for (const std::string_view prefix : {"EAL: FATAL: ", "EAL: "}) {
        if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    while (!line.empty() && (line.back() == '.' || line.back() == '!' || line.back() == ' ')) {
        line.remove_suffix(1);
    }
    return line;
}

}  // namespace

OutputCapture::OutputCapture() {
    std::fflush(stdout);
    std::fflush(stderr);
    file_ = memfd_create("rocegen-output", MFD_CLOEXEC);
    // Without a file nothing is held back: noise is better than no start.
    if (file_ < 0) return;
    stdout_ = dup(STDOUT_FILENO);
    stderr_ = dup(STDERR_FILENO);
    if (stdout_ >= 0) dup2(file_, STDOUT_FILENO);
    if (stderr_ >= 0) dup2(file_, STDERR_FILENO);
}

OutputCapture::~OutputCapture() {
    std::fflush(stdout);
    std::fflush(stderr);
    for (const auto& [saved, to] : {std::pair{stdout_, STDOUT_FILENO}, {stderr_, STDERR_FILENO}}) {
        if (saved < 0) continue;
        dup2(saved, to);
        close(saved);
    }
    if (file_ >= 0) close(file_);
}

std::string OutputCapture::text() const {
    std::fflush(stdout);
    std::fflush(stderr);
    std::string text;
    if (file_ < 0) return text;
    char buffer[4096];
    for (off_t at = 0;;) {
        const ssize_t got = pread(file_, buffer, sizeof buffer, at);
        if (got <= 0) return text;
        text.append(buffer, std::size_t(got));
        at += got;
    }
}

std::string last_log_lines(const std::string& text) {
    constexpr std::size_t kLines = 3;
    std::vector<std::string_view> lines;
    std::string_view general;  // what the EAL adds to a driver's own words
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line{text.data() + at, end - at};
        at = end + 1;
        if (!is_log_line(line)) continue;
        const std::string_view said = strip(line);
        if (said.find(" attach ") != std::string_view::npos) {
            if (general.empty()) general = said;
            continue;
        }
        if (std::find(lines.begin(), lines.end(), said) == lines.end()) lines.push_back(said);
    }
    if (lines.empty() && !general.empty()) lines.push_back(general);
    std::string joined;
    for (std::size_t i = lines.size() > kLines ? lines.size() - kLines : 0; i < lines.size(); ++i) {
        if (!joined.empty()) joined += "; ";
        joined += lines[i];
    }
    return joined;
}

}  // namespace rocegen
