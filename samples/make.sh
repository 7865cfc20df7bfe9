#!/bin/sh
# Makes the bundled suite again from models.py; names given as arguments choose models.
set -eu
cd "$(dirname "$0")"
python=${PYTHON:-../.venv/bin/python}
export PYTHONPATH="../runner/python${PYTHONPATH:+:$PYTHONPATH}"
[ $# -gt 0 ] || set -- $("$python" -c 'import models; print(*(f.__name__ for f in models.ALL))')
for model in "$@"; do
  "$python" -m assay_extract "models.py:$model" --name "$model" --fullgraph --force -o "$model"
done
