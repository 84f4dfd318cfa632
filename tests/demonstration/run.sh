#!/bin/sh
# The monitoring paper's demonstration: made reads go through real tools under Makeflow, traced by eBPF. Then imports what Makeflow says, and correlates.
# run.sh FLOWMINE DIRECTORY PAIRS [OPTION OF TRACE…]: the workflow runs in DIRECTORY/demo, the dataset is DIRECTORY/dataset. Needs root.
set -eu
flowmine=$1 directory=$2 pairs=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory/demo" "$directory/home"
python3 "$here/reads.py" "$directory/demo" "$pairs"
cp "$here/rnaseq.makeflow" "$directory/demo/"
cd "$directory/demo"
# A home of its own: programs keep caches there, and a second run would be another.
env -i PATH="$PATH" HOME="$directory/home" LC_ALL=C.UTF-8 "$flowmine" trace --backend ebpf --detail events --host node1 "$@" \
    --dataset "$directory/dataset" -- makeflow -T local --log-verbose --retry-count=0 rnaseq.makeflow
"$flowmine" import makeflow rnaseq.makeflow.makeflowlog --dataset "$directory/dataset"
"$flowmine" correlate --dataset "$directory/dataset"
