#!/bin/bash
# The virtual run's report.json is the same, byte for byte: in two runs, with FMA and AVX2 hidden, and
# from every other build whose command stands in ROCEGEN_OTHER_BUILDS (separated by spaces).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
link=$ROCEGEN_SOURCE/profiles/testbeds/link.yaml
profiles=$ROCEGEN_SOURCE/profiles

report() {  # report NAME COMMAND...: the report of the command's run, under that name
    local name=$1; shift
    "$@" run "$profiles/first.yaml" --testbed "$link" --duration 200ms --out "$folder/$name" >"$folder/$name.txt"
    "$@" run "$profiles/incast.yaml" --testbed "$profiles/testbeds/leaf-spine.yaml" --out "$folder/$name.fabric" >>"$folder/$name.txt"
}
same() {
    for kind in "" .fabric; do
        cmp "$folder/first$kind/report.json" "$folder/$1$kind/report.json" || { echo "FAILED: $1$kind differs"; exit 1; }
    done
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
