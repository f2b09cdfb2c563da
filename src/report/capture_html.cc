#include "rocegen/report/capture_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "report/charts.h"
#include "report/web/page.h"
#include "rocegen/base/error.h"
#include "rocegen/report/html.h"
#include "rocegen/report/write.h"

namespace rocegen {
namespace {

using Json = nlohmann::ordered_json;
using Kind = SeriesRows::Kind;

constexpr std::size_t kFlowsListed = 1000, kEventsListed = 2000;

std::string json_text(const CaptureReport& report) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* memory = open_memstream(&text, &size);
    if (memory == nullptr) throw Failure(ExitStatus::kMachineCannot, "no memory for the report");
    write_json(report, memory);
    std::fclose(memory);
    const std::unique_ptr<char, void (*)(void*)> owner{text, std::free};
    return std::string(text, size);
}

std::vector<SeriesRows> rows_of(const CaptureSeries& series) {
    std::vector<SeriesRows> out;
    const auto add = [&](Kind kind, std::string name, const AmountSeries& from) {
        if (!from.used()) return;
        AmountResult r = from.result(series.config(), series.end());
        out.push_back({kind, std::move(name), r.width, r.end, {}, {}, std::move(r.sums)});
    };
    for (const CaptureSeries::Flow& flow : series.flows()) {
        add(Kind::kFlowReceived, flow.name, flow.bytes);
        add(Kind::kFlowCe, flow.name, flow.ce);
    }
    add(Kind::kCnpReceived, "all", series.cnp());
    for (std::size_t p = 0; p < 8; ++p) {
        add(Kind::kXoffReceived, fmt::format("priority {}", p), series.xoff()[p]);
    }
    return out;
}

/// Shortens a list that a page need not hold whole; how long it was is the answer.
std::size_t cut(Json& document, const char* key, std::size_t most) {
    if (!document.contains(key) || !document[key].is_array()) return 0;
    auto& list = document[key].get_ref<Json::array_t&>();
    const std::size_t all = list.size();
    if (all > most) list.resize(most);
    return all;
}

std::vector<std::string> sentences(const CaptureReport& report) {
    std::vector<std::string> out = report.remarks();
    const CaptureTotals& t = report.totals;
    const std::uint64_t ect = t.ecn[kEct0] + t.ecn[kEct1] + t.ecn[kCe];
    const FlowSums sum = sums(report.flows);
    out.push_back(fmt::format("{} RoCE frames of {} flows, {} pause frames.", t.roce_frames(),
                              report.flows.flows().size() + report.flows.flows_not_tracked(),
                              t.pause_frames()));
    out.push_back(
        ect == 0 ? "No frame was ECN-capable."
                 : fmt::format("{:.3g} % of the ECN-capable frames carry CE ({} of {}); {} CNPs.",
                               100 * double(t.ecn[kCe]) / double(ect), t.ecn[kCe], ect, t.cnp));
    const std::uint64_t lost = sum.requests.lost_first_pass + sum.responses.lost_first_pass;
    const std::uint64_t never = sum.requests.missing_at_end + sum.responses.missing_at_end;
    out.push_back(
        lost == 0 ? "No PSN was lost."
                  : fmt::format("{} PSNs were lost at first, {} of them never came.", lost, never));
    return out;
}

}  // namespace

void write_capture_report(const std::filesystem::path& dir, const CaptureReport& report,
                          const CaptureSeries& series, const Meta& meta) {
    make_directory(dir);
    const std::string json = json_text(report);
    const std::vector<SeriesRows> all = rows_of(series);
    Json document = Json::parse(json);
    Json data;
    data["kind"] = "capture";
    data["end_ns"] = whole_ns(series.end());
    add_charts(data, all);
    data["flows_of"] = cut(document, "flows", kFlowsListed);
    data["events_of"] = cut(document, "timeline", kEventsListed);
    data["report"] = std::move(document);
    data["meta"] = Json::parse(meta_json(meta));
    PageHead head;
    head.title = "rocegen: capture";
    std::string names;
    for (const CaptureFileReport& file : report.files) {
        names += (names.empty() ? "" : ", ") + file.name;
    }
    const bool damaged = report.damaged();
    head.mood = damaged ? "warn" : "done";
    head.verdict = damaged ? "ANALYZED, the capture is damaged" : "ANALYZED";
    head.context = fmt::format("{}; {}{}", names, to_text(series.end()),
                               report.filter.empty() ? "" : ", filter: " + report.filter);
    head.sentences = sentences(report);
    write_file(dir / "meta.json", meta_json(meta));
    write_file(dir / "report.txt", to_text(report));
    write_file(dir / "series.csv", series_csv(all));
    write_file(dir / "report.html", page(head, data));
    write_file(dir / "report.json", json);
}

}  // namespace rocegen
