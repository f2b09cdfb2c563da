#include "report/web/assets.h"

// The files become read-only bytes of the program. The paths are the build's.
#define ROCEGEN_EMBED(name, path)                                                         \
    asm(".section .rodata\n"                                                              \
        ".balign 16\n"                                                                    \
        "rocegen_" #name                                                                  \
        "_begin:\n"                                                                       \
        ".incbin \"" path                                                                 \
        "\"\n"                                                                            \
        "rocegen_" #name                                                                  \
        "_end:\n"                                                                         \
        ".previous\n");                                                                   \
    extern "C" const char rocegen_##name##_begin[] __attribute__((visibility("hidden"))); \
    extern "C" const char rocegen_##name##_end[] __attribute__((visibility("hidden")))

ROCEGEN_EMBED(dygraphs_js, ROCEGEN_DYGRAPHS "/dygraph.min.js");
ROCEGEN_EMBED(dygraphs_css, ROCEGEN_DYGRAPHS "/dygraph.min.css");
ROCEGEN_EMBED(report_js, ROCEGEN_WEB "/report.js");
ROCEGEN_EMBED(report_css, ROCEGEN_WEB "/report.css");

namespace rocegen {

std::string_view dygraphs_js() { return {rocegen_dygraphs_js_begin, rocegen_dygraphs_js_end}; }
std::string_view dygraphs_css() { return {rocegen_dygraphs_css_begin, rocegen_dygraphs_css_end}; }
std::string_view report_js() { return {rocegen_report_js_begin, rocegen_report_js_end}; }
std::string_view report_css() { return {rocegen_report_css_begin, rocegen_report_css_end}; }

}  // namespace rocegen
