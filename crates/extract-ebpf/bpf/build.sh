#!/bin/sh
# Compiles the kernel side. One object serves every architecture of its byte order and every kernel. usage: build.sh [OUTPUT]
set -eu
cd "$(dirname "$0")"
out=${1:-iotrace.bpf.o}
CLANG=${CLANG:-clang-16}
STRIP=${STRIP:-llvm-strip}
# -g makes the BTF, without which nothing finds its place; the rest of it is not needed. Paths are cut so that the folder does not matter.
"$CLANG" -target bpfel -mcpu=v3 -O2 -g -std=gnu11 -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. -c iotrace.bpf.c -o "$out"
"$STRIP" -g "$out"
