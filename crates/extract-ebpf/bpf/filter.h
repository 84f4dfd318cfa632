/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Whose operations, and on which files. */
#ifndef FILTER_H
#define FILTER_H
#include "maps.h"
#include "task.h"

#define O_PATH 010000000
#define O_APPEND 02000

INLINE u64 cgroup_id(struct cgroup *cgroup)
{
	struct kernfs_node *node = READ(cgroup, kn);
	return READ(node, id);
}

/* The cgroup of a task in the hierarchy of a controller, or 0. */
INLINE struct cgroup *controller_cgroup(struct css_set *set, int controller)
{
	u32 index = 0;
#define CONTROLLER(number, name)                            \
	if (controller == number) {                             \
		if (!HAS_ENUM(enum cgroup_subsys_id, name))         \
			return 0;                                       \
		index = ENUM(enum cgroup_subsys_id, name);          \
	}
	CONTROLLER(CONTROLLER_FREEZER, freezer_cgrp_id)
	CONTROLLER(CONTROLLER_MEMORY, memory_cgrp_id)
	CONTROLLER(CONTROLLER_CPUSET, cpuset_cgrp_id)
	CONTROLLER(CONTROLLER_DEVICES, devices_cgrp_id)
	CONTROLLER(CONTROLLER_CPUACCT, cpuacct_cgrp_id)
#undef CONTROLLER
	struct cgroup_subsys_state **states = (void *)&set->subsys;
	struct cgroup_subsys_state *state = 0;
	probe_read_kernel(&state, sizeof(state), states + index);
	return READ(state, cgroup);
}

/* The id of its ancestor at a level (the root is level 0, it is its own ancestor), or 0. */
INLINE u64 ancestor_id(struct cgroup *cgroup, u32 level)
{
	if (READ(cgroup, level) < (int)level)
		return 0;
	if (HAS_FIELD(struct cgroup___pointers, ancestors)) {
		struct cgroup **all = (void *)&((struct cgroup___pointers *)cgroup)->ancestors;
		struct cgroup *ancestor = 0;
		probe_read_kernel(&ancestor, sizeof(ancestor), all + level);
		return cgroup_id(ancestor);
	}
	if (HAS_FIELD(struct cgroup___ids, ancestor_ids)) {
		u64 *all = (void *)&((struct cgroup___ids *)cgroup)->ancestor_ids;
		u64 id = 0;
		probe_read_kernel(&id, sizeof(id), all + level);
		return id;
	}
	return 0;
}

/* By itself, for all programs: the address of a task as a number. */
APART int in_wanted_cgroup(u64 task_address)
{
	struct task_struct *task = (void *)task_address;
	struct css_set *set = READ(task, cgroups);
	for (u32 i = 0; i < CGROUP_FILTERS; i++) {
		if (i >= cgroup_filters)
			break;
		u64 id = cgroup_filter[i].id;
		u32 level = cgroup_filter[i].level;
		s32 controller = cgroup_filter[i].controller;
		struct cgroup *cgroup = controller < 0 ? READ(set, dfl_cgrp) : controller_cgroup(set, controller);
		if (cgroup && ancestor_id(cgroup, level) == id)
			return 1;
	}
	return 0;
}

/* `known`: that the process is followed was found before. */
INLINE int wanted_task(u64 task, u32 tgid, u32 uid, u32 gid, int known)
{
	if (tgid == self_tgid)
		return 0;
	if (follow && !known) {
		u8 *how = map_lookup(&followed, &tgid);
		if (!how || *how != FOLLOWED)
			return 0;
	}
	if (filter_uids && !map_lookup(&uids, &uid))
		return 0;
	if (filter_gids && !map_lookup(&gids, &gid))
		return 0;
	if (cgroup_filters && !in_wanted_cgroup(task))
		return 0;
	return 1;
}

INLINE int wanted_current(struct task_struct *task, u32 tgid, int known)
{
	u32 uid = 0, gid = 0;
	if (filter_uids || filter_gids) {
		const struct cred *cred = READ(task, cred);
		uid = READ(cred, euid.val);
		gid = READ(cred, egid.val);
	}
	return wanted_task(cgroup_filters ? current_task_number() : 0, tgid, uid, gid, known);
}

/* The verdict on a type of file systems that was not met before. */
APART int judge_type(u64 type_address)
{
	struct file_system_type *type = (void *)type_address;
	struct type_name name;
	__builtin_memset(&name, 0, sizeof(name));
	const char *text = READ(type, name);
	probe_read_kernel_str(&name, sizeof(name), text);
	u8 *named = map_lookup(&type_names, &name);
	u8 verdict = named ? *named : types_default;
	map_update(&types, &type_address, &verdict, ANY);
	return verdict;
}

INLINE int type_verdict(struct side *side, struct super_block *super)
{
	/* Through the table: what is read back is a number, which can be a key. */
	side->inode = (u64)LOAD(super, s_type);
	u64 type = *(volatile u64 *)&side->inode;
	if (type == side->type)
		return 1; /* as the last time */
	u8 *known = map_lookup(&types, &type);
	int verdict = known ? *known : judge_type(type);
	if (verdict == 1)
		side->type = type;
	return verdict;
}

/* Fills `side`, which lies in a table, of an inode that was made TYPED. `wanted` says whether it is of a kind and on a file system that is recorded. */
INLINE void look_at_inode(struct side *side, struct inode *inode)
{
	u16 mode = LOAD(inode, i_mode) & 0170000;
	side->wanted = 0;
	if (mode != 0100000 && mode != 0060000)
		return;
	struct super_block *super = LOAD(inode, i_sb);
	if (type_verdict(side, super) != 1)
		return;
	side->block = mode == 0060000;
	side->device = LOAD(super, s_dev);
	side->inode = LOAD(inode, i_ino);
	side->generation = LOAD(inode, i_generation);
	side->wanted = 1;
}

/* The inode behind a name, which may be of any kind: `wanted` says whether it is on a file system that is recorded, and is 2 for one that is told without
 * its identity, because only regular files and block devices have rows of their own.
 */
INLINE void look_at_name(struct side *side, struct inode *inode)
{
	u16 mode = LOAD(inode, i_mode) & 0170000;
	look_at_inode(side, inode);
	if (!side->wanted && mode != 0100000 && mode != 0060000 && type_verdict(side, LOAD(inode, i_sb)) == 1)
		side->wanted = 2;
}

/* The same of an open file, which may be typed or not. */
INLINE void look_at(struct side *side, struct file *file)
{
	struct inode *inode = LOAD(file, f_inode);
	side->wanted = 0;
	if (!inode)
		return;
	look_at_inode(side, inode);
	if (!side->wanted)
		return;
	side->position = LOAD(file, f_pos);
	side->flags = LOAD(file, f_flags);
}

/* The address of the open file of a descriptor of the current process, or 0. */
INLINE u64 file_of(struct task_struct *task, u32 descriptor)
{
	struct fdtable *table;
	u64 files, file = 0;
	u32 size;
	if (has_typed_task) {
		table = task->files->fdt;
		size = table->max_fds;
		files = (u64)table->fd;
	} else {
		struct files_struct *all = READ(task, files);
		table = READ(all, fdt);
		size = READ(table, max_fds);
		files = (u64)READ(table, fd);
	}
	if (descriptor >= size)
		return 0;
	files += descriptor * sizeof(file);
	if (has_cast)
		return (u64)TYPED(hlist_bl_node, files)->next; /* as good as any structure that begins with a pointer */
	probe_read_kernel(&file, sizeof(file), (void *)files);
	return file;
}

/* Whether an open file is of a kind that has rows. */
INLINE int is_recorded_kind(u64 address)
{
	struct file *file = TYPED(file, address);
	struct inode *inode = LOAD(file, f_inode);
	if (!inode)
		return 0;
	u16 mode = LOAD(inode, i_mode) & 0170000;
	return mode == 0100000 || mode == 0060000;
}

INLINE u64 *seek_place(const struct side *side)
{
	/* Out of the table it is a number, with which can be reckoned. */
	u64 file = *(volatile u64 *)&side->file;
	u32 place = (file >> 6 ^ file >> 18) % SEEK_PLACES;
	return map_lookup(&seeks, &place);
}

INLINE u64 seeks_of(const struct side *side)
{
	volatile u64 *begun = seek_place(side);
	return begun ? *begun : 0;
}

INLINE void add_to_seeks(u64 *begun, u64 number)
{
	if (begun)
		__sync_fetch_and_add(begun, number);
}

INLINE void begin_seek(const struct side *side)
{
	add_to_seeks(seek_place(side), SEEK_BEGUN + 1);
}

INLINE void end_seek(const struct side *side)
{
	add_to_seeks(seek_place(side), -1);
}

INLINE u64 *copies_place(void)
{
	u32 place = SEEK_PLACES;
	return map_lookup(&seeks, &place);
}

/* Copies at any position that others can reach: those begun, and in the low bits those that have not ended. */
INLINE u64 all_copies(void)
{
	volatile u64 *begun = copies_place();
	return begun ? *begun : 0;
}

INLINE void begin_copy(const struct side *side)
{
	add_to_seeks(copies_place(), SEEK_BEGUN + 1);
	begin_seek(side);
	if (seeks_of(side) < SEEK_COPIED)
		add_to_seeks(seek_place(side), SEEK_COPIED);
}

INLINE void end_copy(const struct side *side)
{
	end_seek(side);
	add_to_seeks(copies_place(), -1);
}

/* Whether the position may have been set back since `side` was looked at: such a call was under way then, or has begun since. */
INLINE int is_sought(const struct side *side)
{
	return side->seeks % SEEK_BEGUN || seeks_of(side) != side->seeks;
}

INLINE void look_at_address(struct side *side, u64 file)
{
	side->file = file;
	side->seeks = seeks_of(side);
	look_at(side, TYPED(file, file));
}

/* Whether nobody but this thread can move the position of an open file: one descriptor is all that leads to it, in a table that no other thread has. */
INLINE int is_alone(struct task_struct *task, u64 address)
{
	struct files_struct *files = CURRENT(task, files);
	if (READ(files, count.counter) != 1)
		return 0;
	if (HAS_FIELD(struct file___ref, f_ref))
		return READ((struct file___ref *)address, f_ref.refcnt.counter) == 0;
	return READ((struct file___count *)address, f_count.counter) == 1;
}

/* Where the file of a write ends, by which it is known afterwards whether only this write moved the end. */
INLINE void look_at_end(struct task_struct *task, struct side *side, u8 call)
{
	if (!side->wanted || !((side->flags & O_APPEND) || call == CALL_PWRITEV2))
		return;
	struct file *file = TYPED(file, side->file);
	struct inode *inode = LOAD(file, f_inode);
	side->size = LOAD(inode, i_size);
	side->alone = is_alone(task, side->file);
}

/* The same for a call that does something with the file: one that was opened with O_PATH is then as good as none. */
INLINE void look_at_used(struct side *side, u64 file)
{
	look_at_address(side, file);
	if (side->wanted && (side->flags & O_PATH))
		side->wanted = 0;
}
#endif
