#!/bin/sh
# The one command of an archive for machines with a GPU: tests and benchmarks.
cd "$(dirname "$0")" || exit 1
verb="${1:-help}"
[ $# -gt 0 ] && shift
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
case "$verb" in
  gpu-test) exec "${PYTHON:-python3}" gpu_test.py "$@" ;;
  gpu-bench) exec "${PYTHON:-python3}" gpu_bench.py "$@" ;;
  *) echo "usage: ./dev gpu-test|gpu-bench [-k PART]"; [ "$verb" = help ] ;;
esac
