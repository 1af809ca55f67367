#!/usr/bin/env bash
# Installs the Debian packages the build needs, and only those that are missing; with the word `demo`, those of the
# command line alone.
set -euo pipefail
packages=(g++ make python3 cmake ninja-build ccache libeigen3-dev libopenblas-dev libfmt-dev zlib1g-dev
  nlohmann-json3-dev libcli11-dev libgtest-dev)
if [ "${1:-}" != demo ]; then
  packages+=(git dpkg-dev doxygen pkg-config libbenchmark-dev python3-dev python3-venv clang-format-14 clang-tidy-14
    clang-14 libclang-rt-14-dev
    chromium)  # opens the reports in a test: 123 MB, a quarter of a minute
fi
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "Covary needs these Debian packages and installs them now: ${missing[*]}"
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Run this as root, or install them yourself: apt-get install ${missing[*]}" >&2; exit 1; }
  sudo=sudo
fi
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
