/// Holds back what a library prints while it starts: DPDK shows its usage page on stdout, and stdout
/// is for reports. The text is kept, so that a failure can say what was behind it.
/// Thread: main; file descriptors 1 and 2 belong to the whole process while one exists.
#pragma once

#include <string>

namespace rocegen {

class OutputCapture {
public:
    OutputCapture();
    /// Gives stdout and stderr back.
    ~OutputCapture();
    OutputCapture(const OutputCapture&) = delete;
    OutputCapture& operator=(const OutputCapture&) = delete;

    /// All that was printed so far.
    std::string text() const;

private:
    int file_ = -1, stdout_ = -1, stderr_ = -1;
};

/// The last few log lines of `text` ("EAL: ...", "net_pcap: ..."), as one sentence; empty if there
/// is none. Usage pages are no log lines.
std::string last_log_lines(const std::string& text);

}  // namespace rocegen
