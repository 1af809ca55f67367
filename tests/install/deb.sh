#!/usr/bin/env bash
# Makes the Debian package of a build, unpacks it in an empty root and uses what is there.
set -euo pipefail
build=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$build" && cpack -G DEB -B "$work" >/dev/null)
package=$(ls "$work"/covary_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in libopenblas0 libfmt9 zlib1g libstdc++6; do
  [[ $depends == *$library* ]] || { echo "the package does not depend on $library: $depends"; exit 1; }
done
dpkg-deb -x "$package" "$work/root"
for file in usr/lib/libcovary.a usr/lib/cmake/covary/covaryConfig.cmake usr/include/covary/models/regression.hpp; do
  compgen -G "$work/root/$file" >/dev/null || { echo "the package lacks $file"; exit 1; }
done
"$work/root/usr/bin/covary" example curve "$work" >/dev/null
"$work/root/usr/bin/covary" fit "$work/train.csv" --target y --out "$work/model.cov" --quiet >/dev/null
echo "$(basename "$package"), $(du -h "$package" | cut -f1): works from an empty root; depends on $depends"
