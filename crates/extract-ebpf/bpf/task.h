/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The task that runs, and the registers of its call. */
#ifndef TASK_H
#define TASK_H
#include "maps.h"

/* Where the kernel gives a typed pointer its fields are plain loads. */
#define CURRENT(task, field) (has_typed_task ? (task)->field : READ(task, field))

/* An address whose fields LOAD reads: plain loads where it can be given a type, which costs a tenth of a call. */
#define TYPED(type, address) (has_cast ? (struct type *)rdonly_cast((void *)(address), TYPE_NUMBER(struct type)) : (struct type *)(address))
#define LOAD(pointer, field) (has_cast ? (pointer)->field : READ(pointer, field))

INLINE struct task_struct *current_task(void)
{
	return has_typed_task ? current_task_typed() : (struct task_struct *)current_task_number();
}

INLINE u64 process_start(struct task_struct *task)
{
	if (has_typed_task)
		return task->group_leader->start_boottime;
	struct task_struct *leader = READ(task, group_leader);
	return READ(leader, start_boottime);
}

/* A 32-bit program on a 64-bit kernel has other call numbers and other structures in memory. */
INLINE int is_foreign(struct task_struct *task)
{
	if (HAS_FIELD(struct task_struct___x86, thread_info.status)) {
		struct task_struct___x86 *t = (void *)task;
		return CURRENT(t, thread_info.status) & 2; /* TS_COMPAT */
	}
	struct task_struct___arm64 *t = (void *)task;
	return (CURRENT(t, thread_info.flags) >> 22) & 1; /* TIF_32BIT */
}

/* The first argument of a call of a 32-bit program. */
INLINE u64 foreign_argument_0(struct pt_regs *registers)
{
	if (HAS_FIELD(struct pt_regs___x86, di))
		return ((struct pt_regs___x86 *)registers)->bx;
	return ((struct pt_regs___arm64 *)registers)->orig_x0;
}

/* The n-th argument of a system call, at its entry or at its exit. */
#define ARGUMENT(n, x86_register)                                                                       \
	INLINE u64 argument_##n(struct pt_regs *registers)                                                  \
	{                                                                                                   \
		if (HAS_FIELD(struct pt_regs___x86, di))                                                        \
			return ((struct pt_regs___x86 *)registers)->x86_register;                                   \
		return n ? ((struct pt_regs___arm64 *)registers)->regs[n] : ((struct pt_regs___arm64 *)registers)->orig_x0; \
	}
ARGUMENT(0, di)
ARGUMENT(1, si)
ARGUMENT(2, dx)
ARGUMENT(3, r10)
ARGUMENT(4, r8)
ARGUMENT(5, r9)

/* The number of the call, at its exit. */
INLINE u64 call_number(struct pt_regs *registers)
{
	if (HAS_FIELD(struct pt_regs___x86, orig_ax))
		return ((struct pt_regs___x86 *)registers)->orig_ax;
	return (u32)((struct pt_regs___arm64 *)registers)->syscallno;
}

INLINE struct flight *flight_of(struct task_struct *task)
{
	if (has_storage)
		return storage_get(&flights, task, 0, 0);
	u32 tid = (u32)current_pid_tgid();
	return map_lookup(&flights, &tid);
}
/* A new one, or nothing when there is no room. */
INLINE struct flight *new_flight(struct task_struct *task)
{
	if (has_storage)
		return storage_get(&flights, task, 0, STORAGE_CREATE);
	u32 tid = (u32)current_pid_tgid();
	map_update(&flights, &tid, &no_flight, ANY);
	return map_lookup(&flights, &tid);
}
INLINE void end_flight(struct flight *flight)
{
	flight->call = 0;
	if (!has_storage) {
		u32 tid = (u32)current_pid_tgid();
		map_delete(&flights, &tid);
	}
}
#endif
