/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Parts of a record's tail: paths, strings, names. Each function here takes how much of the tail is used and gives back the new end; it is verified once by
 * itself, so it takes numbers only. `which` is the scratch.
 */
#ifndef PATH_H
#define PATH_H
#include "maps.h"

#define NAME_BYTES 256
/* Names in a path, and mounts crossed: beyond, it is cut and says so. A path of PATH_MAX bytes may have 2048 names; those of people have fewer. */
#define PATH_NAMES 200

INLINE struct scratch *scratch(u32 which)
{
	return map_lookup(&scratches, &which);
}

/* The head is written when the length is known. */
INLINE u8 *place(struct scratch *s, u32 at)
{
	/* In 64 bits, so that what is compared is the register that is added: the verifier of 5.10 does not see it through a copy. */
	u64 index = at;
	OPAQUE(index);
	if (index > TAIL_BYTES)
		return 0;
	return s->tail + index;
}

INLINE u32 finish_part(struct scratch *s, u32 at, u8 part, u8 flags, u16 root, u32 length, u32 device)
{
	struct wire_part_head head = {.part = part, .flags = flags, .root = root, .length = length, .device = device, .reserved = 0};
	u8 *to = place(s, at);
	if (!to)
		return at;
	__builtin_memcpy(to, &head, sizeof(head));
	return at + sizeof(head) + length;
}

/* One name, before what is there already. */
INLINE int add_name(struct scratch *s, struct dentry *dentry)
{
	const unsigned char *name = READ(dentry, d_name.name);
	u8 *to = place(s, s->end);
	if (!to)
		return 0;
	long length = probe_read_kernel_str(to, NAME_BYTES, name);
	if (length <= 0)
		return 0;
	s->end += length;
	return 1;
}

INLINE struct vfsmount *inner_of(struct mount *mount)
{
	return (void *)((char *)mount + __builtin_preserve_field_info(((struct mount *)0)->mnt, 0));
}

/* From a dentry up to the root of its mounts. Names are written from the leaf up, each with its NUL. */
APART int walk(u64 dentry_address, u64 mount_address, u32 at, u32 part, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return at;
	u32 begin = at + sizeof(struct wire_part_head);
	struct dentry *dentry = (void *)dentry_address;
	struct mount *mount = (void *)((char *)mount_address - __builtin_preserve_field_info(((struct mount *)0)->mnt, 0));
	struct dentry *top = READ(mount, mnt.mnt_root);
	u8 flags = PART_CUT;
	s->end = begin;
	s->rooted = 0;
	s->met = 0;
	for (int i = 0; i < PATH_NAMES; i++) {
		if ((u64)dentry == s->root_dentry && (u64)inner_of(mount) == s->root_mount && !s->rooted) {
			s->rooted = 1;
			s->met = s->end - begin;
		}
		if (dentry == top) {
			struct mount *above = READ(mount, mnt_parent);
			if (above == mount || !above) {
				flags = 0;
				break;
			}
			dentry = READ(mount, mnt_mountpoint);
			mount = above;
			top = READ(mount, mnt.mnt_root);
			continue;
		}
		struct dentry *parent = READ(dentry, d_parent);
		if (parent == dentry || !parent) {
			/* Not below the root of its mount, such as a file that was opened by its handle. */
			flags = PART_DETACHED;
			break;
		}
		if (!add_name(s, dentry))
			break;
		dentry = parent;
	}
	dentry = (void *)dentry_address;
	if (READ(dentry, d_parent) != dentry && !READ(dentry, d_hash.pprev))
		flags |= PART_DELETED;
	if (s->rooted)
		flags |= PART_ROOTED;
	struct mnt_namespace *space = READ(mount, mnt_ns);
	if (!space)
		flags |= PART_DETACHED;
	else if (READ(space, ns.inum) != host_mounts)
		flags |= PART_FOREIGN;
	return finish_part(s, at, part, flags, s->met, s->end - begin, 0);
}

/* From a dentry up to the root of its file system, whatever is mounted where. */
APART int walk_inner(u64 dentry_address, u32 at, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return at;
	u32 begin = at + sizeof(struct wire_part_head);
	struct dentry *dentry = (void *)dentry_address;
	u8 flags = PART_CUT;
	s->end = begin;
	for (int i = 0; i < PATH_NAMES; i++) {
		struct dentry *parent = READ(dentry, d_parent);
		if (parent == dentry || !parent) {
			flags = 0;
			break;
		}
		if (!add_name(s, dentry))
			break;
		dentry = parent;
	}
	struct super_block *super = READ(dentry, d_sb);
	return finish_part(s, at, PART_INNER, flags, 0, s->end - begin, READ(super, s_dev));
}

/* A string of the current program. */
APART int user_string(u64 address, u32 at, u32 part, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return at;
	u8 flags = 0;
	u8 *to = place(s, at + sizeof(struct wire_part_head));
	u32 length = 0;
	if (!to) {
		flags = PART_CUT;
	} else {
		long got = probe_read_user_str(to, 4096, (void *)address);
		if (got <= 0)
			flags = PART_UNREAD;
		else
			length = got & 8191;
		if (got == 4096)
			flags = PART_CUT;
	}
	return finish_part(s, at, part, flags, 0, length, 0);
}

/* A string of the kernel. */
APART int kernel_string(u64 address, u32 at, u32 part, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return at;
	u8 flags = 0;
	u8 *to = place(s, at + sizeof(struct wire_part_head));
	u32 length = 0;
	if (!to) {
		flags = PART_CUT;
	} else {
		long got = probe_read_kernel_str(to, 4096, (void *)address);
		if (got <= 0)
			flags = PART_UNREAD;
		else
			length = got & 8191;
	}
	return finish_part(s, at, part, flags, 0, length, 0);
}

/* Memory of the current program, such as its arguments. */
APART int user_memory(u64 address, u32 size, u32 at, u32 part, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return at;
	u8 flags = 0;
	u32 limit = arguments_bytes;
	if (limit > TAIL_SPARE)
		limit = TAIL_SPARE;
	if (size > limit) {
		size = limit;
		flags = PART_CUT;
	}
	OPAQUE(size);
	if (size > TAIL_SPARE)
		size = TAIL_SPARE;
	u8 *to = place(s, at + sizeof(struct wire_part_head));
	u32 length = 0;
	if (!to)
		flags = PART_CUT;
	else if (probe_read_user(to, size, (void *)address))
		flags |= PART_UNREAD;
	else
		length = size;
	return finish_part(s, at, part, flags, 0, length, 0);
}

/* The path of an open file or of a directory; when its mounts are not the host's, also within its file system, from which user space finds where the host has it. */
INLINE u32 add_path(u64 dentry, u64 mount, u32 at, u32 part, u32 which)
{
	u32 next = walk(dentry, mount, at, part, which);
	struct scratch *s = scratch(which);
	u8 *head = s ? place(s, at) : 0;
	if (head && (head[1] & (PART_FOREIGN | PART_DETACHED)))
		next = walk_inner(dentry, next, which);
	return next;
}

INLINE u32 add_type(u64 super_address, u32 at, u32 which)
{
	struct super_block *super = (void *)super_address;
	struct file_system_type *type = READ(super, s_type);
	return kernel_string((u64)READ(type, name), at, PART_TYPE, which);
}

/* The root of the process whose paths follow. */
INLINE void set_root(struct scratch *s, struct task_struct *task)
{
	struct fs_struct *fs = READ(task, fs);
	s->root_mount = (u64)READ(fs, root.mnt);
	s->root_dentry = (u64)READ(fs, root.dentry);
}

/* Where the paths of a process begin that do not begin with `/`. */
INLINE u32 add_working_directory(struct task_struct *task, u32 at, u32 which)
{
	struct fs_struct *fs = READ(task, fs);
	u64 dentry = (u64)READ(fs, pwd.dentry);
	return dentry ? add_path(dentry, (u64)READ(fs, pwd.mnt), at, PART_DIRECTORY, which) : at;
}
#endif
