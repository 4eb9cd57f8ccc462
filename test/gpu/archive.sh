#!/bin/sh
# The one command of an archive for machines with a GPU: tests and benchmarks.
cd "$(dirname "$0")" || exit 1
python="${PYTHON:-python3}"
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
case "${1:-help}" in
  gpu-test | gpu-bench)
    if command -v "$python" >/dev/null; then
      exec "$python" start.py "$@"
    fi
    echo "$1: no $python here; PYTHON=/path/to/python names one" >&2
    exit 2
    ;;
  help) echo "usage: ./dev gpu-test|gpu-bench [-k PART] [-j JOBS] [--device N]" ;;
  *)
    echo "usage: ./dev gpu-test|gpu-bench [-k PART] [-j JOBS] [--device N]" >&2
    exit 1
    ;;
esac
