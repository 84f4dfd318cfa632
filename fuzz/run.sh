#!/bin/sh
# Fuzzes the readers of log files, one target after the other, each starting from the fixtures of the tests.
#   fuzz/run.sh [SECONDS [TARGET…]]      300 seconds each of xes, ocel_json, ocel_xml, ocel_sqlite, validate
# Needs a nightly toolchain, a C++ compiler and cargo-fuzz (cargo install cargo-fuzz). What is found stands in
# fuzz/artifacts/TARGET; it becomes a fixture with a test once it is fixed.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-300}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- xes ocel_json ocel_xml ocel_sqlite validate
command -v cargo-fuzz >/dev/null || { echo "fuzz/run.sh: cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 2; }
for target; do
    mkdir -p "fuzz/corpus/$target"
    nice -n 19 cargo +nightly fuzz run "$target" "fuzz/corpus/$target" crates/eventlog/tests/fixtures -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1000 -max_len=20000 -print_final_stats=1
done
