/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* System calls: what is kept at the entry, and the records made at the exit. */
#ifndef CALLS_H
#define CALLS_H
#include "filter.h"
#include "path.h"
#include "send.h"
#include "totals.h"

#define RWF_APPEND 0x10
#define RWF_NOAPPEND 0x20
#define MAP_ANONYMOUS 0x20
#define AT_FDCWD -100
#define AT_REMOVEDIR 0x200
#define AT_EMPTY_PATH 0x1000
#define CLOSE_RANGE_CLOEXEC 4
/* Descriptors of one close_range(2) that are looked at; more are counted as one call that was lost. */
#define CLOSE_RANGE 2048

INLINE void begin_operation(struct wire_operation *o, struct task_struct *task, struct flight *flight, u8 op, u8 via, u64 end)
{
	u64 id = current_pid_tgid();
	o->kind = WIRE_OPERATION;
	o->op = op;
	o->via = via;
	o->reserved = 0;
	o->has = HAS_RESULT;
	o->tgid = id >> 32;
	o->tid = (u32)id;
	o->process_start = process_start(task);
	o->start = flight->start;
	o->end = end;
	o->handle = 0;
	o->inode = 0;
	o->device = 0;
	o->generation = 0;
	o->offset = 0;
	o->size = 0;
	o->result = 0;
	o->flags = 0;
	o->tail = 0;
}

INLINE void set_file(struct wire_operation *o, const struct side *side)
{
	o->has |= HAS_FILE;
	if (side->file)
		o->has |= HAS_HANDLE;
	if (side->block)
		o->has |= IS_BLOCK;
	o->handle = side->file;
	o->inode = side->inode;
	o->device = side->device;
	o->generation = side->generation;
}

/* Where a transfer began, when that is certain. A position is looked at before and after a call: when it differs by what the call moved and nobody sought, no
 * other transfer on the same open file description came between, because all of them move it forward, but for copies, which count as seeks.
 */
INLINE void set_offset(struct wire_operation *o, s64 offset, int certain)
{
	if (!certain || offset < 0) {
		o->has |= OFFSET_UNCERTAIN;
		return;
	}
	o->offset = offset;
	o->has |= HAS_OFFSET;
}

INLINE void set_cpu(struct wire_cpu *cpu, struct task_struct *task, struct flight *flight)
{
	cpu->user_start = flight->user;
	cpu->system_start = flight->system;
	cpu->user_end = CURRENT(task, utime);
	cpu->system_end = CURRENT(task, stime);
}

/* A call that is begun again by the kernel after a signal, or ends with EINTR: for the program it is the latter. */
INLINE s64 told_result(s64 result)
{
	return result <= -512 && result >= -516 ? -4 : result;
}

/* A record without a tail. It is put together in the ring itself, which saves a copy. */
INLINE void send_operation(struct task_struct *task, struct flight *flight, struct wire_operation *o, u64 bytes)
{
	if (!cpu_times) {
		send(o->op, o, sizeof(*o), bytes);
		return;
	}
	struct wire_counter *c = counter_of(o->op);
	count_seen(c, bytes);
	struct {
		struct wire_operation operation;
		struct wire_cpu cpu;
	} *both = ring_reserve(&events, sizeof(*both), 0);
	if (!both) {
		count_lost(c, bytes);
		return;
	}
	both->operation = *o;
	both->operation.has |= HAS_CPU;
	set_cpu(&both->cpu, task, flight);
	ring_submit(both, wake_flags(c));
}

INLINE void send_transfer(struct task_struct *task, struct flight *flight, struct wire_operation *o)
{
	u64 bytes = o->result > 0 ? o->result : 0;
	if (totals_only && (o->has & HAS_FILE))
		add_up(o);
	else
		send_operation(task, flight, o, bytes);
}

/* Bytes that a vector of the program's memory asks for: `struct iovec`, at most UIO_MAXIOV. */
APART u64 vector_size(u64 address, u64 count)
{
	u64 sum = 0;
	for (u32 i = 0; i < 1024; i++) {
		u64 length = 0;
		if (i >= count)
			break;
		if (probe_read_user(&length, sizeof(length), (void *)(address + i * 16 + 8)))
			break;
		sum += length;
	}
	return sum;
}

INLINE int is_write(u8 call)
{
	return call == CALL_WRITE || call == CALL_PWRITE || call == CALL_WRITEV || call == CALL_PWRITEV || call == CALL_PWRITEV2;
}

INLINE void leave_transfer(struct pt_regs *registers, struct task_struct *task, struct flight *flight, s64 result, u64 end)
{
	struct wire_operation o;
	u8 call = flight->call;
	int write = is_write(call);
	s64 offset, moved = result > 0 ? result : 0;
	const struct side *side = &flight->a;
	begin_operation(&o, task, flight, write ? OP_WRITE : OP_READ, VIA_CALL, end);
	set_file(&o, side);
	if (call <= CALL_PWRITE)
		o.size = argument_2(registers);
	else
		o.size = vector_size(argument_1(registers), argument_2(registers));
	int positioned = call == CALL_PREAD || call == CALL_PWRITE || call == CALL_PREADV || call == CALL_PWRITEV;
	if (call == CALL_PREADV2 || call == CALL_PWRITEV2)
		positioned = argument_3(registers) != ~0ull;
	struct file *file = TYPED(file, side->file);
	int append = write && (side->flags & O_APPEND), certain = 1;
	if (call == CALL_PWRITEV2) {
		u32 how = argument_5(registers);
		append = (append && !(how & RWF_NOAPPEND)) || (how & RWF_APPEND);
	}
	if (positioned && append) {
		/* It went to the end of the file all the same (pwrite(2), BUGS). */
		struct inode *inode = LOAD(file, f_inode);
		offset = LOAD(inode, i_size) - moved;
		certain = offset == side->size;
	} else if (positioned) {
		offset = argument_3(registers);
	} else if (append) {
		offset = LOAD(file, f_pos) - moved;
		certain = side->alone || (offset == side->size && !is_sought(side));
	} else {
		offset = side->position;
		/* Within the function the position of a regular file is locked, which only copies disregard. */
		if (!flight->captured || side->block)
			certain = LOAD(file, f_pos) - moved == offset && !is_sought(side);
		else if (seeks_of(side) >= SEEK_COPIED)
			certain = !(flight->copies % SEEK_BEGUN) && all_copies() == flight->copies;
	}
	o.result = told_result(result);
	o.has |= HAS_SIZE;
	set_offset(&o, offset, certain);
	send_transfer(task, flight, &o);
}

/* Where one side of a copy began: at the value behind the pointer, which the kernel moved on, or at the position of the open file. */
INLINE void set_copy_offset(struct wire_operation *o, const struct side *side, u64 pointer, s64 result)
{
	s64 offset = 0, moved = result > 0 ? result : 0;
	if (pointer) {
		probe_read_user(&offset, sizeof(offset), (void *)pointer);
		set_offset(o, offset - moved, 1);
	} else {
		offset = READ((struct file *)side->file, f_pos) - moved;
		set_offset(o, offset, offset == side->position && !is_sought(side));
	}
}

INLINE void send_side(struct task_struct *task, struct flight *flight, const struct side *side, u8 op, u8 via, u64 pointer, u64 size, s64 result, u64 end)
{
	if (!side->wanted || !(ops_wanted & (1u << op)))
		return;
	struct wire_operation o;
	begin_operation(&o, task, flight, op, via, end);
	set_file(&o, side);
	set_copy_offset(&o, side, pointer, result);
	o.size = size;
	o.result = told_result(result);
	o.has |= HAS_SIZE;
	send_transfer(task, flight, &o);
}

/* What a copy is asked to do. */
struct copy {
	u32 source, target;
	u64 from, to; /* pointers to offsets; 0: at the position of the open file */
	u64 size;
};

INLINE struct copy copy_of(struct pt_regs *registers, u8 call)
{
	/* sendfile(2) names the target first. */
	if (call == CALL_SENDFILE)
		return (struct copy){argument_1(registers), argument_0(registers), argument_2(registers), 0, argument_3(registers)};
	return (struct copy){argument_0(registers), argument_2(registers), argument_1(registers), argument_3(registers), argument_4(registers)};
}

/* One side of a copy. At the position the kernel reads it when the copy begins and writes it when it ends, without its lock: the copy counts as a seek from
 * before its position is looked at.
 */
INLINE void enter_side(struct task_struct *task, struct side *side, u32 descriptor, u64 pointer)
{
	side->wanted = 0;
	side->seeks_itself = 0;
	u64 file = file_of(task, descriptor);
	if (!file)
		return;
	look_at_used(side, file);
	if (!side->wanted || pointer || is_alone(task, file))
		return;
	begin_copy(side);
	look_at_address(side, file);
	side->seeks_itself = 1;
	side->seeks -= 1; /* it has ended itself when this is compared */
}

INLINE void leave_side(const struct side *side)
{
	if (side->seeks_itself)
		end_copy(side);
}

INLINE void enter_copy(struct pt_regs *registers, struct task_struct *task, struct flight *flight, u8 call)
{
	struct copy copy = copy_of(registers, call);
	enter_side(task, &flight->a, copy.source, copy.from);
	enter_side(task, &flight->b, copy.target, copy.to);
}

/* The same by a process that is not recorded: it may set back a position that others use. */
INLINE void enter_copy_of_others(struct pt_regs *registers, struct task_struct *task, u8 call)
{
	struct flight *flight = new_flight(task);
	if (!flight)
		return;
	enter_copy(registers, task, flight, call);
	flight->a.wanted = 0;
	flight->b.wanted = 0;
	if (!flight->a.seeks_itself && !flight->b.seeks_itself) {
		end_flight(flight);
		return;
	}
	flight->call = call;
	flight->number = call_number(registers);
}

INLINE void leave_copies(struct pt_regs *registers, struct task_struct *task, struct flight *flight, s64 result, u64 end)
{
	u8 call = flight->call;
	u8 via = call == CALL_SENDFILE ? VIA_SENDFILE : call == CALL_SPLICE ? VIA_SPLICE : VIA_COPY;
	struct copy copy = copy_of(registers, call);
	leave_side(&flight->a);
	leave_side(&flight->b);
	send_side(task, flight, &flight->a, OP_READ, via, copy.from, copy.size, result, end);
	send_side(task, flight, &flight->b, OP_WRITE, via, copy.to, copy.size, result, end);
}

/* Calls on one descriptor that move no bytes. */
INLINE void leave_descriptor(struct pt_regs *registers, struct task_struct *task, struct flight *flight, s64 result, u64 end)
{
	struct wire_operation o;
	u8 call = flight->call;
	u8 op = OP_CLOSE;
	if (call == CALL_FTRUNCATE)
		op = OP_TRUNCATE;
	else if (call == CALL_FALLOCATE)
		op = OP_ALLOCATE;
	else if (call == CALL_FSYNC || call == CALL_SYNC_FILE_RANGE)
		op = OP_SYNC;
	else if (call == CALL_MMAP)
		op = OP_MMAP;
	begin_operation(&o, task, flight, op, VIA_CALL, end);
	set_file(&o, &flight->a);
	o.result = result < 0 && result > -4096 ? told_result(result) : 0;
	switch (call) {
	case CALL_FTRUNCATE:
		o.size = argument_1(registers);
		o.has |= HAS_SIZE;
		break;
	case CALL_FALLOCATE:
		o.flags = argument_1(registers);
		o.offset = argument_2(registers);
		o.size = argument_3(registers);
		o.has |= HAS_FLAGS | HAS_OFFSET | HAS_SIZE;
		break;
	case CALL_SYNC_FILE_RANGE:
		o.offset = argument_1(registers);
		o.size = argument_2(registers);
		o.has |= HAS_OFFSET | HAS_SIZE;
		break;
	case CALL_MMAP:
		o.offset = argument_5(registers);
		o.size = argument_1(registers);
		o.flags = (u32)argument_2(registers) | (u32)argument_3(registers) << 8;
		o.has |= HAS_FLAGS | HAS_OFFSET | HAS_SIZE;
		break;
	case CALL_DUP2:
	case CALL_DUP3:
		/* The close that this was for the descriptor that is used again; it never fails. */
		if (result < 0)
			return;
		break;
	}
	send_operation(task, flight, &o, 0);
}

INLINE void enter_descriptor(struct pt_regs *registers, struct task_struct *task, struct flight *flight, u8 call)
{
	u32 descriptor = argument_0(registers);
	if (call == CALL_MMAP) {
		if (argument_3(registers) & MAP_ANONYMOUS)
			return;
		descriptor = argument_4(registers);
	} else if (call == CALL_DUP2 || call == CALL_DUP3) {
		if ((u32)argument_1(registers) == descriptor)
			return;
		descriptor = argument_1(registers);
	}
	u64 file = file_of(task, descriptor);
	if (!file)
		return;
	if (call == CALL_CLOSE || call == CALL_DUP2 || call == CALL_DUP3) {
		look_at_address(&flight->a, file);
		if (totals_only && flight->a.wanted)
			send_sum(flight->a.file, flight->a.inode, process_start(task), flight->a.device);
	} else
		look_at_used(&flight->a, file);
}

/* Sends the operation in a scratch with its tail. */
INLINE void send_tail(struct scratch *s, u32 tail)
{
	struct wire_operation *o = &s->operation;
	o->has |= HAS_TAIL;
	o->tail = tail;
	OPAQUE(tail);
	if (tail > TAIL_BYTES + TAIL_SPARE)
		return;
	send(o->op, s, WIRE_HEAD + tail, 0);
}

/* The record of an operation with a tail, in scratch 0. */
INLINE void send_with_tail(struct task_struct *task, struct flight *flight, struct scratch *s, u32 tail)
{
	struct wire_operation *o = &s->operation;
	if (cpu_times) {
		o->has |= HAS_CPU;
		set_cpu(&s->cpu, task, flight);
	}
	send_tail(s, tail);
}

/* Where a path begins: the root of the process for an absolute one, otherwise the working directory or a directory's descriptor. */
INLINE u32 add_start(struct task_struct *task, int directory, char first, u32 at, u32 part)
{
	u64 mount, dentry;
	struct fs_struct *fs = READ(task, fs);
	if (first == '/') {
		mount = (u64)READ(fs, root.mnt);
		dentry = (u64)READ(fs, root.dentry);
	} else if (directory == AT_FDCWD) {
		mount = (u64)READ(fs, pwd.mnt);
		dentry = (u64)READ(fs, pwd.dentry);
	} else {
		struct file *file = (void *)file_of(task, directory);
		if (!file)
			return at;
		mount = (u64)READ(file, f_path.mnt);
		dentry = (u64)READ(file, f_path.dentry);
	}
	return add_path(dentry, mount, at, part, 0);
}

INLINE u32 add_given(struct task_struct *task, int directory, u64 string, u32 at, u32 start_part, u32 string_part)
{
	char first = 0;
	probe_read_user(&first, 1, (void *)string);
	at = add_start(task, directory, first, at, start_part);
	return user_string(string, at, string_part, 0);
}

/* Size, type of file system and path of a file that was just opened. */
INLINE u32 add_opened(struct scratch *s, struct file *file, int block)
{
	struct wire_operation *o = &s->operation;
	struct inode *inode = READ(file, f_inode);
	struct super_block *super = READ(inode, i_sb);
	if (block) {
		struct address_space *pages = READ(file, f_mapping);
		inode = READ(pages, host);
	}
	o->size = READ(inode, i_size);
	o->has |= HAS_FILE_SIZE;
	u32 tail = add_type((u64)super, 0, 0);
	return add_path((u64)READ(file, f_path.dentry), (u64)READ(file, f_path.mnt), tail, PART_PATH, 0);
}

INLINE void leave_open(struct pt_regs *registers, struct task_struct *task, struct flight *flight, s64 result, u64 end)
{
	u8 call = flight->call;
	struct scratch *s = scratch(0);
	if (!s)
		return;
	struct wire_operation *o = &s->operation;
	begin_operation(o, task, flight, OP_OPEN, VIA_CALL, end);
	o->has |= HAS_FLAGS;
	u64 string = call == CALL_OPEN || call == CALL_CREAT ? argument_0(registers) : argument_1(registers);
	int directory = call == CALL_OPEN || call == CALL_CREAT ? AT_FDCWD : (int)argument_0(registers);
	if (call == CALL_OPEN)
		o->flags = argument_1(registers);
	else if (call == CALL_CREAT)
		o->flags = 0101 | 01000; /* O_CREAT | O_WRONLY | O_TRUNC */
	else if (call == CALL_OPENAT2) {
		u64 how = 0;
		probe_read_user(&how, sizeof(how), (void *)argument_2(registers));
		o->flags = how;
	} else
		o->flags = argument_2(registers);
	u32 tail = 0;
	set_root(s, task);
	if (result >= 0) {
		struct file *file = (void *)file_of(task, result);
		struct side *side = &flight->a;
		if (!flight->captured) {
			if (!file)
				return;
			look_at_address(side, (u64)file);
		}
		if (!side->wanted)
			return;
		set_file(o, side);
		if (totals_only)
			send_sum(o->handle, o->inode, o->process_start, o->device);
		if ((u64)file != side->file) {
			/* Another thread has closed it already: its memory may be another file's. */
			send_with_tail(task, flight, s, 0);
			return;
		}
		tail = add_opened(s, file, side->block);
	} else {
		o->result = told_result(result);
		if (call != CALL_OPEN_BY_HANDLE)
			tail = add_given(task, directory, string, tail, PART_DIRECTORY, PART_STRING);
	}
	send_with_tail(task, flight, s, tail);
}

/* Calls on names. */
INLINE void leave_name(struct pt_regs *registers, struct task_struct *task, struct flight *flight, s64 result, u64 end)
{
	u8 call = flight->call;
	struct scratch *s = scratch(0);
	if (!s)
		return;
	struct wire_operation *o = &s->operation;
	u8 op = OP_DELETE;
	if (call >= CALL_RENAME && call <= CALL_RENAMEAT2)
		op = OP_RENAME;
	else if (call == CALL_LINK || call == CALL_LINKAT)
		op = OP_LINK;
	else if (call == CALL_TRUNCATE)
		op = OP_TRUNCATE;
	begin_operation(o, task, flight, op, VIA_CALL, end);
	o->result = told_result(result);
	int from = AT_FDCWD, to = AT_FDCWD;
	u64 old = argument_0(registers), new = 0;
	switch (call) {
	case CALL_UNLINKAT:
		from = argument_0(registers);
		old = argument_1(registers);
		break;
	case CALL_RENAME:
	case CALL_LINK:
		new = argument_1(registers);
		break;
	case CALL_RENAMEAT:
	case CALL_RENAMEAT2:
	case CALL_LINKAT:
		from = argument_0(registers);
		old = argument_1(registers);
		to = argument_2(registers);
		new = argument_3(registers);
		break;
	case CALL_TRUNCATE:
		o->size = argument_1(registers);
		o->has |= HAS_SIZE;
		break;
	}
	if (op == OP_RENAME) {
		o->has |= HAS_FLAGS;
		if (call == CALL_RENAMEAT2)
			o->flags = argument_4(registers);
	}
	if (flight->captured) {
		if (!flight->a.wanted)
			return;
		if (flight->a.wanted == 1)
			set_file(o, &flight->a);
	}
	set_root(s, task);
	u32 tail = add_given(task, from, old, 0, PART_DIRECTORY, PART_STRING);
	if (op == OP_RENAME || op == OP_LINK)
		tail = add_given(task, to, new, tail, PART_DIRECTORY_2, PART_STRING_2);
	send_with_tail(task, flight, s, tail);
}

/* The record of a descriptor that is about to be closed. By itself, so that a loop around it is cheap to verify. */
APART int close_one(u32 descriptor)
{
	struct task_struct *task = current_task();
	struct flight *flight = flight_of(task);
	u64 file = file_of(task, descriptor);
	if (!flight || !file)
		return 0;
	struct side *side = &flight->b;
	look_at_address(side, file);
	if (!side->wanted)
		return 0;
	struct wire_operation o;
	begin_operation(&o, task, flight, OP_CLOSE, VIA_CALL, flight->start);
	set_file(&o, side);
	if (totals_only)
		send_sum(o.handle, o.inode, o.process_start, o.device);
	send_operation(task, flight, &o, 0);
	return 1;
}

/* close_range(2): a record for each descriptor in it that is open, at the entry, while they still are. */
APART int close_many(u32 first, u32 last)
{
	struct task_struct *task = current_task();
	struct fdtable *table;
	if (has_typed_task) {
		table = task->files->fdt;
	} else {
		struct files_struct *all = READ(task, files);
		table = READ(all, fdt);
	}
	u32 size = READ(table, max_fds);
	if (last >= size)
		last = size - 1;
	for (u32 i = 0; i < CLOSE_RANGE; i++) {
		u32 descriptor = first + i;
		if (descriptor > last || descriptor < first)
			return 0;
		close_one(descriptor);
	}
	return 1;
}

INLINE int is_transfer(u8 op)
{
	return op == OP_READ || op == OP_WRITE;
}

/* Something that has no record, of the kind `what`. */
INLINE void count_unrecorded(u32 what, u8 op, u64 bytes)
{
	if (op == OP_NONE || (ops_wanted & (1u << op)))
		count_seen(counter_of(what + op), bytes);
}

/* A call that is looked at again at its end, where its result is known. */
INLINE void await_end(struct task_struct *task, struct pt_regs *registers, u8 call)
{
	struct flight *flight = new_flight(task);
	if (!flight)
		return;
	flight->call = call;
	flight->number = call_number(registers);
}

/* A call of a 32-bit program, in which numbers and arguments lie elsewhere: counted where it is about a file. */
INLINE void enter_foreign(struct task_struct *task, struct pt_regs *registers, u8 how)
{
	if (!how)
		return;
	if (how & FOREIGN_BY_DESCRIPTOR) {
		u64 file = file_of(task, foreign_argument_0(registers));
		if (!file || !is_recorded_kind(file))
			return;
	}
	if (!wanted_current(task, current_pid_tgid() >> 32, 0))
		return;
	if (is_transfer(how & FOREIGN_OP))
		await_end(task, registers, CALL_FOREIGN);
	else
		count_unrecorded(COUNT_FOREIGN, how & FOREIGN_OP, 0);
}

/* The middle of a request of io_submit(2): `struct iocb` and IOCB_CMD_… of linux/aio_abi.h. */
struct iocb_middle {
	u16 operation, priority;
	u32 descriptor;
	u64 buffer, bytes;
};
#define IOCB_MIDDLE 16
enum { AIO_PREAD = 0, AIO_PWRITE = 1, AIO_FSYNC = 2, AIO_FDSYNC = 3, AIO_PREADV = 7, AIO_PWRITEV = 8 };
/* Requests of one io_submit(2) that are looked at; others are counted without what they are. */
#define AIO_REQUESTS 1024

/* By itself, so that a loop around it is cheap to verify. What it reads is not on the stack, of which a program and what it calls have 512 bytes. */
APART int count_submitted(u64 place)
{
	u64 address = 0;
	struct scratch *s = scratch(0);
	if (!s)
		return 0;
	struct iocb_middle *request = (void *)s->tail;
	if (probe_read_user(&address, sizeof(address), (void *)place) ||
		probe_read_user(request, sizeof(*request), (void *)(address + IOCB_MIDDLE))) {
		count_unrecorded(COUNT_AIO, OP_NONE, 0);
		return 0;
	}
	u64 file = file_of(current_task(), request->descriptor);
	if (file && !is_recorded_kind(file))
		return 0;
	switch (request->operation) {
	case AIO_PREAD:
		count_unrecorded(COUNT_AIO, OP_READ, request->bytes);
		break;
	case AIO_PWRITE:
		count_unrecorded(COUNT_AIO, OP_WRITE, request->bytes);
		break;
	case AIO_PREADV:
		count_unrecorded(COUNT_AIO, OP_READ, vector_size(request->buffer, request->bytes));
		break;
	case AIO_PWRITEV:
		count_unrecorded(COUNT_AIO, OP_WRITE, vector_size(request->buffer, request->bytes));
		break;
	case AIO_FSYNC:
	case AIO_FDSYNC:
		count_unrecorded(COUNT_AIO, OP_SYNC, 0);
		break;
	}
	return 0;
}

/* io_submit(2): what was taken of the requests that it was given. */
APART int count_submissions(u64 places, u64 count)
{
	for (u32 i = 0; i < AIO_REQUESTS; i++) {
		if (i >= count)
			return 0;
		count_submitted(places + i * 8);
	}
	struct wire_counter *c = counter_of(COUNT_AIO + OP_NONE);
	if (c && count > AIO_REQUESTS)
		c->seen += count - AIO_REQUESTS;
	return 0;
}

/* Adds a call on directories to those of its process. A process that has the number of one whose end was not seen begins anew. */
INLINE void count_directory(struct task_struct *task, u32 tgid, u8 call)
{
	u64 start = process_start(task);
	struct directory_calls *counted = map_lookup(&directories, &tgid);
	if (!counted || counted->start != start) {
		struct directory_calls none = {.start = start};
		/* Another thread may have made the entry meanwhile; that of a process that is gone is replaced. */
		map_update(&directories, &tgid, &none, counted ? ANY : NOEXIST);
		counted = map_lookup(&directories, &tgid);
		if (!counted) {
			u32 zero = 0, yes = 1;
			map_update(&directories_full, &zero, &yes, ANY);
			count_full(counter_of(OP_NONE), 0);
			return;
		}
	}
	__sync_fetch_and_add(&counted->calls[(call - FIRST_COUNTED) & (COUNTED_CALLS - 1)], 1);
}

/* lseek(2) by whomever, on an open file that others can reach too. */
INLINE void enter_seek(struct pt_regs *registers, struct task_struct *task)
{
	u64 file = file_of(task, argument_0(registers));
	if (!file || !is_recorded_kind(file) || is_alone(task, file))
		return;
	struct flight *flight = new_flight(task);
	if (!flight)
		return;
	flight->a.file = file;
	begin_seek(&flight->a);
	flight->call = CALL_SEEK;
	flight->number = call_number(registers);
}

SEC("tp_btf/sys_enter") int call_enter(u64 *context)
{
	u64 number = context[1];
	if (number >= CALL_NUMBERS)
		return 0;
	u8 call = calls[number];
	if (!call && !foreign_calls[number])
		return 0;
	struct task_struct *task = current_task();
	struct pt_regs *registers = (void *)context[0];
	if (UNLIKELY(is_foreign(task))) {
		enter_foreign(task, registers, foreign_calls[number]);
		return 0;
	}
	if (!call)
		return 0;
	if (call == CALL_SEEK) {
		enter_seek(registers, task);
		return 0;
	}
	u64 file = 0;
	if (call <= LAST_TRANSFER && !vfs_hooks) {
		/* Pipes, sockets and devices are most of what a machine reads and writes: they are left before anything else is looked up. */
		file = file_of(task, argument_0(registers));
		if (!file || !is_recorded_kind(file))
			return 0;
	}
	u32 tgid = current_pid_tgid() >> 32;
	struct flight *flight = has_storage ? storage_get(&flights, task, 0, 0) : 0;
	if (!wanted_current(task, tgid, flight && flight->follows)) {
		if (call > LAST_TRANSFER && call <= LAST_COPY)
			enter_copy_of_others(registers, task, call);
		return 0;
	}
	if (UNLIKELY(call == CALL_IO_SUBMIT)) {
		await_end(task, registers, call);
		return 0;
	}
	if (call == CALL_UNLINKAT && (argument_2(registers) & AT_REMOVEDIR))
		call = CALL_RMDIR;
	if (call >= FIRST_COUNTED) {
		if (count_directories)
			count_directory(task, tgid, call);
		return 0;
	}
	if (flight)
		flight->call = 0; /* whatever became of the call before */
	if (call <= LAST_TRANSFER && !vfs_hooks) {
		if (has_storage) {
			if (!flight) {
				flight = storage_get(&flights, task, 0, STORAGE_CREATE);
				if (!flight)
					goto full;
				flight->follows = 1;
			}
			look_at_used(&flight->a, file);
			if (!flight->a.wanted)
				return 0;
			look_at_end(task, &flight->a, call);
		} else {
			/* No room in the hash is taken for a file that is not recorded. */
			struct side side = {};
			look_at_used(&side, file);
			if (!side.wanted)
				return 0;
			look_at_end(task, &side, call);
			flight = new_flight(task);
			if (!flight)
				goto full;
			flight->a = side;
		}
	} else {
		flight = new_flight(task);
		if (!flight)
			goto full;
		flight->a.wanted = 0;
		flight->a.file = 0;
		flight->b.wanted = 0;
		flight->captured = 0;
		flight->follows = 1;
		if (call <= LAST_TRANSFER)
			flight->copies = all_copies(); /* a hook of vfs.h tells the file */
		else if (call <= LAST_COPY)
			enter_copy(registers, task, flight, call);
		else if (call <= LAST_BY_DESCRIPTOR)
			enter_descriptor(registers, task, flight, call);
		if (call > LAST_TRANSFER && call <= LAST_BY_DESCRIPTOR && !flight->a.wanted && !flight->b.wanted) {
			end_flight(flight);
			return 0;
		}
	}
	if (cpu_times) {
		flight->user = CURRENT(task, utime);
		flight->system = CURRENT(task, stime);
	}
	flight->call = call;
	flight->number = number;
	flight->start = boot_ns();
	if (call == CALL_CLOSE_RANGE) {
		u32 first = argument_0(registers), last = argument_1(registers);
		if (!(argument_2(registers) & CLOSE_RANGE_CLOEXEC) && first <= last && close_many(first, last))
			count_full(counter_of(OP_NONE), 0);
		end_flight(flight);
	}
	return 0;
full:
	count_full(counter_of(OP_NONE), 0);
	return 0;
}

SEC("tp_btf/sys_exit") int call_exit(u64 *context)
{
	struct pt_regs *registers = (void *)context[0];
	u64 number = call_number(registers);
	if (number >= CALL_NUMBERS)
		return 0;
	struct task_struct *task = current_task();
	u8 foreign_op = foreign_calls[number] & FOREIGN_OP;
	int native = calls[number] && calls[number] < FIRST_COUNTED;
	if (!native && !(is_transfer(foreign_op) && is_foreign(task)))
		return 0;
	struct flight *flight = flight_of(task);
	if (!flight || !flight->call || flight->number != number)
		return 0;
	u8 call = flight->call;
	if (call == CALL_SEEK) {
		end_seek(&flight->a);
		end_flight(flight);
		return 0;
	}
	s64 result = context[1];
	if (UNLIKELY(call == CALL_FOREIGN || call == CALL_IO_SUBMIT)) {
		s32 moved = result;
		if (call == CALL_FOREIGN)
			count_unrecorded(COUNT_FOREIGN, foreign_op, moved > 0 ? moved : 0);
		else if (result > 0)
			count_submissions(argument_2(registers), result);
		end_flight(flight);
		return 0;
	}
	u64 end = boot_ns();
	if (vfs_hooks && call <= LAST_TRANSFER && !flight->captured) {
		/* It failed before, or the function was inlined. */
		u64 file = file_of(task, argument_0(registers));
		if (file)
			look_at_used(&flight->a, file);
		look_at_end(task, &flight->a, call);
	}
	if (call <= LAST_TRANSFER && !flight->a.wanted)
		;
	else if (call <= LAST_TRANSFER)
		leave_transfer(registers, task, flight, result, end);
	else if (call <= LAST_COPY)
		leave_copies(registers, task, flight, result, end);
	else if (call <= LAST_BY_DESCRIPTOR)
		leave_descriptor(registers, task, flight, result, end);
	else if (call <= LAST_OPEN)
		leave_open(registers, task, flight, result, end);
	else
		leave_name(registers, task, flight, result, end);
	end_flight(flight);
	return 0;
}
#endif
