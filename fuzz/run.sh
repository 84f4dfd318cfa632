#!/usr/bin/env bash
# Fuzzes the readers of foreign input, two targets at a time.
#   fuzz/run.sh [SECONDS [TARGET…]]         300 seconds each of all targets, listed in fuzz/src/lib.rs
#   fuzz/run.sh --repeatable [TARGET…]      the number of inputs in that list, as .ci/run does
# Without --repeatable, a run starts from the fixtures and from the inputs that earlier runs kept.
# --repeatable starts from the fixtures alone, in one order and with the same random numbers, so
# that it tries nearly the same inputs each time: chance refuses hardly any submission. A target that is not done after FLOWMINE_FUZZ_GUARD seconds (60)
# ends there, and its line shows how many of its inputs it tried.
# Needs the Rust that builds flowmine and a C++ compiler. Builds, kept inputs and logs are in fuzz/
# of the target folder. An input on which a reader crashes, hangs or takes too much memory is
# printed as base64; it becomes a fixture with a test once the reader is mended.
# Exit code 1 if there is one.
#   FLOWMINE_FUZZ=TARGET …/fuzz/release/flowmine-fuzz FILE      tries one input
set -euo pipefail
cd "$(dirname "$0")/.."
dir=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
repeatable=
seconds=
guard=${FLOWMINE_FUZZ_GUARD:-60}
if [ "${1:-}" = --repeatable ]; then
    repeatable=yes
    shift
else
    seconds=${1:-300}
    [ $# -eq 0 ] || shift
    guard=$seconds
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
CARGO_TARGET_DIR=$dir RUSTC_WRAPPER=$PWD/fuzz/rustc.sh cargo build --release --locked --manifest-path fuzz/Cargo.toml

memory=/dev/shm
[ -d "$memory" ] || memory=${TMPDIR:-/tmp}
FLOWMINE_FUZZ_DIR=$(mktemp -d "$memory/flowmine-fuzz-XXXXXX")
export FLOWMINE_FUZZ_DIR
trap 'rm -rf "$FLOWMINE_FUZZ_DIR"' EXIT
rm -rf "$dir/seeds"
# Lines of a target and its number of runs.
known=$("$dir/release/flowmine-fuzz-seeds" "$dir/seeds")
mapfile -t targets <<<"$known"
if [ $# -gt 0 ]; then
    targets=()
    for name; do
        line=$(grep "^$name " <<<"$known") || {
            echo "fuzz/run.sh: $name is not a target; the targets are: $(cut -d ' ' -f 1 <<<"$known" | paste -sd ' ')" >&2
            exit 2
        }
        targets+=("$line")
    done
fi

fuzz() {
    local target=$1 runs=$2 code=0 corpus=$dir/corpus/$1 seeds=$dir/seeds/$1 before=()
    local bound=("$seeds" -max_total_time="$seconds")
    if [ -n "$repeatable" ]; then
        corpus=$FLOWMINE_FUZZ_DIR/corpus/$target
        # The file system's order of the seeds would matter, and libFuzzer would read its output
        # folder again each second. Addresses among the compared values would be tried as input, so
        # the loader has to choose the same ones each time.
        local list=$FLOWMINE_FUZZ_DIR/seeds-$target
        find "$seeds" -type f -printf "%f\n" | LC_ALL=C sort | paste -sd , | tr -d '\n' >"$list"
        bound=(-seed_inputs="@$list" -runs="$runs" -max_total_time="$guard" -seed=1 -reload=0)
        ! setarch --addr-no-randomize true 2>/dev/null || before=(setarch --addr-no-randomize)
    fi
    mkdir -p "$corpus" "$dir/artifacts/$target" "$dir/logs"
    rm -f "$dir/artifacts/$target"/*
    # One large allocation is bounded here, and their sum by libFuzzer, which looks each second.
    (
        ulimit -v 16000000
        cd "$seeds"
        FLOWMINE_FUZZ=$target nice -n 19 timeout -k 10 $((2 * guard + 120)) "${before[@]}" "$dir/release/flowmine-fuzz" "$corpus" \
            "${bound[@]}" -timeout=20 -report_slow_units=20 -rss_limit_mb=2000 -max_len=50000 \
            -artifact_prefix="$dir/artifacts/$target/" -print_final_stats=1 >"$dir/logs/$target" 2>&1
    ) || code=$?
    local inputs
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/logs/$target")
    if [ $code = 0 ]; then
        local of=''
        [ -z "$repeatable" ] || [ "${inputs:-0}" -ge "$runs" ] || of=" of $runs"
        printf '%-16s %9s%s inputs, %5d kept\n' "$target" "${inputs:-?}" "$of" "$(find "$corpus" -type f | wc -l)"
        return
    fi
    {
        printf '\n%s: FAILED (exit code %s)\n' "$target" "$code"
        if [ "$code" = 124 ] || [ "$code" = 137 ]; then
            printf '%s did not end twice its time later\n' "$target"
        fi
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
export dir seconds repeatable guard
# shellcheck disable=SC2016
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz $1' _ {}
