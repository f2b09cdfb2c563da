#include <fmt/format.h>

#include <algorithm>

#include "report/campaign_rows.h"
#include "report/web/assets.h"
#include "report/web/page.h"
#include "rocegen/report/format.h"

namespace rocegen {
namespace {

std::string cell(std::string_view tag, std::string_view text) {
    return fmt::format("<{0}>{1}</{0}>", tag, escaped(text));
}

std::string runs_cell(const CampaignStep& step) {
    std::string links;
    for (std::size_t i = 0; i < step.runs.size(); ++i) {
        const CampaignRun& run = step.runs[i];
        const std::string mark = run.holds() ? fmt::format("{}", i) : fmt::format("{} (no)", i);
        links += run.folder.empty()
                     ? mark + " "
                     : fmt::format("<a href=\"{}/report.html\">{}</a> ", escaped(run.folder), mark);
    }
    return "<td>" + links + "</td>";
}

/// Steps in rows; a metric's median, and its spread where there is one.
std::string table(const Campaign& campaign) {
    std::vector<std::string> subjects;
    for (const StepNumber& n : columns_of(campaign)) subjects.push_back(n.subject);
    std::string html = "<table>\n<thead><tr>";
    for (const std::string& key : campaign.keys) html += cell("th", key);
    html += cell("th", "hold") + cell("th", "runs");
    for (const std::string& subject : subjects) html += cell("th", subject);
    html += "</tr></thead>\n<tbody>\n";
    for (const CampaignStep& step : campaign.steps) {
        html += "<tr>";
        for (const std::string& value : step.values) html += cell("td", value);
        html += cell("td", fmt::format("{}/{}", runs_that_hold(step), step.runs.size()));
        html += runs_cell(step);
        const std::vector<StepNumber> numbers = numbers_of(step);
        for (const std::string& subject : subjects) {
            const auto n = std::find_if(numbers.begin(), numbers.end(),
                                        [&](const StepNumber& s) { return s.subject == subject; });
            if (n == numbers.end() || n->spread.count == 0) {
                html += cell("td", "-");
                continue;
            }
            std::string text = with_unit(n->spread.median, n->unit, 5);
            if (n->spread.count > 1) {
                text += fmt::format(" ({} to {})", with_unit(n->spread.min, n->unit, 5),
                                    with_unit(n->spread.max, n->unit, 5));
            }
            html += cell("td", text);
        }
        html += "</tr>\n";
    }
    return html + "</tbody>\n</table>\n";
}

}  // namespace

std::string to_html(const Campaign& campaign) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n";
    out += fmt::format("<title>rocegen: {} on {}</title>\n<style>", escaped(campaign.profile_name),
                       escaped(campaign.testbed_name));
    out += report_css();
    const bool holds = campaign.holds();
    out += fmt::format(
        "</style>\n</head>\n<body>\n<header>\n<h1 class=\"{}\">{}</h1>\n<p class=\"context\">"
        "Profile {}, testbed {}: {} steps of {} runs. Medians, with the least and the greatest in "
        "brackets.</p>\n</header>\n<main>\n",
        campaign.interrupted ? "warn"
        : holds              ? "pass"
                             : "fail",
        escaped(verdict_line(campaign)), escaped(campaign.profile_name),
        escaped(campaign.testbed_name), campaign.steps_planned, campaign.repeat);
    out += table(campaign);
    for (const CampaignStep& step : campaign.steps) {
        std::string items;
        for (const StepExpectation& e : expectations_of(step)) {
            if (e.hold + e.skipped == e.runs) continue;
            items += fmt::format("<li>{}: not in {} of {} runs</li>\n", escaped(e.text),
                                 e.runs - e.hold - e.skipped, e.runs);
        }
        if (items.empty()) continue;
        out +=
            fmt::format("<h2>{}</h2>\n<ul>\n{}</ul>\n", escaped(step_title(campaign, step)), items);
    }
    return out + "</main>\n</body>\n</html>\n";
}

}  // namespace rocegen
