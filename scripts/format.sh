#!/bin/bash
# Formats the C++ sources of the project. With --check it changes nothing and fails on a difference.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
clang_format=${CLANG_FORMAT:-clang-format-14}
mode=(-i)
if [[ ${1:-} == --check ]]; then
    mode=(--dry-run -Werror)
fi
if ! command -v "$clang_format" >/dev/null; then
    echo "format: $clang_format is missing; scripts/packages.sh tools installs it" >&2
    exit 3
fi

# The tracked and the new files, or all of them where there is no git.
sources() {
    git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard \
        -- '*.h' '*.cc' 2>/dev/null ||
        find include src tests \( -name '*.h' -o -name '*.cc' \) -print0
}
sources | while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
done | xargs -0 -r "$clang_format" --style=file "${mode[@]}"
