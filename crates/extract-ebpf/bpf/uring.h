/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What goes past the hooks of calls: requests of io_uring, and faults on mappings. */
#ifndef URING_H
#define URING_H
#include "calls.h"

/* A request between its submission and its completion. Where the completion does not tell the request (before 6.1) it is found by its ring and its user data. */
struct request_key {
	u64 request_or_ring, user_data;
};
struct request {
	struct wire_operation operation;
	struct side side;
	u32 unknown_file, reserved;
};
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_NUMBER(max_entries, 16384);
	MAP_TYPE(key, struct request_key);
	MAP_TYPE(value, struct request);
} requests SEC(".maps");
struct {
	MAP_NUMBER(type, MAP_PERCPU_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct request);
} new_request SEC(".maps");

/* enum io_uring_op, an ABI. */
enum {
	URING_READV = 1,
	URING_WRITEV = 2,
	URING_FSYNC = 3,
	URING_READ_FIXED = 4,
	URING_WRITE_FIXED = 5,
	URING_SYNC_FILE_RANGE = 8,
	URING_FALLOCATE = 17,
	URING_OPENAT = 18,
	URING_CLOSE = 19,
	URING_READ = 22,
	URING_WRITE = 23,
	URING_OPENAT2 = 28,
	URING_SPLICE = 30,
	URING_RENAMEAT = 35,
	URING_UNLINKAT = 36,
	URING_LINKAT = 39,
	URING_READ_MULTISHOT = 49,
	URING_FTRUNCATE = 55,
	URING_READV_FIXED = 58,
	URING_WRITEV_FIXED = 59,
};
#define FIXED_FILE 1 /* REQ_F_FIXED_FILE */

INLINE u8 uring_op(u8 opcode)
{
	switch (opcode) {
	case URING_READ:
	case URING_READV:
	case URING_READ_FIXED:
		return OP_READ;
	case URING_WRITE:
	case URING_WRITEV:
	case URING_WRITE_FIXED:
		return OP_WRITE;
	case URING_FSYNC:
		return OP_SYNC;
	}
	return OP_NONE;
}

/* Requests that are about files and are not decoded. */
INLINE int uring_unseen(u8 opcode)
{
	return opcode == URING_SYNC_FILE_RANGE || opcode == URING_FALLOCATE || opcode == URING_OPENAT || opcode == URING_CLOSE || opcode == URING_OPENAT2 ||
		   opcode == URING_SPLICE || opcode == URING_RENAMEAT || opcode == URING_UNLINKAT || opcode == URING_LINKAT || opcode == URING_READ_MULTISHOT ||
		   opcode == URING_FTRUNCATE || opcode == URING_READV_FIXED || opcode == URING_WRITEV_FIXED;
}

INLINE u64 user_data_of(struct io_kiocb *request)
{
	if (HAS_FIELD(struct io_kiocb, user_data))
		return READ(request, user_data);
	return READ((struct io_kiocb___completion *)request, cqe.user_data);
}

SEC("tp_btf/io_uring_submit_req") int uring_submit(u64 *context)
{
	struct io_kiocb *request = (void *)(submit_request == 0 ? address_of((void *)context[0]) : address_of((void *)context[1]));
	struct task_struct *task = current_task();
	u64 id = current_pid_tgid();
	if (!wanted_current(task, id >> 32, 0))
		return 0;
	u8 opcode = READ(request, opcode);
	u8 op = uring_op(opcode);
	if (op == OP_NONE) {
		if (uring_unseen(opcode))
			count_seen(counter_of(COUNT_URING), 0);
		return 0;
	}
	if (!(ops_wanted & (1u << op)))
		return 0;
	u32 zero = 0;
	struct request *r = map_lookup(&new_request, &zero);
	if (!r)
		return 0;
	struct flight begin = {.start = boot_ns()};
	begin_operation(&r->operation, task, &begin, op, VIA_URING, begin.start);
	r->side.wanted = 0;
	r->unknown_file = 1;
	u64 file = (u64)READ(request, file);
	if (!file && HAS_FIELD(struct io_kiocb___completion, cqe) && !(READ(request, flags) & FIXED_FILE))
		file = file_of(task, READ((struct io_kiocb___completion *)request, cqe.fd));
	if (file) {
		look_at_address(&r->side, file);
		if (!r->side.wanted)
			return 0;
		r->unknown_file = 0;
	}
	if (op != OP_SYNC) {
		struct io_rw *transfer = (void *)request;
		s64 position = READ(transfer, kiocb.ki_pos);
		u64 size = READ(transfer, len);
		if (opcode == URING_READV || opcode == URING_WRITEV)
			size = vector_size(READ(transfer, addr), size);
		r->operation.size = size;
		r->operation.has |= HAS_SIZE;
		if (position == -1 && file)
			position = r->side.position;
		if (position >= 0 && !(op == OP_WRITE && (!file || (r->side.flags & O_APPEND)))) {
			r->operation.offset = position;
			r->operation.has |= HAS_OFFSET;
		}
	}
	struct request_key key = {(u64)request, 0};
	if (complete_form == 0) {
		key.request_or_ring = (u64)READ(request, ctx);
		key.user_data = user_data_of(request);
	}
	if (map_update(&requests, &key, r, ANY))
		count_full(counter_of(OP_NONE), 0);
	return 0;
}

SEC("tp_btf/io_uring_complete") int uring_complete(u64 *context)
{
	struct request_key key = {};
	s64 result;
	if (complete_form == 0) {
		key.request_or_ring = address_of((void *)context[0]);
		key.user_data = context[1];
		result = (s32)context[2];
	} else {
		key.request_or_ring = address_of((void *)context[1]);
		if (complete_form == 1)
			result = (s32)context[3];
		else
			result = READ((struct io_uring_cqe *)address_of((void *)context[2]), res);
	}
	struct request *r = map_lookup(&requests, &key);
	if (!r)
		return 0;
	struct wire_operation o = r->operation;
	o.end = boot_ns();
	o.result = told_result(result);
	int known = !r->unknown_file;
	u64 file = known ? r->side.file : 0;
	if (!known && complete_form != 0) {
		/* A registered file: the request has it by now. */
		file = (u64)READ((struct io_kiocb *)key.request_or_ring, file);
		if (file) {
			look_at_address(&r->side, file);
			known = 1;
		}
	}
	if (known && !r->side.wanted) {
		map_delete(&requests, &key);
		return 0;
	}
	if (known)
		set_file(&o, &r->side);
	if (o.op != OP_SYNC && !(o.has & HAS_OFFSET) && complete_form != 0 && result > 0) {
		/* The position that was not known before, such as the end of a file that is appended to, has been moved on. */
		s64 position = READ((struct io_rw *)key.request_or_ring, kiocb.ki_pos);
		if (position >= result) {
			o.offset = position - result;
			o.has |= HAS_OFFSET;
		}
	}
	map_delete(&requests, &key);
	u64 bytes = result > 0 ? result : 0;
	if (totals_only && known && o.op != OP_SYNC)
		add_up(&o);
	else
		send(o.op, &o, sizeof(o), o.op == OP_SYNC ? 0 : bytes);
	return 0;
}

SEC("tp_btf/mm_filemap_fault") int page_fault(u64 *context)
{
	struct task_struct *task = current_task();
	u64 id = current_pid_tgid();
	if (!wanted_current(task, id >> 32, 0))
		return 0;
	u32 zero = 0;
	struct request *r = map_lookup(&new_request, &zero);
	if (!r)
		return 0;
	struct address_space *pages = (void *)address_of((void *)context[0]);
	struct inode *inode = READ(pages, host);
	r->side.file = 0;
	look_at_inode(&r->side, TYPED(inode, inode));
	if (!r->side.wanted)
		return 0;
	struct flight begin = {.start = boot_ns()};
	struct wire_operation *o = &r->operation;
	begin_operation(o, task, &begin, OP_FAULT, VIA_CALL, begin.start);
	set_file(o, &r->side);
	o->offset = context[1] << page_shift;
	o->size = 1ull << page_shift;
	o->has |= HAS_OFFSET | HAS_SIZE;
	if (totals_only) {
		struct totals_key key;
		struct wire_counter *c = counter_of(OP_FAULT);
		totals_key(&key, o);
		count_seen(c, 0);
		struct totals_value *value = totals_entry(&key, o->generation);
		if (!value) {
			count_full(c, 0);
			return 0;
		}
		if (!value->first || o->start < value->first)
			value->first = o->start;
		if (o->end > value->last)
			value->last = o->end;
		__sync_fetch_and_add(&value->faults, 1);
		return 0;
	}
	send(OP_FAULT, o, sizeof(*o), 0);
	return 0;
}
#endif
