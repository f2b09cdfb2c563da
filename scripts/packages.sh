#!/bin/bash
# Installs the packages of the named groups of packages.txt that are missing here.
# Usage: scripts/packages.sh GROUP...      (build, test, tools, bench)
# Needs root or sudo only when something is missing.
set -euo pipefail
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
list="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/packages.txt"

# Prints the packages of one group.
packages_of() {
    local wanted=$1 group="" line
    while IFS= read -r line; do
        if [[ $line =~ ^#\ group:\ ([a-z]+) ]]; then
            group=${BASH_REMATCH[1]}
        elif [[ $group == "$wanted" && -n $line && $line != \#* ]]; then
            echo "$line"
        fi
    done < "$list"
}

is_installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "packages: this is no Debian system; install what packages.txt names in your system's way" >&2
    exit 0
fi

missing=()
for group in "$@"; do
    packages=$(packages_of "$group")
    if [[ -z $packages ]]; then
        echo "packages: packages.txt has no group '$group'" >&2
        exit 2
    fi
    for package in $packages; do
        is_installed "$package" || missing+=("$package")
    done
done
if (( ${#missing[@]} == 0 )); then
    exit 0
fi

as_root=()
if (( EUID != 0 )); then
    if ! command -v sudo >/dev/null; then
        echo "packages: missing: ${missing[*]}" >&2
        echo "packages: run this as root once: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 3
    fi
    as_root=(sudo)
fi
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
         apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -q)

echo "packages: installing ${#missing[@]}: ${missing[*]}" >&2
"${apt_get[@]}" update >&2 || echo "packages: apt-get update failed; trying what is known" >&2
if ! "${apt_get[@]}" install -y --no-install-recommends "${missing[@]}" >&2; then
    echo "packages: apt-get could not install what is missing; its messages above say why" >&2
    exit 3
fi
