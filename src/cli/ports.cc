#include <fmt/format.h>

#include "cli/cli.h"
#include "rocegen/dpdk/port_survey.h"

namespace rocegen::cli {

ExitStatus ports(bool json) {
    const Survey survey = survey_ports();
    fmt::print("{}", json ? to_json(survey) : to_text(survey));
    return ExitStatus::kHolds;
}

}  // namespace rocegen::cli
