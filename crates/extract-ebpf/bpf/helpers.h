/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Calls into the kernel and CO-RE reads: no header of another project, so that the object depends on the compiler and on this folder only. */
#ifndef HELPERS_H
#define HELPERS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
_Static_assert(sizeof(u64) == 8 && sizeof(u32) == 4, "sizes");

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline)) /* not static: verified once by itself, whoever calls it */
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* The optimiser may not look through this: keeps a check beside the use that the verifier wants checked. */
#define OPAQUE(x) asm volatile("" : "+r"(x))

/* Numbers of helpers: include/uapi/linux/bpf.h, an ABI. */
static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static u64 (*current_pid_tgid)(void) = (void *)14;
static u64 (*current_task_number)(void) = (void *)35;
static long (*probe_read_user)(void *to, u32 size, const void *from) = (void *)112;
static long (*probe_read_kernel)(void *to, u32 size, const void *from) = (void *)113;
static long (*probe_read_user_str)(void *to, u32 size, const void *from) = (void *)114;
static long (*probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static u64 (*boot_ns)(void) = (void *)125;
static long (*seq_write)(void *file, const void *data, u32 size) = (void *)127;
static long (*ring_output)(void *ring, void *data, u64 size, u64 flags) = (void *)130;
static void *(*ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*ring_submit)(void *data, u64 flags) = (void *)132;
static void (*ring_discard)(void *data, u64 flags) = (void *)133;
static u64 (*ring_query)(void *ring, u64 what) = (void *)134;
static void *(*storage_get)(void *map, void *task, void *value, u64 flags) = (void *)156;
static long (*storage_delete)(void *map, void *task) = (void *)157;
static void *(*current_task_typed)(void) = (void *)158; /* since 5.11 */
/* Not a helper: user space makes this a call of bpf_rdonly_cast, a function of kernels since 6.2, or leaves it where it is never reached. */
static void *(*rdonly_cast)(const void *address, u32 type) = (void *)0x7e570001;

enum { ANY = 0, NOEXIST = 1, STORAGE_CREATE = 1, RING_NO_WAKEUP = 1, RING_FORCE_WAKEUP = 2, RING_UNREAD = 0 };
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9, MAP_ARRAY_OF_MAPS = 12, MAP_RING = 27, MAP_TASK_STORAGE = 29 };

/* Attributes of a map, as loaders read them from the types of `.maps`. */
#define MAP_NUMBER(name, value) int(*name)[value]
#define MAP_TYPE(name, type) type *name

/* Does the running kernel have this field? Decided while loading; what depends on it is gone before the verifier looks. */
#define HAS_FIELD(type, field) __builtin_preserve_field_info(((type *)0)->field, 2)
#define HAS_ENUM(type, value) __builtin_preserve_enum_value(*(type *)value, 0)
#define ENUM(type, value) __builtin_preserve_enum_value(*(type *)value, 1)
#define TYPE_NUMBER(type) __builtin_btf_type_id(*(type *)0, 1)
#define SIZE_OF_TYPE(type) __builtin_preserve_type_info(*(type *)0, 1)

/* A field of a structure of which only the address is known; 0 when it cannot be read. */
#define READ(pointer, field)                                                                    \
	({                                                                                          \
		__typeof__((pointer)->field) read_value_;                                              \
		__builtin_memset((void *)&read_value_, 0, sizeof(read_value_));                        \
		probe_read_kernel((void *)&read_value_, sizeof(read_value_), (const void *)&(pointer)->field); \
		read_value_;                                                                            \
	})

/* A typed pointer as a number, for functions that are verified by themselves and take numbers only. */
static inline __attribute__((always_inline)) u64 address_of(void *pointer)
{
	u64 number = 0;
	probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}
#endif
