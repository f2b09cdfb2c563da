/// A Result with known numbers, and its Plan: two flows over two ports, one tagged, one not.
#pragma once

#include "rocegen/analysis/result.h"
#include "rocegen/traffic/plan.h"

namespace rocegen::test {

Plan example_plan();
Result example_result();

}  // namespace rocegen::test
