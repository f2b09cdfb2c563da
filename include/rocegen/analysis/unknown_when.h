/// Why a metric is not known, as MetricInfo::unknown_when has it. Some of these can be said before a run.
/// Thread: constants.
#pragma once

namespace rocegen::unknown_when {

inline constexpr const char* kUntagged = "no tagged frame arrived";
inline constexpr const char* kNoSkew = "no burst in step of two sources or more";
inline constexpr const char* kNoPsn =
    "frames have no number that advances: CNP, open-loop TCP, UDP";
inline constexpr const char* kTwoFrames = "fewer than two frames, or all at one instant";
inline constexpr const char* kNoCounter = "the port's driver does not count it";
inline constexpr const char* kLiveOnly = "the run was not in real time";
inline constexpr const char* kNothingArrived = "nothing arrived";
inline constexpr const char* kNoEndpoint = "no emulated NIC answers or obeys for it";
inline constexpr const char* kNoDcqcn = "its congestion_control is not dcqcn";
inline constexpr const char* kNoReno = "its congestion_control is not reno";
inline constexpr const char* kNoLimit =
    "no stream with a limit came whole, or its frames have no tags";
inline constexpr const char* kNoMessage =
    "no message came whole and in order, or its frames have no tags";
inline constexpr const char* kNotConstant =
    "a pattern other than constant, or fewer than two frames";
inline constexpr const char* kNotRendered = "no frames are rendered";
inline constexpr const char* kNoProbes = "no port is on a wire";
inline constexpr const char* kNoCapture = "the run had no --capture";

}  // namespace rocegen::unknown_when
