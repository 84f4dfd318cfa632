#!/bin/sh
# The monitoring paper's demonstration: made reads go through real tools under a workflow engine, traced by eBPF. Then imports what the engine says, and correlates.
# run.sh makeflow|nextflow FLOWMINE DIRECTORY PAIRS [OPTION OF TRACE…]: the workflow runs in DIRECTORY/demo, the dataset is DIRECTORY/dataset. Needs root; Nextflow
# also FLOWMINE_NEXTFLOW (tests/lab/nextflow).
set -eu
engine=$1 flowmine=$2 directory=$3 pairs=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory/demo" "$directory/home"
python3 "$here/reads.py" "$directory/demo" "$pairs"
cp "$here/rnaseq.makeflow" "$here/rnaseq.nf" "$directory/demo/"
cd "$directory/demo"
trace() {
    # A home of its own: programs keep caches there, and a second run would be another.
    env -i PATH="$PATH" HOME="$directory/home" LC_ALL=C.UTF-8 FLOWMINE_NEXTFLOW="${FLOWMINE_NEXTFLOW-}" \
        "$flowmine" trace --backend ebpf --detail events --host node1 --dataset "$directory/dataset" "$@"
}
case $engine in
makeflow)
    trace "$@" -- makeflow -T local --log-verbose --retry-count=0 rnaseq.makeflow
    "$flowmine" import makeflow rnaseq.makeflow.makeflowlog --dataset "$directory/dataset"
    ;;
nextflow)
    trace "$@" -- "$here/../lab/nextflow/nextflow" run rnaseq.nf -with-trace trace.txt
    "$flowmine" import nextflow . --dataset "$directory/dataset"
    ;;
esac
"$flowmine" correlate --dataset "$directory/dataset"
