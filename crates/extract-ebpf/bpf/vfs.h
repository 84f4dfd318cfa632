/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Functions of the virtual file system. They tell which file a call is about, in a way that no other thread can disturb: the open file itself instead of what lies behind
 * a descriptor, and the inode behind a name. The records are made at the exit of the call, as without them, so that both sets of hooks give the same rows;
 * what happens in these functions outside of a call that is recorded, such as the reads that an overlay does on the file below, is passed by.
 *
 * A function that was inlined into its callers is not seen here. Then the descriptor tells the file at the exit of the call.
 */
#ifndef VFS_H
#define VFS_H
#include "calls.h"

/* The call that runs, when it is of one of these kinds and its file is not known yet. */
INLINE struct flight *awaiting(u8 first, u8 last)
{
	struct flight *flight = flight_of(current_task());
	if (!flight || flight->captured || flight->call < first || flight->call > last)
		return 0;
	return flight;
}

INLINE int capture_transfer(u64 file)
{
	struct flight *flight = awaiting(CALL_READ, LAST_TRANSFER);
	if (!flight)
		return 0;
	look_at_address(&flight->a, file);
	look_at_end(current_task(), &flight->a, flight->call);
	flight->captured = 1;
	return 0;
}

INLINE int capture_close(u64 file)
{
	struct flight *flight = awaiting(CALL_CLOSE, CALL_DUP3);
	if (!flight)
		return 0;
	look_at_address(&flight->a, file);
	flight->captured = 1;
	return 0;
}

/* At the end of an open, which may have happened in layers: the outermost ends last. */
INLINE int capture_open(u64 file, s64 result)
{
	struct flight *flight = flight_of(current_task());
	if (result || !flight || flight->call < CALL_OPEN || flight->call > LAST_OPEN)
		return 0;
	look_at_address(&flight->a, file);
	flight->captured = 1;
	return 0;
}

INLINE int capture_name(u64 dentry_address, u8 first, u8 last)
{
	struct flight *flight = awaiting(first, last);
	if (!flight)
		return 0;
	struct dentry *dentry = (void *)dentry_address;
	struct inode *inode = READ(dentry, d_inode);
	if (!inode)
		return 0;
	flight->a.file = 0;
	look_at_name(&flight->a, TYPED(inode, inode));
	flight->captured = 1;
	return 0;
}

/* One argument of a function, as a number: fentry has them in its context with their types, which the address takes off again. */
#define ENTRY_ARGUMENT(n) address_of((void *)context[n])

SEC("fentry/vfs_read") int entry_vfs_read(u64 *context)
{
	return capture_transfer(ENTRY_ARGUMENT(0));
}
SEC("fentry/vfs_write") int entry_vfs_write(u64 *context)
{
	return capture_transfer(ENTRY_ARGUMENT(0));
}
SEC("fentry/vfs_readv") int entry_vfs_readv(u64 *context)
{
	return capture_transfer(ENTRY_ARGUMENT(0));
}
SEC("fentry/vfs_writev") int entry_vfs_writev(u64 *context)
{
	return capture_transfer(ENTRY_ARGUMENT(0));
}
SEC("fentry/filp_close") int entry_filp_close(u64 *context)
{
	return capture_close(ENTRY_ARGUMENT(0));
}
SEC("fentry/filp_flush") int entry_filp_flush(u64 *context)
{
	return capture_close(ENTRY_ARGUMENT(0));
}
SEC("fexit/vfs_open") int exit_vfs_open(u64 *context)
{
	return capture_open(ENTRY_ARGUMENT(1), (s32)context[2]);
}
SEC("fexit/finish_open") int exit_finish_open(u64 *context)
{
	return capture_open(ENTRY_ARGUMENT(0), (s32)context[3]);
}
SEC("fentry/vfs_unlink") int entry_vfs_unlink(u64 *context)
{
	u64 dentry = unlink_dentry == 1 ? ENTRY_ARGUMENT(1) : ENTRY_ARGUMENT(2);
	return capture_name(dentry, CALL_UNLINK, CALL_UNLINKAT);
}
SEC("fentry/vfs_rename") int entry_vfs_rename(u64 *context)
{
	u64 dentry;
	if (rename_is_struct) {
		struct renamedata *data = (void *)ENTRY_ARGUMENT(0);
		dentry = (u64)READ(data, old_dentry);
	} else {
		dentry = ENTRY_ARGUMENT(1);
	}
	return capture_name(dentry, CALL_RENAME, CALL_RENAMEAT2);
}
SEC("fentry/vfs_link") int entry_vfs_link(u64 *context)
{
	return capture_name(ENTRY_ARGUMENT(0), CALL_LINK, CALL_LINKAT);
}
SEC("fentry/do_truncate") int entry_do_truncate(u64 *context)
{
	u64 dentry = truncate_dentry == 0 ? ENTRY_ARGUMENT(0) : ENTRY_ARGUMENT(1);
	return capture_name(dentry, CALL_TRUNCATE, CALL_TRUNCATE);
}

/* The same by kprobes, whose context is the registers: read as memory, because the verifier wants no computed places in a context. An open is left to its descriptor: its end
 * has no arguments any more.
 */
#define PROBE_ARGUMENT(n, x86_register)                                                       \
	(HAS_FIELD(struct pt_regs___x86, di) ? READ((struct pt_regs___x86 *)context, x86_register) \
										 : READ((struct pt_regs___arm64 *)context, regs[n]))
#define PROBE_0 PROBE_ARGUMENT(0, di)
#define PROBE_1 PROBE_ARGUMENT(1, si)
#define PROBE_2 PROBE_ARGUMENT(2, dx)

SEC("kprobe/vfs_read") int probe_vfs_read(struct pt_regs *context)
{
	return capture_transfer(PROBE_0);
}
SEC("kprobe/vfs_write") int probe_vfs_write(struct pt_regs *context)
{
	return capture_transfer(PROBE_0);
}
SEC("kprobe/vfs_readv") int probe_vfs_readv(struct pt_regs *context)
{
	return capture_transfer(PROBE_0);
}
SEC("kprobe/vfs_writev") int probe_vfs_writev(struct pt_regs *context)
{
	return capture_transfer(PROBE_0);
}
SEC("kprobe/filp_close") int probe_filp_close(struct pt_regs *context)
{
	return capture_close(PROBE_0);
}
SEC("kprobe/filp_flush") int probe_filp_flush(struct pt_regs *context)
{
	return capture_close(PROBE_0);
}
SEC("kprobe/vfs_unlink") int probe_vfs_unlink(struct pt_regs *context)
{
	return capture_name(unlink_dentry == 1 ? PROBE_1 : PROBE_2, CALL_UNLINK, CALL_UNLINKAT);
}
SEC("kprobe/vfs_rename") int probe_vfs_rename(struct pt_regs *context)
{
	u64 dentry = rename_is_struct ? (u64)READ((struct renamedata *)PROBE_0, old_dentry) : PROBE_1;
	return capture_name(dentry, CALL_RENAME, CALL_RENAMEAT2);
}
SEC("kprobe/vfs_link") int probe_vfs_link(struct pt_regs *context)
{
	return capture_name(PROBE_0, CALL_LINK, CALL_LINKAT);
}
SEC("kprobe/do_truncate") int probe_do_truncate(struct pt_regs *context)
{
	return capture_name(truncate_dentry == 0 ? PROBE_0 : PROBE_1, CALL_TRUNCATE, CALL_TRUNCATE);
}
#endif
