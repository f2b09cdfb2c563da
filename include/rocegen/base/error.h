/// What goes wrong before the start: problems of an input file, collected and shown in one go, and
/// failures that end the program with a sentence and an exit status.
/// Thread: main only; nothing here is called per packet.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rocegen {

/// What the process returns; README.md says the same to users.
enum class ExitStatus : int {
    kHolds = 0,              ///< It ran and every expectation holds.
    kExpectationFailed = 1,  ///< analyze: the capture is damaged, or no packet could be read.
    kBadInput = 2,           ///< Arguments, profile or file.
    kMachineCannot = 3,      ///< No port, no permission, no memory; the text says what to do.
    kNoRoce = 4,             ///< analyze: neither RoCE nor pause frames in the capture.
    kInterrupted = 130,      ///< SIGINT or SIGTERM; the report was written.
};

/// A place in an input file. Line and column count from 1; 0 means the file as a whole.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
};
/// "profiles/incast.yaml:24:11", or the file alone.
std::string to_text(const Place& place);

/// Problems of input files. `error` refuses the input, `warning` is printed and the run goes on.
class Diagnostics {
public:
    /// `what` names the key and value, what is allowed and what to do.
    void error(const Place& place, std::string_view what);
    void warning(const Place& place, std::string_view what);
    bool failed() const { return errors_ > 0; }
    std::size_t error_count() const { return errors_; }
    /// In order of arrival, "place: error: what".
    const std::vector<std::string>& lines() const { return lines_; }
    std::string text() const;

private:
    std::vector<std::string> lines_;
    std::size_t errors_ = 0;
};

/// Prevents the start or the report. `main` catches it once and returns `status`.
class Failure : public std::runtime_error {
public:
    Failure(ExitStatus status, const std::string& what)
        : std::runtime_error(what), status_(status) {}
    ExitStatus status() const { return status_; }

private:
    ExitStatus status_;
};

/// The entry of `candidates` nearest to `word` by edit distance, or empty if none is near (at most
/// a third of its length away).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace rocegen
