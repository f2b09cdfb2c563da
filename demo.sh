#!/bin/bash
# Builds rocegen and runs an incast through an emulated switch, in virtual time: no NIC, no huge pages, no root
# (but for packages that are missing). The last line says where the report is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
scripts/packages.sh build

place=$PWD
if [[ ! -w $place ]]; then
    place=$(mktemp -d "${TMPDIR:-/tmp}/rocegen.XXXXXX")
fi
build=$place/build/release
report=$place/demo-report
cmake --preset release -B "$build" >&2
cmake --build "$build" --target rocegen >&2

status=0
"$build/rocegen" run profiles/incast.yaml --out "$report" || status=$?
echo "The report is $report/report.html (text, JSON and series are beside it)"
exit "$status"
