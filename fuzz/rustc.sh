#!/bin/sh
# For cargo in place of rustc: builds the crates of flowmine so that libFuzzer sees which of their code an input reaches, and with checks of
# overflow and debug assertions. All other crates are built as ever. These passes are in every rustc.
compiler=$1
shift
case "${CARGO_PKG_NAME:-} ${CARGO_CRATE_NAME:-}" in
*build_script*) ;;
flowmine*)
    set -- "$@" -C debug-assertions=on -C overflow-checks=on -C passes=sancov-module \
        -C llvm-args="-sanitizer-coverage-level=4 -sanitizer-coverage-inline-8bit-counters -sanitizer-coverage-pc-table -sanitizer-coverage-trace-compares"
    ;;
esac
exec "$compiler" "$@"
