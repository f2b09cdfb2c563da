#!/bin/bash
# Builds the fuzzers (tests/fuzz, one a reader of outside bytes) and runs all of them at once, first over the inputs that
# are kept in tests/fuzz/corpus, then over new ones. What one finds stands in build/fuzz/tests/fuzz/crash-*.
# Usage: scripts/fuzz.sh [SECONDS]      how long each runs: 60; the logs: build/fuzz/Testing/Temporary/LastTest.log
# Without clang++-14 and its fuzzer runtime they are skipped, and that is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-60}
if ! command -v clang++-14 >/dev/null; then
    echo "skipped: fuzzers: clang++-14 is not installed (scripts/packages.sh tools)"
    exit 0
fi
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++-14 -x c++ -fsanitize=fuzzer,address -o /dev/null - 2>/dev/null; then
    echo "skipped: fuzzers: libclang-rt-14-dev is not installed (scripts/packages.sh tools)"
    exit 0
fi
cmake --preset fuzz -DROCEGEN_FUZZ_SECONDS="$seconds" >/dev/null
cmake --build --preset fuzz
count=$(ls tests/fuzz/*.cc | wc -l)
ctest --preset fuzz -j "$count"
