/// What report.html embeds, as the build found it: Debian's dygraphs, and our own script and style.
/// Thread: any.
#pragma once

#include <string_view>

namespace rocegen {

std::string_view dygraphs_js();
std::string_view dygraphs_css();
std::string_view report_js();
std::string_view report_css();

}  // namespace rocegen
