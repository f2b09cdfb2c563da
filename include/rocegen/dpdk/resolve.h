/// From what a testbed calls a device to what DPDK opens. A kernel interface becomes the virtual
/// device of a driver, with arguments that let every frame of the plan through; a PCI address, a
/// ring and a virtual device stay. Interfaces that the machine itself uses are refused.
/// Thread: main, before the EAL starts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rocegen/dpdk/device.h"
#include "rocegen/dpdk/live.h"

namespace rocegen {

/// The configurations with `device` as DPDK reads it. `force`: takes interfaces that carry an
/// address or the default route. Throws Failure (kMachineCannot) that says what to do.
std::vector<LivePortConfig> resolve_devices(std::span<const LivePortConfig> configs,
                                            const FrameNeeds& needs, bool force);

/// The kernel interface below a device: a name, or behind "iface="; empty if there is none.
std::string interface_of(const std::string& device);

/// af_packet's ring entry for frames of `frame_bytes`: its own headers within, a power of two.
std::uint32_t af_packet_entry_bytes(std::uint32_t frame_bytes);

}  // namespace rocegen
