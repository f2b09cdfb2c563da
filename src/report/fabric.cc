#include "report/fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "rocegen/report/format.h"

namespace rocegen {
namespace {

using Align = Table::Align;
constexpr double kPicosPerNs = 1e3;

std::string nanoseconds(Picoseconds time) {
    return with_unit(double(time.count()) / kPicosPerNs, "ns", 6);
}

/// One line of a table or list, and by what the most telling ones are chosen.
struct Ranked {
    std::uint64_t weight = 0;
    std::vector<std::string> cells;
};

/// The lines with the most weight, in the fabric's order where it is equal; then how many are left.
std::string shown(Table table, std::vector<Ranked> lines, std::string_view title) {
    if (lines.empty()) return "";
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Ranked& a, const Ranked& b) { return a.weight > b.weight; });
    const std::size_t count = std::min(lines.size(), kFabricLinesShown);
    for (std::size_t i = 0; i < count; ++i) table.row(lines[i].cells);
    std::string text = fmt::format("\n{}:\n{}", title, table.text());
    if (count < lines.size()) {
        text += fmt::format("{} more are in report.json.\n", lines.size() - count);
    }
    return text;
}

std::string queues(const FabricResult& fabric) {
    Table table;
    table.column("Switch port", Align::kLeft);
    table.column("Peer", Align::kLeft);
    for (const char* name :
         {"Queue", "Sent", "Peak [bytes]", "Peak at", "CE marked", "Dropped", "Queue paused"}) {
        table.column(name);
    }
    std::vector<Ranked> lines;
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            for (std::size_t q = 0; q < port.queues.size(); ++q) {
                const QueueCounters& queue = port.queues[q];
                const std::uint64_t dropped = sum(queue.drops);
                if (queue.tx_frames + dropped + queue.peak_cells.value == 0) continue;
                const std::uint64_t peak = std::uint64_t{queue.peak_cells.value} * node.cell_bytes;
                lines.push_back(
                    {peak,
                     {port.name, port.peer, fmt::format("{}", q), count_text(queue.tx_frames),
                      count_text(peak), nanoseconds(queue.peak_cells.at),
                      count_text(queue.ce_marks), count_text(dropped), nanoseconds(queue.paused)}});
            }
        }
    }
    return shown(std::move(table), std::move(lines), "Queues of the switches, the deepest first");
}

void add_pauses(const std::string& name, const PfcCounters& pfc,
                const std::array<Picoseconds, 8>& paused, std::vector<Ranked>& lines) {
    for (std::size_t p = 0; p < 8; ++p) {
        if (pfc.tx[p] + pfc.rx[p] == 0) continue;
        lines.push_back({pfc.tx[p] + pfc.rx[p],
                         {name, fmt::format("{}", p), count_text(pfc.tx_xoff[p]),
                          count_text(pfc.tx[p] - pfc.tx_xoff[p]), count_text(pfc.rx_xoff[p]),
                          count_text(pfc.rx[p] - pfc.rx_xoff[p]), nanoseconds(paused[p])}});
    }
}

std::string pauses(const FabricResult& fabric) {
    Table table;
    table.column("Port", Align::kLeft);
    for (const char* name :
         {"Priority", "XOFF sent", "XON sent", "XOFF received", "XON received", "Paused"}) {
        table.column(name);
    }
    std::vector<Ranked> lines;
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            std::array<Picoseconds, 8> paused{};
            for (std::size_t q = 0; q < 8; ++q) paused[q] = port.queues[q].paused;
            add_pauses(port.name, port.link_end.pfc, paused, lines);
        }
    }
    for (const NicResult& nic : fabric.nics) {
        add_pauses(nic.name, nic.link_end.pfc, nic.paused, lines);
    }
    return shown(std::move(table), std::move(lines), "Pauses by PFC, the most first");
}

void add_drops(const std::string& where, const DropCounts& drops, std::vector<Ranked>& lines) {
    for (std::size_t c = 0; c < kDropCauseCount; ++c) {
        if (drops[c] == 0) continue;
        lines.push_back(
            {drops[c], {where, std::string{to_text(DropCause(c))}, count_text(drops[c])}});
    }
}

std::string drops(const FabricResult& fabric) {
    Table table;
    table.column("Dropped at", Align::kLeft);
    table.column("Cause", Align::kLeft);
    table.column("Frames");
    std::vector<Ranked> lines;
    for (const SwitchResult& node : fabric.switches) {
        for (const SwitchPortResult& port : node.ports) {
            add_drops(port.name, port.link_end.drops, lines);
            for (std::size_t i = 0; i < 8; ++i) {
                add_drops(fmt::format("{} queue {}", port.name, i), port.queues[i].drops, lines);
                add_drops(fmt::format("{} group {}", port.name, i), port.groups[i].drops, lines);
            }
        }
    }
    for (const NicResult& nic : fabric.nics) add_drops(nic.name, nic.link_end.drops, lines);
    return shown(std::move(table), std::move(lines), "Frames that the fabric lost, the most first");
}

std::string faults(const FabricResult& fabric) {
    Table table;
    table.column("Fault", Align::kLeft);
    table.column("Of", Align::kLeft);
    for (const char* name : {"At", "For", "New routes after", "First frame after",
                             "Lost until the next", "Last loss after", "Recovered after"}) {
        table.column(name);
    }
    for (const FaultResult& result : fabric.faults) {
        const FaultConfig& fault = result.fault;
        const Picoseconds changed = fault.at + fault.duration;
        const auto after = [](Picoseconds at, Picoseconds from) {
            return at == kNever ? std::string{"-"} : nanoseconds(at - from);
        };
        table.row({std::string{to_text(fault.kind)}, result.of, nanoseconds(fault.at),
                   fault.duration.count() > 0 ? nanoseconds(fault.duration) : "-",
                   after(result.rerouted, result.rerouted < changed ? fault.at : changed),
                   after(result.first_frame, fault.at), count_text(sum(result.drops)),
                   after(result.last_loss, fault.at), after(recovered_at(result), fault.at)});
    }
    return table.empty() ? "" : "\nFaults:\n" + table.text();
}

}  // namespace

std::string fabric_text(const FabricResult& fabric) {
    const FabricTotals all = totals(fabric);
    std::string text = fmt::format(
        "\nFabric: {} frames dropped, {} marked CE, {} XOFF sent by switches; deepest queue {} "
        "bytes at {}, most headroom in use {} bytes, {} frames held at the end\n",
        all.drops, all.ce_marked, all.pfc_xoff_tx, all.queue_peak_bytes,
        nanoseconds(all.queue_peak_at), all.headroom_peak_bytes, all.held);
    return text + faults(fabric) + queues(fabric) + pauses(fabric) + drops(fabric);
}

}  // namespace rocegen
