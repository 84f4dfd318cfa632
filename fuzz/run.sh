#!/usr/bin/env bash
# Fuzzes the readers of foreign input, two targets at a time, each starting from the fixtures of the tests and from what earlier runs found worth keeping.
#   fuzz/run.sh [--repeatable] [SECONDS [TARGET…]]      300 seconds each of all targets (fuzz/src/lib.rs lists them)
# --repeatable begins with the fixtures alone and always tries the same inputs in the same order, as .ci/run does: one submission is not refused for what
# another one would have met by chance.
# Needs the Rust that builds flowmine and a C++ compiler. What is built, kept and found lies in the target folder under fuzz/. An input that a reader crashes,
# hangs or takes too much memory on is printed as base64; it becomes a fixture with a test once the reader is mended. Exit code 1 when there is one.
#   FLOWMINE_FUZZ=TARGET …/fuzz/release/flowmine-fuzz FILE      tries one input
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
repeatable=
if [ "${1:-}" = --repeatable ]; then
    shift
    repeatable=yes
fi
seconds=${1:-300}
[ $# -eq 0 ] || shift
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
CARGO_TARGET_DIR=$dir RUSTC_WRAPPER=$PWD/fuzz/rustc.sh cargo build --release --locked --manifest-path fuzz/Cargo.toml

memory=/dev/shm
[ -d "$memory" ] || memory=${TMPDIR:-/tmp}
FLOWMINE_FUZZ_DIR=$(mktemp -d "$memory/flowmine-fuzz-XXXXXX")
export FLOWMINE_FUZZ_DIR
trap 'rm -rf "$FLOWMINE_FUZZ_DIR"' EXIT
rm -rf "$dir/seeds"
known=$("$dir/release/flowmine-fuzz-seeds" "$dir/seeds")
[ $# -gt 0 ] || mapfile -t targets <<<"$known"
[ $# -eq 0 ] || targets=("$@")

fuzz() {
    local target=$1 code=0 corpus=$dir/corpus/$1 order=()
    if [ -n "$repeatable" ]; then
        corpus=$FLOWMINE_FUZZ_DIR/corpus/$target
        order=(-seed=1)
    fi
    mkdir -p "$corpus" "$dir/artifacts/$target" "$dir/logs"
    rm -f "$dir/artifacts/$target"/*
    # What is taken at once is bounded too, so that a wish for a terabyte fails; what is taken in all libFuzzer sees each second.
    (
        ulimit -v 16000000
        FLOWMINE_FUZZ=$target nice -n 19 timeout -k 10 $((2 * seconds + 120)) "$dir/release/flowmine-fuzz" "$corpus" "$dir/seeds/$target" \
            "${order[@]}" -max_total_time="$seconds" -timeout=20 -report_slow_units=20 -rss_limit_mb=2000 -max_len=50000 \
            -artifact_prefix="$dir/artifacts/$target/" -print_final_stats=1 >"$dir/logs/$target" 2>&1
    ) || code=$?
    local inputs
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/logs/$target")
    if [ $code = 0 ]; then
        printf '%-16s %9s inputs, %5d kept\n' "$target" "${inputs:-?}" "$(find "$corpus" -type f | wc -l)"
        return
    fi
    {
        printf '\n%s: FAILED (exit code %s)\n' "$target" "$code"
        grep -v '^#[0-9]' "$dir/logs/$target" | grep -vE '^(MS|INFO|stat::|	)' | cut -c -400 | tail -25
        for file in "$dir/artifacts/$target"/*; do
            [ -f "$file" ] || continue
            printf '%s, base64:\n' "${file##*/}"
            base64 "$file"
        done
    } >&2
    return 1
}
export -f fuzz
export dir seconds repeatable
# shellcheck disable=SC2016
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz "$1"' _ {}
