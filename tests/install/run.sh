#!/usr/bin/env bash
# Installs the package to a temporary prefix and builds a small consumer against it: by find_package with
# and without -mavx2, by pkg-config, and by add_subdirectory without building (the targets resolve). Every public
# header compiles by itself, and every example, against what is installed and nothing else.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
for flags in "" "-mavx2 -mfma"; do
  cmake -S "$source/examples" -B "$work/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_CXX_FLAGS="$flags" >/dev/null
  cmake --build "$work/consumer" --clean-first >/dev/null
  "$work/consumer/regression" >"$work/out$([ -z "$flags" ] || echo _avx2)"
done
diff "$work/out" "$work/out_avx2" || { echo "the consumer's results depend on its instruction set"; exit 1; }
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig:$work/prefix/lib/x86_64-linux-gnu/pkgconfig:$work/prefix/lib/aarch64-linux-gnu/pkgconfig"
# shellcheck disable=SC2046
c++ -std=c++20 "$source/examples/regression.cpp" -o "$work/by_pkg_config" $(pkg-config --cflags --libs covary)
"$work/by_pkg_config" | diff - "$work/out"
# The slowest part of each, Eigen, is compiled once.
# Compiled beforehand, Eigen no longer counts as the system's, whose warnings are not shown.
flags="-std=c++20 -Wall -Wextra -Werror -Wno-ignored-attributes $(pkg-config --cflags covary)"
echo '#include <Eigen/Core>' >"$work/eigen.hpp"
# shellcheck disable=SC2086
c++ $flags -x c++-header "$work/eigen.hpp" -o "$work/eigen.hpp.gch"
find "$work/prefix/include" "$source/examples" -name '*.[ch]pp' -print0 | xargs -0 -P "$(nproc)" -I{} \
  sh -c "echo '#include \"{}\"' | c++ $flags -include '$work/eigen.hpp' -fsyntax-only -x c++ -"
mkdir "$work/super"
cat >"$work/super/CMakeLists.txt" <<EOT
cmake_minimum_required(VERSION 3.25)
project(super CXX)
add_subdirectory("$source" covary)
add_executable(app "$source/examples/regression.cpp")
target_link_libraries(app PRIVATE covary::covary)
EOT
cmake -S "$work/super" -B "$work/super/build" -G Ninja >/dev/null
echo "the installed package works: find_package (two instruction sets), pkg-config, add_subdirectory"
