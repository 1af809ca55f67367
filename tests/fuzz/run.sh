#!/usr/bin/env bash
# Builds the libFuzzer target over the container of the model file (clang, that part of `storage` alone)
# and runs it from the corpus beside this script; a crash, a leak or a large allocation fails.
#
#   tests/fuzz/run.sh BUILD_FOLDER [-max_total_time=60]      what the tests do
#   tests/fuzz/run.sh BUILD_FOLDER -runs=1000000             or any other options of libFuzzer
#
# New inputs go to BUILD_FOLDER/fuzz/corpus. To keep those that reach something new:
#
#   BUILD_FOLDER/fuzz/storage_fuzz -set_cover_merge=1 tests/fuzz/corpus BUILD_FOLDER/fuzz/corpus
#
# Exits with 77 where there is no clang++ with libFuzzer.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/fuzz/corpus"
work=$(cd "$1/fuzz" && pwd)
shift
cd "$source" # the same folder always, for the compiler's cache
clang=$(command -v clang++-14 || command -v clang++) || { echo "no clang++: skipped"; exit 77; }
launcher=$(command -v ccache || true)
flags=(-std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  "$clang" "${flags[@]}" -x c++ - -o "$work/probe" 2>/dev/null ||
  { echo "$clang has no libFuzzer (Debian: libclang-rt-14-dev): skipped"; exit 77; }

# The files of the room that know no models, so that nothing of the other rooms is needed.
objects=()
for file in tests/fuzz/storage_fuzz src/storage/{atomic_file,container,container_file,json_events,safetensors,seal,sha256}; do
  objects+=("$work/$(basename "$file").o")
  # shellcheck disable=SC2046,SC2086
  $launcher "$clang" "${flags[@]}" -Iinclude -Isrc $(pkg-config --cflags eigen3) \
    -c "$file.cpp" -o "${objects[-1]}"
done
"$clang" "${flags[@]}" "${objects[@]}" -lfmt -o "$work/storage_fuzz"

[ $# -gt 0 ] || set -- -max_total_time=60
cd "$work" # where an input that crashes it is left
# By default libFuzzer ends with 77 on a crash, which would count as skipped.
exec ./storage_fuzz -error_exitcode=1 -timeout_exitcode=1 -max_len=4096 -rss_limit_mb=512 -malloc_limit_mb=64 -timeout=10 -print_final_stats=1 \
  -verbosity=0 "$@" corpus "$source/tests/fuzz/corpus"
