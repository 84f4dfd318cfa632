/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Processes: fork, exec, exit, and the cgroups that they are in. */
#ifndef PROCESS_H
#define PROCESS_H
#include "filter.h"
#include "path.h"
#include "send.h"

#define SIGNAL_GROUP_EXIT 4
/* Threads of which the counters are added at an exit: those that are gone are in the group's own. */
#define EXIT_THREADS 64

INLINE u32 inner_pid(struct task_struct *task)
{
	struct pid *pid = READ(task, thread_pid);
	u32 level = READ(pid, level);
	void *numbers = (void *)&pid->numbers;
	int number = 0;
	struct upid *at = (void *)((char *)numbers + level * SIZE_OF_TYPE(struct upid));
	number = READ(at, nr);
	return number;
}

INLINE void controller_ids(struct wire_process *p, struct css_set *set)
{
#define CONTROLLER(number)                                        \
	{                                                             \
		struct cgroup *cgroup = controller_cgroup(set, number);   \
		struct cgroup_root *root = READ(cgroup, root);            \
		p->cgroup_v1[number] = 0;                                 \
		if (cgroup && READ(root, hierarchy_id)) {                 \
			p->v1 |= 1 << number;                                 \
			p->cgroup_v1[number] = cgroup_id(cgroup);             \
		}                                                         \
	}
	CONTROLLER(CONTROLLER_FREEZER)
	CONTROLLER(CONTROLLER_MEMORY)
	CONTROLLER(CONTROLLER_CPUSET)
	CONTROLLER(CONTROLLER_DEVICES)
	CONTROLLER(CONTROLLER_CPUACCT)
#undef CONTROLLER
}

/* What is known of a process from one of its threads. */
APART int describe(u64 task_address, u32 kind, u32 which)
{
	struct scratch *s = scratch(which);
	if (!s)
		return 0;
	struct wire_process *p = &s->process;
	struct task_struct *task = (void *)task_address;
	struct task_struct *leader = READ(task, group_leader);
	struct css_set *set = READ(task, cgroups);
	const struct cred *cred = READ(task, real_cred);
	p->kind = kind;
	p->cut = 0;
	p->v1 = 0;
	p->reserved = 0;
	p->status = 0;
	p->tgid = READ(task, tgid);
	p->parent_tgid = 0;
	p->start = READ(leader, start_boottime);
	p->parent_start = 0;
	p->at = boot_ns();
	p->uid = READ(cred, euid.val);
	p->gid = READ(cred, egid.val);
	p->real_uid = READ(cred, uid.val);
	p->reserved_2 = 0;
	p->inner_pid = inner_pid(leader);
	p->tail = 0;
	p->cgroup = cgroup_id(READ(set, dfl_cgrp));
	controller_ids(p, set);
	return 0;
}

INLINE int wanted_other(struct task_struct *task)
{
	const struct cred *cred = READ(task, real_cred);
	return wanted_task((u64)task, READ(task, tgid), READ(cred, euid.val), READ(cred, egid.val), 0);
}

INLINE void send_process(struct scratch *s, u32 count, u32 tail)
{
	s->process.tail = tail;
	OPAQUE(tail);
	if (tail > TAIL_BYTES + TAIL_SPARE)
		return;
	send_news(count, s, WIRE_HEAD + tail);
}

SEC("tp_btf/sched_process_fork") int process_fork(u64 *context)
{
	struct task_struct *parent = (void *)context[0], *child = (void *)address_of((void *)context[1]);
	u32 tgid = READ(child, tgid), parent_tgid = READ(parent, tgid);
	if (tgid == parent_tgid)
		return 0; /* a thread */
	if (follow && map_lookup(&followed, &parent_tgid)) {
		u8 yes = FOLLOWED;
		if (map_update(&followed, &tgid, &yes, ANY))
			count_full(counter_of(COUNT_FORK), 0);
	}
	if (!wanted_other(child))
		return 0;
	describe((u64)child, WIRE_FORK, 0);
	struct scratch *s = scratch(0);
	if (!s)
		return 0;
	struct task_struct *leader = READ(parent, group_leader);
	s->process.parent_tgid = parent_tgid;
	s->process.parent_start = READ(leader, start_boottime);
	send_process(s, COUNT_FORK, 0);
	return 0;
}

/* The environment goes in pieces, as much as user space asked for; it picks the variables that it wants, and knows from the last piece whether that was all.
 * Pieces are put together where the record of the exec was, which has been sent.
 */
INLINE void send_environment(struct scratch *s, u64 begin, u64 end)
{
	struct wire_environment head = {.kind = WIRE_ENVIRONMENT, .tgid = s->process.tgid, .start = s->process.start, .at = s->process.at};
	struct {
		struct wire_environment head;
		u8 bytes[4096];
	} *record = (void *)s->tail;
	for (u32 i = 0; i < 32; i++) {
		u64 at = begin + i * 4096;
		if (i >= environment_pieces || at >= end)
			break;
		u32 size = end - at < 4096 ? end - at : 4096;
		head.last = end - at <= 4096;
		head.piece = i;
		OPAQUE(size);
		if (size > 4096)
			size = 4096;
		head.tail = probe_read_user(record->bytes, size, (void *)at) ? 0 : size;
		record->head = head;
		send_news(COUNT_ENVIRONMENT, record, sizeof(head) + size);
	}
}

SEC("tp_btf/sched_process_exec") int process_exec(u64 *context)
{
	struct task_struct *task = (void *)address_of((void *)context[0]);
	struct linux_binprm *program = (void *)context[2];
	if (!wanted_other(task))
		return 0;
	describe((u64)task, WIRE_EXEC, 0);
	struct scratch *s = scratch(0);
	if (!s)
		return 0;
	set_root(s, task);
	struct file *file = READ(program, file);
	u32 tail = add_path((u64)READ(file, f_path.dentry), (u64)READ(file, f_path.mnt), 0, PART_PATH, 0);
	tail = add_working_directory(task, tail, 0);
	struct mm_struct *mm = READ(task, mm);
	u64 begin = READ(mm, arg_start), end = READ(mm, arg_end);
	tail = user_memory(begin, end - begin, tail, PART_ARGUMENTS, 0);
	send_process(s, COUNT_EXEC, tail);
	if (environment_pieces)
		send_environment(s, READ(mm, env_start), READ(mm, env_end));
	return 0;
}

INLINE void add_counters(struct wire_exit *e, struct task_struct *task)
{
	struct task_io_accounting *io = (void *)&task->ioac;
	e->user += READ(task, utime);
	e->system += READ(task, stime);
	e->runtime += READ(task, se.sum_exec_runtime);
	if (!HAS_FIELD(struct task_struct, ioac))
		return;
	if (HAS_FIELD(struct task_io_accounting, rchar)) {
		e->rchar += READ(io, rchar);
		e->wchar += READ(io, wchar);
		e->syscr += READ(io, syscr);
		e->syscw += READ(io, syscw);
	}
	if (HAS_FIELD(struct task_io_accounting, read_bytes)) {
		e->read_bytes += READ(io, read_bytes);
		e->write_bytes += READ(io, write_bytes);
		e->cancelled += READ(io, cancelled_write_bytes);
	}
}

/* What a process that ends did on directories, and an end to counting it. */
INLINE void add_directories(struct wire_exit *e)
{
	u32 zero = 0, tgid = e->tgid;
	u32 *full = map_lookup(&directories_full, &zero);
	struct directory_calls *counted = map_lookup(&directories, &tgid);
	if (counted && counted->start == e->start) {
		e->mkdir = counted->calls[CALL_MKDIR - FIRST_COUNTED];
		e->rmdir = counted->calls[CALL_RMDIR - FIRST_COUNTED];
		e->symlink = counted->calls[CALL_SYMLINK - FIRST_COUNTED];
		e->readdir = counted->calls[CALL_READDIR - FIRST_COUNTED];
		e->stat = counted->calls[CALL_STAT - FIRST_COUNTED];
		e->has |= 8;
	} else if (full && !*full) {
		e->has |= 8;
	}
	if (counted)
		map_delete(&directories, &tgid);
}

/* How long a thread was runnable and waited for a processor; whether the kernel counts that, which it may be built or set not to. */
INLINE int run_delay_of(struct task_struct *task, u64 *delay)
{
	if (!HAS_FIELD(struct task_struct, sched_info) || !HAS_FIELD(struct sched_info, run_delay))
		return 0;
	struct sched_info *info = (void *)&task->sched_info;
	*delay = READ(info, run_delay);
	return READ(info, pcount) != 0;
}

/* The entry of a process in `run_delays`, made anew when there is none or that of a process that is gone. */
INLINE struct ended_threads *ended_threads_of(u32 tgid, u64 start)
{
	struct ended_threads *ended = map_lookup(&run_delays, &tgid);
	if (ended && ended->start == start)
		return ended;
	struct ended_threads none = {.start = start};
	map_update(&run_delays, &tgid, &none, ended ? ANY : NOEXIST);
	return map_lookup(&run_delays, &tgid);
}

/* A thread ends, and others of its process go on. */
INLINE void add_thread_run_delay(struct task_struct *task, u32 tgid)
{
	u64 delay = 0;
	if (!run_delay_of(task, &delay))
		return;
	struct task_struct *leader = READ(task, group_leader);
	struct ended_threads *ended = ended_threads_of(tgid, READ(leader, start_boottime));
	if (ended)
		__sync_fetch_and_add(&ended->run_delay, delay);
}

/* Threads of a process that was there before are gone already: how long they waited is not known. */
INLINE void miss_ended_threads(struct task_struct *leader)
{
	struct signal_struct *group = READ(leader, signal);
	if (!READ(group, sum_sched_runtime))
		return;
	struct ended_threads *ended = ended_threads_of(READ(leader, tgid), READ(leader, start_boottime));
	if (ended)
		ended->incomplete = 1;
}

/* What the threads of a process that ends waited for a processor: the last one, and those that ended before. */
INLINE void add_run_delay(struct wire_exit *e, struct task_struct *task, struct signal_struct *group)
{
	u32 tgid = e->tgid;
	struct ended_threads *ended = map_lookup(&run_delays, &tgid);
	int known = run_delay_of(task, &e->run_delay);
	if (ended && ended->start == e->start) {
		e->run_delay += ended->run_delay;
		known &= !ended->incomplete;
	} else if (READ(group, sum_sched_runtime) || READ(group, nr_threads) > 1) {
		known = 0; /* there were others, for which there was no room */
	}
	if (known)
		e->has |= 16;
}

SEC("tp_btf/sched_process_exit") int process_exit(u64 *context)
{
	struct task_struct *task = (void *)address_of((void *)context[0]);
	struct signal_struct *group = READ(task, signal);
	u32 tgid = READ(task, tgid);
	int live = READ(group, live.counter);
	if (exit_tells_group ? !(context[1] & 0xff) : live != 0) {
		if (live)
			add_thread_run_delay(task, tgid);
		return 0;
	}
	int wanted = wanted_other(task);
	if (follow)
		map_delete(&followed, &tgid);
	if (!wanted) {
		/* Its control group or user may have been another one before. */
		if (count_directories)
			map_delete(&directories, &tgid);
		map_delete(&run_delays, &tgid);
		return 0;
	}
	struct task_struct *leader = READ(task, group_leader);
	struct wire_exit e;
	__builtin_memset(&e, 0, sizeof(e));
	e.kind = WIRE_EXIT;
	e.tgid = tgid;
	e.start = READ(leader, start_boottime);
	e.at = boot_ns();
	e.status = READ(group, flags) & SIGNAL_GROUP_EXIT ? READ(group, group_exit_code) : READ(leader, exit_code);
	e.has = 1;
	if (HAS_FIELD(struct signal_struct, ioac) && HAS_FIELD(struct task_io_accounting, rchar))
		e.has |= 2;
	if (HAS_FIELD(struct signal_struct, ioac) && HAS_FIELD(struct task_io_accounting, read_bytes))
		e.has |= 4;
	/* What threads had used that are gone already. */
	struct task_io_accounting *io = (void *)&group->ioac;
	e.user = READ(group, utime);
	e.system = READ(group, stime);
	e.runtime = READ(group, sum_sched_runtime);
	if (e.has & 2) {
		e.rchar = READ(io, rchar);
		e.wchar = READ(io, wchar);
		e.syscr = READ(io, syscr);
		e.syscw = READ(io, syscw);
	}
	if (e.has & 4) {
		e.read_bytes = READ(io, read_bytes);
		e.write_bytes = READ(io, write_bytes);
		e.cancelled = READ(io, cancelled_write_bytes);
	}
	/* And those that are still there: this one, a leader that ended before, some on their way out. */
	struct list_head *head = (void *)&group->thread_head;
	struct list_head *at = READ(head, next);
	for (int i = 0; i < EXIT_THREADS; i++) {
		if (!at || at == head)
			break;
		struct task_struct *thread = (void *)((char *)at - __builtin_preserve_field_info(((struct task_struct *)0)->thread_node, 0));
		add_counters(&e, thread);
		at = READ(at, next);
	}
	if (at && at != head)
		e.has = 0; /* too many to add: not known rather than too little */
	add_run_delay(&e, task, group);
	map_delete(&run_delays, &tgid);
	if (count_directories)
		add_directories(&e);
	send_news(COUNT_EXIT, &e, sizeof(e));
	return 0;
}

SEC("tp_btf/cgroup_attach_task") int cgroup_attach(u64 *context)
{
	struct task_struct *task = (void *)address_of((void *)context[2]);
	if (!wanted_other(task))
		return 0;
	describe((u64)task, WIRE_CGROUP, 0);
	struct scratch *s = scratch(0);
	if (!s)
		return 0;
	struct cgroup *cgroup = (void *)address_of((void *)context[0]);
	struct cgroup_root *root = READ(cgroup, root);
	s->process.status = READ(root, hierarchy_id);
	s->process.parent_start = cgroup_id(cgroup);
	u32 tail = kernel_string(address_of((void *)context[1]), 0, PART_CGROUP, 0);
	send_process(s, COUNT_CGROUP, tail);
	return 0;
}

INLINE int send_cgroup_path(u64 *context)
{
	struct scratch *s = scratch(0);
	if (!s)
		return 0;
	struct cgroup *cgroup = (void *)address_of((void *)context[0]);
	struct cgroup_root *root = READ(cgroup, root);
	s->cgroup.kind = WIRE_CGROUP_PATH;
	s->cgroup.hierarchy = READ(root, hierarchy_id);
	s->cgroup.id = cgroup_id(cgroup);
	s->cgroup.at = boot_ns();
	u32 tail = kernel_string(address_of((void *)context[1]), 0, PART_CGROUP, 0);
	s->cgroup.tail = tail;
	OPAQUE(tail);
	if (tail > TAIL_BYTES + TAIL_SPARE)
		return 0;
	send_news(COUNT_CGROUP, s, WIRE_HEAD + tail);
	return 0;
}
SEC("tp_btf/cgroup_mkdir") int cgroup_made(u64 *context)
{
	return send_cgroup_path(context);
}
SEC("tp_btf/cgroup_rename") int cgroup_renamed(u64 *context)
{
	return send_cgroup_path(context);
}

/* What is there when tracing starts: a read of the iterator's file gives it, each record behind its length, so that the ring need not hold it all. */
INLINE void tell(struct bpf_iter_meta *meta, struct scratch *s, u32 tail)
{
	u32 size = WIRE_HEAD + tail;
	OPAQUE(tail);
	if (tail > TAIL_BYTES + TAIL_SPARE)
		return;
	seq_write(meta->seq, &size, sizeof(size));
	seq_write(meta->seq, s, WIRE_HEAD + tail);
}
/* Who descends from a followed process is followed. Forks are watched before this runs, so nobody slips through between the two. */
INLINE void follow_ancestors(struct task_struct *task)
{
	u32 own = READ(task, tgid);
	if (map_lookup(&followed, &own))
		return;
	for (int i = 0; i < 64; i++) {
		task = READ(task, real_parent);
		u32 tgid = READ(task, tgid);
		if (tgid <= 1)
			return;
		if (map_lookup(&followed, &tgid)) {
			u8 yes = FOLLOWED;
			map_update(&followed, &own, &yes, ANY);
			return;
		}
	}
}

SEC("iter/task") int running_process(struct bpf_iter__task *context)
{
	if (!context->task)
		return 0;
	struct task_struct *task = (void *)address_of(context->task);
	if (READ(task, group_leader) != task)
		return 0;
	miss_ended_threads(task);
	if (!READ(task, mm))
		return 0;
	if (follow)
		follow_ancestors(task);
	if (!wanted_other(task))
		return 0;
	describe((u64)task, WIRE_RUNNING, 1);
	struct scratch *s = scratch(1);
	if (!s)
		return 0;
	set_root(s, task);
	struct task_struct *parent = READ(task, real_parent);
	struct task_struct *parent_leader = READ(parent, group_leader);
	s->process.parent_tgid = READ(parent, tgid);
	s->process.parent_start = READ(parent_leader, start_boottime);
	u32 tail = 0;
	struct mm_struct *mm = READ(task, mm);
	struct file *file = READ(mm, exe_file);
	if (file)
		tail = add_path((u64)READ(file, f_path.dentry), (u64)READ(file, f_path.mnt), 0, PART_PATH, 1);
	tail = add_working_directory(task, tail, 1);
	s->process.tail = tail;
	tell(context->meta, s, tail);
	return 0;
}

/* Whether a process is not recorded, but those that it starts are: they have what it had open. */
INLINE int children_followed(u32 tgid)
{
	u8 *how = follow ? map_lookup(&followed, &tgid) : 0;
	return how && *how == CHILDREN_FOLLOWED;
}

SEC("iter/task_file") int running_file(struct bpf_iter__task_file *context)
{
	if (!context->task || !context->file)
		return 0;
	struct task_struct *task = (void *)address_of(context->task);
	struct file *file = (void *)address_of(context->file);
	if (READ(task, group_leader) != task)
		return 0;
	u32 zero = 0;
	u32 *only = map_lookup(&read_in, &zero);
	if (only && *only && *only != (u32)READ(task, tgid))
		return 0;
	if (!wanted_other(task) && !children_followed(READ(task, tgid)))
		return 0;
	struct scratch *s = scratch(1);
	if (!s)
		return 0;
	look_at_address(&s->side, (u64)file);
	if (!s->side.wanted)
		return 0;
	struct wire_operation *o = &s->operation;
	struct inode *inode = READ(file, f_inode);
	__builtin_memset(o, 0, sizeof(*o));
	o->kind = WIRE_OPEN_FILE;
	o->has = HAS_FILE | HAS_HANDLE | HAS_FILE_SIZE | HAS_TAIL | (s->side.block ? IS_BLOCK : 0);
	o->tgid = READ(task, tgid);
	o->start = boot_ns();
	o->handle = s->side.file;
	o->inode = s->side.inode;
	o->device = s->side.device;
	o->generation = s->side.generation;
	o->flags = s->side.flags;
	o->offset = s->side.position;
	struct super_block *super = READ(inode, i_sb);
	if (s->side.block) {
		struct address_space *pages = READ(file, f_mapping);
		inode = READ(pages, host);
	}
	o->size = READ(inode, i_size);
	set_root(s, task);
	u32 tail = add_type((u64)super, 0, 1);
	tail = add_path((u64)READ(file, f_path.dentry), (u64)READ(file, f_path.mnt), tail, PART_PATH, 1);
	o->tail = tail;
	tell(context->meta, s, tail);
	return 0;
}
#endif
