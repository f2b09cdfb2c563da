#!/bin/bash
# Builds rocegen with asserts and runs its tests. What this machine cannot do is skipped and listed.
# Usage: ./test.sh [--quick]       --quick: the unit tests only; else the fuzzers too, a minute each at once
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
select=()
case "${1:-}" in
    "") ;;
    --quick) select=(-L '^unit$') ;;
    *) echo "usage: ./test.sh [--quick]" >&2; exit 2 ;;
esac

scripts/packages.sh build test
cmake --preset test
cmake --build --preset test

log=build/test/ctest.log
status=0
ctest --preset test -j "$(nproc)" --output-junit junit.xml "${select[@]}" 2>&1 | tee "$log" || status=$?
echo
python3 scripts/skipped.py build/test/junit.xml || true
grep 'tests passed' "$log" || true
if (( ${#select[@]} == 0 )); then
    scripts/fuzz.sh || status=$?
fi
exit "$status"
