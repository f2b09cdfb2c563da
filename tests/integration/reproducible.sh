#!/bin/bash
# The virtual run's report.json is the same, byte for byte: in two runs, with FMA and AVX2 hidden, and
# from every other build whose command stands in ROCEGEN_OTHER_BUILDS (separated by spaces). Over profiles that
# between them use everything that draws, divides or answers: patterns, ECN, PFC, DCQCN, go-back-N, Reno,
# ECMP, faults.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
profiles=$ROCEGEN_SOURCE/profiles

# Profile, testbed, and how much of it: a sanitizer's build runs it too.
cases="first link 100ms
incast leaf-spine 3ms
incast emulated 3ms
incast-sweep emulated 2ms
dcqcn-fairness fairness-40g 104ms
mixed emulated 20ms
reno shallow 4ms
storage emulated 2ms
random-bursts emulated 2ms
polarization polarized 1ms
link-failure link-failure 4ms
victim-flow scenarios/victim 2ms"

reports() {  # reports NAME COMMAND...: of every case, under that name
    local name=$1 profile testbed duration status
    shift
    while read -r profile testbed duration; do
        status=0
        "$@" run "$profiles/$profile.yaml" --testbed "$profiles/testbeds/$testbed.yaml" --duration "$duration" \
            --out "$folder/$name/$profile.${testbed##*/}" >"$folder/$name.txt" 2>&1 </dev/null || status=$?
        # An expectation of the whole run may not hold of a part of it.
        [[ $status -le 1 ]] || { cat "$folder/$name.txt"; echo "FAILED: $profile, status $status"; exit 1; }
    done <<<"$cases"
}
same() {
    local count=0 report
    for report in "$folder"/first/*/report.json; do
        cmp "$report" "$folder/$1/${report#"$folder/first/"}" || { echo "FAILED: $1 differs"; exit 1; }
        count=$((count + 1))
    done
    [[ $count -eq $(wc -l <<<"$cases") ]] || { echo "FAILED: $count reports"; exit 1; }
    echo "$1: the same, $count reports"
}

reports first "$ROCEGEN"
grep -q '"cnp_tx": [1-9]' "$folder"/first/*/report.json || { echo "FAILED: no CNP in any run"; exit 1; }
grep -q '"fast_retransmits": [1-9]' "$folder/first/reno.shallow/report.json" || { echo "FAILED: Reno lost nothing"; exit 1; }
reports second "$ROCEGEN"
same second
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-AVX512F reports tunables "$ROCEGEN"
same tunables
number=0
for other in ${ROCEGEN_OTHER_BUILDS:-}; do
    number=$((number + 1))
    reports "build$number" "$other"
    echo "$other is build$number"
    same "build$number"
done
