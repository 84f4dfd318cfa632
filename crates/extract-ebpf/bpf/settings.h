/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What user space decides before loading: constants for the verifier, so what is switched off costs nothing. */
#ifndef SETTINGS_H
#define SETTINGS_H

#define CALL_NUMBERS 512
#define CGROUP_FILTERS 16

/* What a system call does; the table says it by number, so that no number of an architecture stands here. 0: not of interest. */
enum call {
	CALL_READ = 1,
	CALL_WRITE,
	CALL_PREAD,
	CALL_PWRITE,
	CALL_READV,
	CALL_WRITEV,
	CALL_PREADV,
	CALL_PWRITEV,
	CALL_PREADV2,
	CALL_PWRITEV2,
	LAST_TRANSFER = CALL_PWRITEV2,
	CALL_COPY_FILE_RANGE,
	CALL_SENDFILE,
	CALL_SPLICE,
	LAST_COPY = CALL_SPLICE,
	CALL_FTRUNCATE,
	CALL_FALLOCATE,
	CALL_FSYNC,
	CALL_SYNC_FILE_RANGE,
	CALL_MMAP,
	CALL_CLOSE,
	CALL_DUP2,
	CALL_DUP3,
	LAST_BY_DESCRIPTOR = CALL_DUP3,
	CALL_CLOSE_RANGE,
	CALL_OPEN,
	CALL_CREAT,
	CALL_OPENAT,
	CALL_OPENAT2,
	CALL_OPEN_BY_HANDLE,
	LAST_OPEN = CALL_OPEN_BY_HANDLE,
	CALL_UNLINK,
	CALL_UNLINKAT,
	CALL_RENAME,
	CALL_RENAMEAT,
	CALL_RENAMEAT2,
	CALL_LINK,
	CALL_LINKAT,
	CALL_TRUNCATE,
	CALL_IO_SUBMIT,
	CALL_SEEK, /* no records: it moves a position that others may use */
	/* Calls on directories and on what a name is, which are counted by process and have no records. */
	CALL_MKDIR,
	FIRST_COUNTED = CALL_MKDIR,
	CALL_RMDIR,
	CALL_SYMLINK,
	CALL_READDIR,
	CALL_STAT,
};
const volatile u8 calls[CALL_NUMBERS];

/* Calls of 32-bit programs that would be recorded if they were decoded, by their numbers, which are others: the operation, and
 * whether the first argument is the descriptor of the file. */
#define CALL_FOREIGN 0xff /* in a flight: a read or write of a 32-bit program */
#define FOREIGN_OP 0x0f
#define FOREIGN_BY_NAME 0x40
#define FOREIGN_BY_DESCRIPTOR 0x80
const volatile u8 foreign_calls[CALL_NUMBERS];

const volatile u32 self_tgid;      /* the tracer: never recorded */
const volatile u8 has_typed_task;  /* bpf_get_current_task_btf: its fields are read without a call */
const volatile u8 has_cast;        /* bpf_rdonly_cast: an address becomes a typed pointer */
const volatile u8 has_storage;     /* `flights` is task storage; else a hash by thread */
const volatile u8 vfs_hooks;       /* the programs of vfs.h are attached */
const volatile u8 cpu_times;       /* of the thread, at both ends of each operation */
const volatile u8 count_directories; /* calls from FIRST_COUNTED on are counted */
const volatile u8 totals_only;     /* reads and writes are added up, not sent */
const volatile u32 ops_wanted = ~0u; /* bit per wire_op */

const volatile u8 follow;          /* only processes in `followed` */
const volatile u8 filter_uids, filter_gids;
const volatile u8 types_default = 1; /* of file systems that `type_names` does not name: 1 recorded, 2 not */
struct cgroup_filter {
	u64 id;
	u32 level;
	s32 controller; /* -1: v2 */
};
const volatile u32 cgroup_filters;
const volatile struct cgroup_filter cgroup_filter[CGROUP_FILTERS];

const volatile u32 host_mounts;    /* inode number of the host's mount namespace */
const volatile u32 arguments_bytes = 4096; /* at most 8192 */
const volatile u32 environment_pieces;     /* of 4096 bytes; 0: none wanted */
const volatile u32 wake_bytes = 1 << 20;   /* the reader is woken when so much waits */
const volatile u32 news_wake_bytes = 1 << 20;

/* Where the arguments of hooks lie: they moved with the kernels, so user space looks them up in BTF. */
const volatile u8 unlink_dentry = 1, link_dentry = 0, rename_is_struct = 1, rename_dentry = 1, truncate_dentry = 1;
const volatile u8 submit_request = 0;   /* of io_uring_submit_req or _sqe */
const volatile u8 complete_form = 0;    /* 0: (ring, user data, result); 1: (ring, request, user data, result); 2: (ring, request, completion) */
const volatile u8 page_shift = 12;
const volatile u8 exit_tells_group;     /* sched_process_exit says whether the group is dead */
#endif
