#!/bin/sh
# Makes one virtual environment for each peer under build/peers/<name>.
#
#   bench/peers/install.sh [PEER…]        default: scikit-learn gpy gpflow gpytorch
#
# Run again, it only checks. A peer that cannot be installed is named and the others go on; the exit status is then 1.
# PYTHON chooses the interpreter (default python3; GPyTorch always takes /usr/bin/python3, which sees Debian's PyTorch).
set -u

here=$(cd "$(dirname "$0")" && pwd)
environments=$(cd "$here/../.." && pwd)/build/peers
python=${PYTHON:-python3}
failed=

import_name() {
    case $1 in
        scikit-learn) echo sklearn ;;
        gpy) echo GPy ;;
        *) echo "$1" ;;
    esac
}

# The stamp is the list that was installed: a changed list installs again.
is_current() {
    cmp -s "$here/requirements-$1.txt" "$environments/$1/installed.txt"
}

print_version() {
    TF_CPP_MIN_LOG_LEVEL=3 "$environments/$1/bin/python" -W ignore -c "
import platform
import $(import_name "$1") as peer
print('$1', peer.__version__, '(Python ' + platform.python_version() + ')')" 2>"$environments/$1/import.log"
}

install_debian_torch() {
    /usr/bin/python3 -c 'import torch' 2>/dev/null && return 0
    echo 'gpytorch: installing the Debian packages python3-torch and python3-venv (some 640 MB)'
    if [ "$(id -u)" -eq 0 ]; then
        apt-get install -y -q --no-install-recommends python3-torch python3-venv >/dev/null
    elif command -v sudo >/dev/null; then
        sudo apt-get install -y -q --no-install-recommends python3-torch python3-venv >/dev/null
    else
        echo 'gpytorch: needs root or sudo for apt-get install python3-torch python3-venv'
        return 1
    fi
}

make_environment() {
    rm -rf "${environments:?}/$1"
    if [ "$1" = gpytorch ]; then
        install_debian_torch && /usr/bin/python3 -m venv --system-site-packages "$environments/$1"
    else
        "$python" -m venv "$environments/$1"
    fi
}

install_peer() {
    if ! is_current "$1"; then
        echo "$1: installing $(grep -cv '^#' "$here/requirements-$1.txt") packages into build/peers/$1"
        make_environment "$1" &&
            "$environments/$1/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
                -r "$here/requirements-$1.txt" || return 1
    fi
    print_version "$1" || { tail -n 3 "$environments/$1/import.log"; return 1; }
    cp "$here/requirements-$1.txt" "$environments/$1/installed.txt"
}

mkdir -p "$environments"
[ $# -gt 0 ] || set -- scikit-learn gpy gpflow gpytorch
for peer in "$@"; do
    if [ ! -f "$here/requirements-$peer.txt" ]; then
        echo "$peer: unknown peer; known: scikit-learn gpy gpflow gpytorch"
        failed="$failed $peer"
    elif ! install_peer "$peer"; then
        echo "$peer: CANNOT BE INSTALLED here (see above); going on without it"
        failed="$failed $peer"
    fi
done
[ -z "$failed" ] || { echo "missing peers:$failed"; exit 1; }
