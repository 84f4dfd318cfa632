/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tables that the programs share with user space. */
#ifndef MAPS_H
#define MAPS_H
#include "settings.h"
#include "wire.h"

struct {
	MAP_NUMBER(type, MAP_RING);
	MAP_NUMBER(max_entries, 1 << 24);
} events SEC(".maps");

/* What is told of processes has a ring of its own: reads and writes cannot push out of it what says whose they were. */
struct {
	MAP_NUMBER(type, MAP_RING);
	MAP_NUMBER(max_entries, 1 << 23);
} news SEC(".maps");

struct {
	MAP_NUMBER(type, MAP_PERCPU_ARRAY);
	MAP_NUMBER(max_entries, COUNTERS);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct wire_counter);
} counters SEC(".maps");

/* A file at the beginning of a call. */
struct side {
	u64 file, inode;
	u64 type; /* of its file system, by its address, when the last one that was looked at here is recorded */
	s64 position;
	u64 seeks; /* `seeks_of` the open file, before its position was read */
	s64 size;  /* of the file, for a write that may append */
	u32 device, generation;
	u32 flags; /* f_flags */
	u8 wanted, block;
	u8 alone; /* for a write that may append: nobody else can move its position */
	u8 seeks_itself; /* a copy that counts among `seeks` until it ends */
};

/* A call between its entry and its exit. */
struct flight {
	u64 start;
	u64 user, system;
	u8 call;     /* 0: none */
	u8 captured; /* by a hook of vfs.h */
	u8 follows;  /* its process is in `followed`, and stays there */
	u8 reserved;
	u32 number;  /* of the system call */
	u64 copies;  /* `all_copies`, before a hook of vfs.h looks at the position */
	struct side a, b;
};

/* The type is changed to a hash by user space where the kernel has no task storage. */
struct {
	MAP_NUMBER(type, MAP_TASK_STORAGE);
	MAP_NUMBER(map_flags, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct flight);
} flights SEC(".maps");
static const struct flight no_flight;

/* By a hash of an open file that others can reach too: calls that may set its position back and have begun, and in the low bits those that have not ended.
 * These are lseek(2) and copies at the position, which hold no lock. Open files that have the same place make each other uncertain, no more.
 * The last place counts all copies.
 */
#define SEEK_PLACES 4096
#define SEEK_BEGUN (1ull << 16)
#define SEEK_COPIED (1ull << 48) /* there was a copy */
struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, SEEK_PLACES + 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} seeks SEC(".maps");

/* Of a process in `followed`: it and those that it starts are recorded, or only these. */
enum { FOLLOWED = 1, CHILDREN_FOLLOWED = 2 };
/* The process whose open files are read in; 0: of all. */
struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} read_in SEC(".maps");
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(map_flags, 0);
	MAP_NUMBER(max_entries, 65536);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u8);
} followed SEC(".maps"); /* FOLLOWED or CHILDREN_FOLLOWED */
/* How often a process made directories and the like, while it runs; by its number. */
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 65536);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct directory_calls);
} directories SEC(".maps");
/* Whether there was once no room in it: from then on a process without an entry may have made such calls all the same. */
struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u32);
} directories_full SEC(".maps");
/* How long the threads of a process that have ended were runnable and waited for a processor; by the number of the process, which still runs. */
struct ended_threads {
	u64 start; /* of the process */
	u64 run_delay;
	u64 incomplete; /* some ended before tracing began */
};
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 65536);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct ended_threads);
} run_delays SEC(".maps");
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 1024);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u8);
} uids SEC(".maps"), gids SEC(".maps");

/* Verdict by name of a type of file systems, and by its address once it was met: 1 recorded, 2 not. */
#define TYPE_NAME 32
struct type_name {
	char name[TYPE_NAME];
};
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 256);
	MAP_TYPE(key, struct type_name);
	MAP_TYPE(value, u8);
} type_names SEC(".maps");
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 256);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, u8);
} types SEC(".maps");

#define TOTALS_ENTRIES 65536
struct totals_table {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, TOTALS_ENTRIES);
	MAP_TYPE(key, struct totals_key);
	MAP_TYPE(value, struct totals_value);
} totals_a SEC(".maps"), totals_b SEC(".maps");

/* The table that is added to. User space puts the other one here, which returns only when no program uses the old one any more
 * (the kernel waits for an RCU grace period when a map of maps is changed), and reads the old one, in which nothing changes then: no increment is lost.
 */
struct {
	MAP_NUMBER(type, MAP_ARRAY_OF_MAPS);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_NUMBER(value_size, 4);
	struct totals_table *values[];
} totals SEC(".maps");

/* Entries made in the table that is added to, so that it is taken before it is full. User space sets it to 0. */
struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, u64);
} fill SEC(".maps");

/* Room to build a record: 0 for tracepoints, in which nothing else of ours runs on this processor, 1 for the reading in of what is there. */
#define TAIL_BYTES 16384
#define TAIL_SPARE 8192 /* one part may begin at the last byte */
struct scratch {
	union {
		struct {
			struct wire_operation operation;
			struct wire_cpu cpu;
		};
		u8 head[WIRE_HEAD];
		struct wire_process process;
		struct wire_cgroup_path cgroup;
		/* Made elsewhere; named here so that the object tells their layout. */
		struct wire_environment environment;
		struct wire_part_head part;
	};
	u8 tail[TAIL_BYTES + TAIL_SPARE];
	u64 root_dentry, root_mount; /* the root of the process whose paths are told */
	struct side side;
	u32 end, met, rooted, reserved; /* of a walk: kept here so that the verifier need not follow their values */
	struct wire_exit exit;          /* made elsewhere, and longer than a head */
};
struct {
	MAP_NUMBER(type, MAP_PERCPU_ARRAY);
	MAP_NUMBER(max_entries, 2);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct scratch);
} scratches SEC(".maps");
#endif
