/// The emulated fabric's switches.
#include "profile/keys/sections.h"

namespace rocegen {
namespace {

using namespace key_units;
constexpr auto T = KeyDoc::File::kTestbed;

constexpr std::array kKeys = std::to_array<Key>({
    {T, "switch", K::kMap, "{}", 0, 0, "", "What every switch is. Not of type link."},
    {T, "switch.architecture", K::kChoice, "output-queued", 0, 0, "output-queued | voq",
     "One FIFO a queue; or one an ingress port, served in turn, each with depth and limits of its "
     "own."},
    {T, "switch.cell", K::kBytes, "256B", 1, 65535, "", "A frame takes whole cells of the buffer."},
    {T, "switch.buffer", K::kBytes, "32MiB", 1, 4 * kGiB, "",
     "Headroom is taken from it, the rest is shared."},
    {T, "switch.reserve", K::kMap, "{}", 0, 0, "", "Buffer that is nobody else's."},
    {T, "switch.reserve.group", K::kBytes, "0B", 0, 4 * kGiB, "",
     "At ingress, of each port and priority group."},
    {T, "switch.reserve.queue", K::kBytes, "0B", 0, 4 * kGiB, "", "At egress, of each queue."},
    {T, "switch.queue_limit", K::kBytes, "none", 1, 4 * kGiB, "",
     "Fixed limit of a lossy queue, beside its dynamic threshold."},
    {T, "switch.alpha", K::kMap, "{}", 0, 0, "", "Dynamic thresholds: alpha x free shared buffer."},
    {T, "switch.alpha.lossless", K::kShare, "1/8", kOne / 256, 128 * kOne, "",
     "XOFF of a lossless priority group at ingress."},
    {T, "switch.alpha.lossy", K::kShare, "1", kOne / 256, 128 * kOne, "",
     "Where a lossy queue drops."},
    {T, "switch.pfc", K::kMap, "{}", 0, 0, "", "When a lossless priority group pauses its sender."},
    {T, "switch.pfc.priorities", K::kList, "[3]; with sonic-azure [3, 4]", 0, 0, "",
     "Lossless priorities; [] for none: then nothing pauses."},
    {T, "switch.pfc.priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.pfc.xoff_threshold", K::kThreshold, "dynamic", 1, 4 * kGiB, "dynamic",
     "XOFF at alpha.lossless x free shared buffer, or at a size."},
    {T, "switch.pfc.xon_offset", K::kBytes, "16KiB", 0, 4 * kGiB, "",
     "XON that much below the threshold."},
    {T, "switch.pfc.headroom", K::kBytes, "64KiB", 0, 4 * kGiB, "",
     "Room of each port and lossless group for what comes after XOFF."},
    {T, "switch.pfc.headroom_pool", K::kBytes, "none", 1, 4 * kGiB, "",
     "All groups share this much; `headroom` is what one may take of it."},
    {T, "switch.pfc.response", K::kTime, "1us", 0, kSecond, "",
     "Of switches and NICs: from a pause frame's last bit to the last frame that may begin."},
    {T, "switch.pfc.quanta", K::kCount, "65535", 1, 65535, "",
     "Of an XOFF, in units of 512 bit times of the link."},
    {T, "switch.pfc.refresh", K::kShare, "50%", 0, kOne, "",
     "XOFF is sent again after this share of its quanta; 0: never, so that it lapses."},
    {T, "switch.ecn", K::kMap, "none: nothing is marked", 0, 0, "",
     "RED on the depth that a frame finds or leaves, itself not counted."},
    {T, "switch.ecn.priorities", K::kList, "required", 0, 0, "", "Queues that mark."},
    {T, "switch.ecn.priorities[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.ecn.kmin", K::kBytes, "100KiB", 0, 4 * kGiB, "",
     "Up to it nothing is marked. Rounded up to cells."},
    {T, "switch.ecn.kmax", K::kBytes, "400KiB", 0, 4 * kGiB, "",
     "From it on all is marked. Rounded up to cells."},
    {T, "switch.ecn.pmax", K::kShare, "0.2", 0, kOne, "", "Chance of a mark just below `kmax`."},
    {T, "switch.ecn.average_shift", K::kCount, "0", 0, 15, "",
     "0: the depth itself counts. N: an average that each frame moves by 2^-N of the difference."},
    {T, "switch.ecn.mark_at", K::kChoice, "enqueue", 0, 0, "enqueue | dequeue",
     "When the depth is looked at."},
    {T, "switch.ecn.not_ect", K::kChoice, "drop", 0, 0, "drop | pass",
     "What happens to a Not-ECT frame that would be marked."},
    {T, "switch.scheduler", K::kMap, "{}", 0, 0, "", "Which queue of a port sends next."},
    {T, "switch.scheduler.strict", K::kList, "[]", 0, 0, "",
     "Queues that are served first, the highest before all."},
    {T, "switch.scheduler.strict[]", K::kCount, "required", 0, 7, "", "One of them."},
    {T, "switch.scheduler.dwrr", K::kMap, "{}", 0, 0, "",
     "Weights of the other queues by number: `{0: 30, 3: 70}`."},
    {T, "switch.scheduler.dwrr.<queue>", K::kCount, "1", 1, 65535, "", "Weight of queue 0 to 7."},
    {T, "switch.scheduler.quantum", K::kBytes, "1600B", 1, 64 * 1024 * 1024, "",
     "What the smallest weight may send a round, in bytes on the wire."},
    {T, "switch.watchdog", K::kMap, "none", 0, 0, "",
     "Acts on a queue that is paused, holds frames and sends none; `{}` takes the defaults."},
    {T, "switch.watchdog.detection", K::kTime, "200ms", kUs, 3600 * kSecond, "",
     "Paused and silent for so long is a storm."},
    {T, "switch.watchdog.poll", K::kTime, "100ms", kUs, 3600 * kSecond, "",
     "How often it looks: a storm is found up to two polls late."},
    {T, "switch.watchdog.restoration", K::kTime, "200ms", kUs, 3600 * kSecond, "",
     "No pause for so long ends the action."},
    {T, "switch.watchdog.action", K::kChoice, "drop", 0, 0, "drop | forward",
     "drop: frames of the queue are dropped; forward: its pause is ignored."},
    {T, "switches", K::kMap, "{}", 0, 0, "", "Switches that differ, by name: `leaf0`, `spine1`."},
    {T, "switches.<name>", K::kMap, "{}", 0, 0, "",
     "Keys of `switch`, for this one; what it leaves out is as there. Not `pfc.priorities`."},
});

}  // namespace

std::span<const Key> switch_keys() { return kKeys; }

}  // namespace rocegen
