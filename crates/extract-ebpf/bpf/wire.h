/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What goes through the ring and the tables, little-endian, in the order of its fields without gaps. src/wire.rs has the same; tests compare the
 * two by the types in the object and by this text. */
#ifndef WIRE_H
#define WIRE_H

enum wire_kind {
	WIRE_OPERATION = 1,
	WIRE_TOTALS = 2,
	WIRE_FORK = 3,
	WIRE_EXEC = 4,
	WIRE_EXIT = 5,
	WIRE_CGROUP = 6,      /* a process went to another cgroup */
	WIRE_CGROUP_PATH = 7, /* a cgroup was made or renamed */
	WIRE_ENVIRONMENT = 8, /* a piece of the environment of the exec before */
	WIRE_RUNNING = 9,     /* a process that was there before */
	WIRE_OPEN_FILE = 10,  /* a file that was open before */
};

/* Also the index of the counters. */
enum wire_op {
	OP_NONE = 0, /* calls and requests for which there was no room: which operations they were is not known */
	OP_OPEN = 1,
	OP_READ = 2,
	OP_WRITE = 3,
	OP_CLOSE = 4,
	OP_DELETE = 5,
	OP_RENAME = 6,
	OP_LINK = 7,
	OP_TRUNCATE = 8,
	OP_ALLOCATE = 9,
	OP_SYNC = 10,
	OP_MMAP = 11,
	OP_FAULT = 12,
	COUNT_FORK = 14,
	COUNT_EXEC = 15,
	COUNT_EXIT = 16,
	COUNT_CGROUP = 17,
	COUNT_ENVIRONMENT = 18,
	/* What has no records. Each of these has a counter for each operation behind it, OP_NONE included. */
	COUNT_FOREIGN = 32, /* calls of 32-bit programs, whose numbers and arguments differ */
	COUNT_URING = 48,   /* requests of io_uring that this tracer does not decode */
	COUNT_AIO = 64,     /* requests of io_submit(2); their bytes are those that were asked for */
	COUNTERS = 80,
};

enum wire_via { VIA_CALL = 0, VIA_COPY = 1, VIA_SENDFILE = 2, VIA_SPLICE = 3, VIA_URING = 4 };

/* A record with a tail has its tail behind so many bytes, whatever its fixed part. */
#define WIRE_HEAD 128

/* Bits of `has`. */
enum wire_has {
	HAS_FILE = 1 << 0,   /* device, inode, generation */
	HAS_HANDLE = 1 << 1, /* handle */
	HAS_OFFSET = 1 << 2,
	HAS_SIZE = 1 << 3,
	HAS_RESULT = 1 << 4,
	HAS_FLAGS = 1 << 5, /* flags */
	HAS_CPU = 1 << 6,   /* 32 bytes follow the fixed part: user and system time at the start, at the end */
	IS_BLOCK = 1 << 7,
	HAS_FILE_SIZE = 1 << 8, /* of open: `size` is the size of the file */
	HAS_TAIL = 1 << 9,
	OFFSET_UNCERTAIN = 1 << 10, /* somebody else may have moved the position or the end meanwhile: no offset */
};

struct wire_operation {
	u8 kind, op, via, reserved;
	u32 has;
	u32 tgid, tid;
	u64 process_start;
	u64 start, end;
	u64 handle; /* address of the struct file */
	u64 inode;
	u32 device, generation;
	s64 offset;
	u64 size;
	s64 result;
	u32 flags, tail; /* bytes of the tail */
};
_Static_assert(sizeof(struct wire_operation) == 96, "a read or a write takes 96 bytes");

struct wire_cpu {
	u64 user_start, system_start, user_end, system_end;
};

/* Before each part of a tail. */
enum wire_part {
	PART_PATH = 1,        /* of the file; names from the leaf up, each ended by a NUL */
	PART_DIRECTORY = 2,   /* where the first string begins, like PART_PATH; of a process, its working directory */
	PART_DIRECTORY_2 = 3, /* where the second string begins */
	PART_STRING = 4,      /* a path as the program gave it */
	PART_STRING_2 = 5,
	PART_INNER = 6,       /* before it: the same within its file system, when the mounts are not the host's */
	PART_TYPE = 7,        /* name of the file system's type */
	PART_ARGUMENTS = 8,
	PART_CGROUP = 9,      /* path of a cgroup within its hierarchy */
};
enum wire_part_flag {
	PART_CUT = 1 << 0,      /* longer than the room for it */
	PART_DETACHED = 1 << 1, /* its top is not the root of any mount namespace */
	PART_FOREIGN = 1 << 2,  /* mounts of another mount namespace than the host's */
	PART_ROOTED = 1 << 3,   /* the root of the process was met after `root` bytes */
	PART_DELETED = 1 << 4,  /* the name at the leaf is no more */
	PART_UNREAD = 1 << 5,   /* memory could not be read */
};
struct wire_part_head {
	u8 part, flags;
	u16 root;
	u32 length;
	u32 device; /* of the file system of an inner path */
	u32 reserved;
};

/* Which v1 hierarchies. */
enum wire_controller { CONTROLLER_FREEZER, CONTROLLER_MEMORY, CONTROLLER_CPUSET, CONTROLLER_DEVICES, CONTROLLER_CPUACCT, CONTROLLERS };

struct wire_process {
	u8 kind, cut, v1, reserved; /* v1: bit per controller that is in a v1 hierarchy */
	s32 status;
	u32 tgid, parent_tgid;
	u64 start, parent_start;
	u64 at;
	u32 uid, gid;
	u32 inner_pid, tail;
	u64 cgroup;
	u64 cgroup_v1[CONTROLLERS];
	u32 real_uid, reserved_2;
};

/* Calls by what they do, in the order of `enum call` from FIRST_COUNTED on: mkdir, rmdir, symlink, readdir, stat. Three are not in use: a number of three bits is
 * always within. */
#define COUNTED_CALLS 8
struct directory_calls {
	u64 start; /* of the process */
	u64 calls[COUNTED_CALLS];
};

struct wire_exit {
	u8 kind, reserved[3];
	s32 status;
	u32 tgid, has; /* bit 0: CPU times, bits 1 and 2: counters, bit 3: directories, bit 4: run delay */
	u64 start;
	u64 at;
	u64 user, system, runtime;
	u64 rchar, wchar, syscr, syscw, read_bytes, write_bytes, cancelled;
	u64 mkdir, rmdir, symlink, readdir, stat;
	u64 run_delay;
};

struct wire_cgroup_path {
	u8 kind, reserved[3];
	s32 hierarchy;
	u64 id;
	u64 at;
	u32 tail, reserved2;
};

struct wire_environment {
	u8 kind, last, reserved[2];
	u32 tgid;
	u64 start;
	u64 at;
	u32 piece, tail;
};

#define OFFSET_NOT_KNOWN (~0ull)
struct totals_key {
	u64 handle;
	u64 inode;
	u64 process_start;
	u32 tgid, device;
};
struct totals_sum {
	/* Low and high are 0 without a transfer: high is one more than the end. It is OFFSET_NOT_KNOWN when an offset was not known. */
	u64 calls, bytes, errors, time, low, high;
};
struct totals_value {
	u64 first, last;
	struct totals_sum read, write;
	u64 faults;
	u32 generation, reserved;
};
struct wire_totals {
	u8 kind, reserved[7];
	struct totals_key key;
	struct totals_value value;
};

struct wire_counter {
	u64 seen, seen_bytes;
	u64 lost, lost_bytes; /* the ring was full */
	u64 full, full_bytes; /* a table was full */
};
#endif
