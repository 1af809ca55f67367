#!/usr/bin/env bash
# Builds the site of the documentation in build/site/html: docs/ with the notebooks of examples/notebooks, run, and the
# API of the Python package and of the C++ headers. Broken links are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
site=build/site python=build/python-venv/bin/python
[ -x "$python" ] && "$python" -c 'import covary' 2>/dev/null || {
  wheel=$(scripts/wheel.sh)
  "$python" -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps "$wheel"
}
"$python" -m pip --disable-pip-version-check install --quiet -r scripts/site-requirements.txt
PATH=$PWD/build/python-venv/bin:$PATH

rm -rf "$site"
mkdir -p "$site/docs/notebooks" "$site/docs/examples" "$site/python"
cp -r docs/. "$site/docs"
cp CONTRIBUTING.md CHANGELOG.md README.md "$site/docs"
cp examples/*.cpp "$site/docs/examples"
# Links out of docs/ point to the copies; those of the copies into docs/ lose the folder.
sed -i 's|](\.\./\(CONTRIBUTING\|examples\)|](\1|g' "$site"/docs/*.md
sed -i 's|](docs/|](|g' "$site"/docs/{CONTRIBUTING,CHANGELOG,README}.md
mv "$site/docs/README.md" "$site/docs/readme.md"

package=$("$python" -c 'import covary, os; print(os.path.dirname(covary.__file__))')
mkdir "$site/python/covary"
cp "$package"/*.py "$package"/*.pyi "$site/python/covary"
"$python" - "$site"/python/covary/* <<'EOT'
import pathlib
import re
import sys

for path in map(pathlib.Path, sys.argv[1:]):  # the examples of docstrings are code
    path.write_text(re.sub(r"^( *)(>>> .*\n(?:(?! *$)(?! *\"{3}).*\n)*)", r"\1```pycon\n\1\2\1```\n", path.read_text(),
                           flags=re.M))
EOT
cat >"$site/docs/python-api.md" <<'EOT'
# Python API

What each is for, with examples: [Python](python.md).

::: covary
EOT

for notebook in examples/notebooks/*.py; do
  jupytext --quiet --to ipynb --execute --output "$site/docs/notebooks/$(basename "$notebook" .py).ipynb" "$notebook"
done

# The comments of the headers are plain ones.
doxygen - <<EOT
PROJECT_NAME = Covary
INPUT = include
RECURSIVE = YES
OUTPUT_DIRECTORY = $site/docs
HTML_OUTPUT = cpp-api
GENERATE_LATEX = NO
EXTRACT_ALL = YES
STRIP_FROM_PATH = include
FULL_PATH_NAMES = YES
QUIET = YES
WARNINGS = NO
HAVE_DOT = NO
INPUT_FILTER = "sed -E 's|^( *)// |\1/// |'"
EOT
NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet
echo "the site is in $site/html: open $site/html/index.html"
