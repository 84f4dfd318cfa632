/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kernel side of the tracer. Hooks come in two sets, each of them loaded or not: calls.h alone, or together with vfs.h; process.h and uring.h beside. */
#include "helpers.h"
#include "kernel.h"
#include "settings.h"
#include "wire.h"
#include "maps.h"
#include "calls.h"
#include "process.h"
#include "vfs.h"
#include "uring.h"

/* The kernel lends helpers that read its memory to programs under the GPL only. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
