/// A page around JSON: report.css, dygraphs and report.js, which draws what the data say.
/// Thread: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace rocegen {

struct PageHead {
    std::string title;
    std::string verdict;
    std::string_view mood;               ///< "pass", "fail", "warn" or "done": its colour.
    std::string context;                 ///< The line below the verdict.
    std::vector<std::string> sentences;  ///< Read without scripts too.
};

/// `data` stands in a script element; no text in it can end that.
std::string page(const PageHead& head, const nlohmann::ordered_json& data);

/// Text as HTML shows it.
std::string escaped(std::string_view text);

}  // namespace rocegen
