#!/bin/sh
# Runs clang-tidy over the sources, remembering under build/lint/clean which ones were clean.
#
#   scripts/lint.sh JOBS FILE...
#
# A source is looked at again when it, a header of ours that it includes, or .clang-tidy has changed.
set -eu

if [ "$1" = "--one" ]; then
  source=$2
  headers=$(${CXX:-c++} -std=c++20 -MM -MG -Iinclude -Isrc -Iexperiments -Iapps/covary -isystem /usr/include/eigen3 "$source" |
    sed -e 's/^[^:]*://' -e 's/\\$//')
  stamp=build/lint/clean/$(cat .clang-tidy $headers 2>/dev/null | cat - scripts/lint.sh | sha256sum | cut -d' ' -f1)
  [ -e "$stamp" ] && exit 0
  clang-tidy-14 -p build/lint --quiet --warnings-as-errors='*' --extra-arg=-Wno-unknown-warning-option "$source" || {
    echo "$source: has findings" >&2
    exit 1
  }
  echo "$source" >"$stamp"
  exit 0
fi

jobs=$1
shift
[ $# -gt 0 ] || { echo "lint: no source to look at"; exit 0; }
cmake -S . -B build/lint -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
mkdir -p build/lint/clean
printf '%s\n' "$@" | xargs -P "$jobs" -n 1 "$0" --one
echo "lint: $# sources are clean"
