#!/bin/sh
# Compiles the kernel side. One object serves every architecture of its byte order and every kernel.
#   build.sh           compiles, and writes down of which sources
#   build.sh --check   fails when the object in the repository is not the one that its sources make. With another compiler than clang 16, whose
#                      object would differ, only what was written down is compared.
set -eu
cd "$(dirname "$0")"
CLANG=${CLANG:-clang-16}
STRIP=${STRIP:-llvm-strip-16}

# -g makes the BTF, without which nothing finds its place; the rest of it is not needed. Paths are cut so that the folder does not matter.
compile() {
    "$CLANG" -target bpfel -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. -c iotrace.bpf.c -o "$1"
    "$STRIP" -g "$1"
}
sums() {
    LC_ALL=C sha256sum iotrace.bpf.c *.h iotrace.bpf.o
}

if [ "${1:-}" != --check ]; then
    compile iotrace.bpf.o
    sums >iotrace.bpf.sha256
    exit
fi
sums | cmp -s - iotrace.bpf.sha256 || { echo "the sources of iotrace.bpf.o have changed since it was compiled: run $0" >&2; exit 1; }
case $("$CLANG" --version 2>&1 || true) in
    *"clang version 16."*) ;;
    *) echo "not compared with a new object: $CLANG is not clang 16" >&2; exit 0 ;;
esac
new=$(mktemp)
trap 'rm -f "$new"' EXIT
compile "$new"
cmp "$new" iotrace.bpf.o || { echo "iotrace.bpf.o is not what its sources make: run $0" >&2; exit 1; }
