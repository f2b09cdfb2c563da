#!/bin/bash
# The virtual run's report.json is the same, byte for byte: in two runs, with FMA and AVX2 hidden, and
# from every other build whose command stands in ROCEGEN_OTHER_BUILDS (separated by spaces).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
link=$ROCEGEN_SOURCE/profiles/testbeds/link.yaml
profile=$ROCEGEN_SOURCE/profiles/first.yaml

report() {  # report NAME COMMAND...: the report of the command's run, under that name
    local name=$1; shift
    "$@" run "$profile" --testbed "$link" --duration 200ms --out "$folder/$name" >"$folder/$name.txt"
}
same() {
    cmp "$folder/first/report.json" "$folder/$1/report.json" || { echo "FAILED: $1 differs"; exit 1; }
    echo "$1: the same"
}

report first "$ROCEGEN"
report second "$ROCEGEN"
same second
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-AVX512F report tunables "$ROCEGEN"
same tunables
number=0
for other in ${ROCEGEN_OTHER_BUILDS:-}; do
    number=$((number + 1))
    report "build$number" "$other"
    same "build$number"
done
