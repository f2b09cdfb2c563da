#include "report/web/page.h"

#include <fmt/format.h>

#include "report/web/assets.h"

namespace rocegen {
namespace {

/// JSON in which no "<" is left: "</script>" and "<!--" would end the element or change its parsing.
std::string script_safe(const nlohmann::ordered_json& data) {
    const std::string json =
        data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::string out;
    out.reserve(json.size() + json.size() / 64);
    std::size_t from = 0;
    for (std::size_t at; (at = json.find('<', from)) != std::string::npos; from = at + 1) {
        out.append(json, from, at - from);
        out += "\\u003c";
    }
    out.append(json, from);
    return out;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::string page(const PageHead& head, const nlohmann::ordered_json& data) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    // Nothing is fetched, whatever the data say.
    out +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
        "'unsafe-inline'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += fmt::format("<title>{}</title>\n<style>", escaped(head.title));
    out += dygraphs_css();
    out += report_css();
    out += fmt::format(
        "</style>\n</head>\n<body>\n<header>\n<h1 class=\"{}\">{}</h1>\n<p class=\"context\">{}"
        "</p>\n<ul>\n",
        head.mood, escaped(head.verdict), escaped(head.context));
    for (const std::string& sentence : head.sentences) {
        out += fmt::format("<li>{}</li>\n", escaped(sentence));
    }
    out += "</ul>\n</header>\n<main id=\"main\"></main>\n";
    out += "<script type=\"application/json\" id=\"data\">" + script_safe(data) + "</script>\n";
    out += "<script>";
    out += dygraphs_js();
    out += "</script>\n<script>";
    out += report_js();
    out += "</script>\n</body>\n</html>\n";
    return out;
}

}  // namespace rocegen
