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
	u16 unknown_file, named;
	u32 at_position; /* it reads or writes at the position of the open file */
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

/* The names that a request gives. When it completes the kernel has let go of them. */
#define URING_NAME 1024 /* a longer one is not known */
struct request_names {
	s32 from, to; /* descriptors of directories */
	char old[URING_NAME], new[URING_NAME];
};
struct {
	MAP_NUMBER(type, MAP_LRU_HASH);
	MAP_NUMBER(max_entries, 1024);
	MAP_TYPE(key, struct request_key);
	MAP_TYPE(value, struct request_names);
} request_names SEC(".maps");
struct {
	MAP_NUMBER(type, MAP_PERCPU_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct request_names);
} new_names SEC(".maps");

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
	URING_READV_FIXED = 60,
	URING_WRITEV_FIXED = 61,
};
#define FIXED_FILE 1 /* REQ_F_FIXED_FILE */
#define SILENT (1 << 6) /* REQ_F_CQE_SKIP: a success has no completion */

/* What a request does with files, whether it is decoded or not. */
INLINE u8 uring_op(u8 opcode)
{
	switch (opcode) {
	case URING_READ:
	case URING_READV:
	case URING_READ_FIXED:
	case URING_READV_FIXED:
	case URING_READ_MULTISHOT:
		return OP_READ;
	case URING_WRITE:
	case URING_WRITEV:
	case URING_WRITE_FIXED:
	case URING_WRITEV_FIXED:
		return OP_WRITE;
	case URING_FSYNC:
	case URING_SYNC_FILE_RANGE:
		return OP_SYNC;
	case URING_OPENAT:
	case URING_OPENAT2:
		return OP_OPEN;
	case URING_CLOSE:
		return OP_CLOSE;
	case URING_FALLOCATE:
		return OP_ALLOCATE;
	case URING_FTRUNCATE:
		return OP_TRUNCATE;
	case URING_RENAMEAT:
		return OP_RENAME;
	case URING_UNLINKAT:
		return OP_DELETE;
	case URING_LINKAT:
		return OP_LINK;
	}
	return OP_NONE;
}

/* Whether such a request is decoded: one that completes once, and whose structure the types of this kernel tell. */
INLINE int uring_decoded(u8 opcode)
{
	switch (opcode) {
	case URING_READ_MULTISHOT:
		return 0;
	case URING_OPENAT:
	case URING_OPENAT2:
		return HAS_FIELD(struct io_open, filename);
	case URING_CLOSE:
		return HAS_FIELD(struct io_close, file_slot);
	case URING_FALLOCATE:
		return HAS_FIELD(struct io_sync, mode);
	case URING_FTRUNCATE:
		return HAS_FIELD(struct io_ftrunc, len);
	case URING_RENAMEAT:
		return HAS_FIELD(struct io_rename, oldpath);
	case URING_UNLINKAT:
		return HAS_FIELD(struct io_unlink, filename);
	case URING_LINKAT:
		return HAS_FIELD(struct io_link, oldpath) || HAS_FIELD(struct io_hardlink, oldpath);
	}
	return 1;
}

INLINE int is_vectored(u8 opcode)
{
	return opcode == URING_READV || opcode == URING_WRITEV || opcode == URING_READV_FIXED || opcode == URING_WRITEV_FIXED;
}

INLINE void read_name(char *to, struct filename *filename)
{
	const char *name = READ(filename, name);
	long length = probe_read_kernel_str(to, URING_NAME, name);
	if (length <= 0 || length == URING_NAME)
		to[0] = 0;
}

/* Puts the names of a request aside, those of an open, deletion, rename or link. By itself: numbers only. */
APART int keep_names(u64 request, u64 key_0, u64 key_1, u32 op)
{
	u32 zero = 0;
	struct request_names *names = map_lookup(&new_names, &zero);
	if (!names)
		return 0;
	names->to = AT_FDCWD;
	names->new[0] = 0;
	if (op == OP_OPEN) {
		struct io_open *open = (void *)request;
		names->from = READ(open, dfd);
		read_name(names->old, READ(open, filename));
	} else if (op == OP_DELETE) {
		struct io_unlink *deletion = (void *)request;
		names->from = READ(deletion, dfd);
		read_name(names->old, READ(deletion, filename));
	} else if (op == OP_RENAME) {
		struct io_rename *rename = (void *)request;
		names->from = READ(rename, old_dfd);
		names->to = READ(rename, new_dfd);
		read_name(names->old, READ(rename, oldpath));
		read_name(names->new, READ(rename, newpath));
	} else if (HAS_FIELD(struct io_link, oldpath)) {
		struct io_link *link = (void *)request;
		names->from = READ(link, old_dfd);
		names->to = READ(link, new_dfd);
		read_name(names->old, READ(link, oldpath));
		read_name(names->new, READ(link, newpath));
	} else if (HAS_FIELD(struct io_hardlink, oldpath)) {
		struct io_hardlink *link = (void *)request;
		names->from = READ(link, old_dfd);
		names->to = READ(link, new_dfd);
		read_name(names->old, READ(link, oldpath));
		read_name(names->new, READ(link, newpath));
	}
	struct request_key key = {key_0, key_1};
	map_update(&request_names, &key, names, ANY);
	return 0;
}

INLINE u32 add_kept(struct task_struct *task, int directory, char *name, u32 at, u32 start_part, u32 string_part)
{
	if (!name[0])
		return at;
	at = add_start(task, directory, name[0], at, start_part);
	return kernel_string(address_of(name), at, string_part, 0);
}

/* The end of a request that gives names. It completes in a thread that has the files of the one that submitted it. */
INLINE void complete_named(struct request_key *key, struct request *r, s64 result)
{
	struct scratch *s = scratch(0);
	struct task_struct *task = current_task();
	if (!s)
		return;
	struct wire_operation *o = &s->operation;
	*o = r->operation;
	o->end = boot_ns();
	set_root(s, task);
	u32 tail = 0;
	if (o->op == OP_OPEN && result >= 0) {
		struct file *file = (void *)file_of(task, result);
		if (!file) {
			count_unrecorded(COUNT_URING, OP_OPEN, 0);
			return;
		}
		look_at_address(&s->side, (u64)file);
		if (!s->side.wanted)
			return;
		set_file(o, &s->side);
		if (totals_only)
			send_sum(o->handle, o->inode, o->process_start, o->device);
		tail = add_opened(s, file, s->side.block);
	} else {
		o->result = told_result(result);
		struct request_names *names = map_lookup(&request_names, key);
		if (names) {
			tail = add_kept(task, names->from, names->old, tail, PART_DIRECTORY, PART_STRING);
			tail = add_kept(task, names->to, names->new, tail, PART_DIRECTORY_2, PART_STRING_2);
		}
	}
	send_tail(s, tail);
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
	if (opcode == URING_SPLICE || !uring_decoded(opcode)) {
		count_unrecorded(COUNT_URING, op, 0);
		return 0;
	}
	if (op == OP_NONE || !(ops_wanted & (1u << op)))
		return 0;
	if (READ(request, flags) & SILENT) {
		count_unrecorded(COUNT_URING, op, 0);
		return 0;
	}
	struct request_key key = {(u64)request, 0};
	if (complete_form == 0) {
		key.request_or_ring = (u64)READ(request, ctx);
		key.user_data = user_data_of(request);
	}
	u32 zero = 0;
	struct request *r = map_lookup(&new_request, &zero);
	if (!r)
		return 0;
	struct flight begin = {.start = boot_ns()};
	begin_operation(&r->operation, task, &begin, op, VIA_URING, begin.start);
	r->side.wanted = 0;
	r->unknown_file = 1;
	r->at_position = 0;
	r->named = op == OP_OPEN || op == OP_DELETE || op == OP_RENAME || op == OP_LINK;
	if (r->named) {
		struct io_open *open = (void *)request;
		struct io_unlink *deletion = (void *)request;
		struct io_rename *rename = (void *)request;
		if (op == OP_DELETE && (READ(deletion, flags) & AT_REMOVEDIR))
			return 0;
		if (op == OP_OPEN && READ(open, file_slot)) {
			/* It gets no descriptor, but a place in a table of the ring. */
			count_unrecorded(COUNT_URING, op, 0);
			return 0;
		}
		if (op == OP_OPEN)
			r->operation.flags = READ(open, how.flags);
		else if (op == OP_RENAME)
			r->operation.flags = READ(rename, flags);
		if (op == OP_OPEN || op == OP_RENAME)
			r->operation.has |= HAS_FLAGS;
		keep_names((u64)request, key.request_or_ring, key.user_data, op);
		goto keep;
	}
	u64 file = (u64)READ(request, file);
	if (op == OP_CLOSE) {
		struct io_close *closing = (void *)request;
		if (READ(closing, file_slot)) {
			count_unrecorded(COUNT_URING, op, 0);
			return 0;
		}
		file = file_of(task, READ(closing, fd));
		if (!file)
			return 0;
	}
	if (!file && HAS_FIELD(struct io_kiocb___completion, cqe) && !(READ(request, flags) & FIXED_FILE))
		file = file_of(task, READ((struct io_kiocb___completion *)request, cqe.fd));
	if (file) {
		look_at_address(&r->side, file);
		if (!r->side.wanted)
			return 0;
		r->unknown_file = 0;
		if (totals_only && op == OP_CLOSE)
			send_sum(r->side.file, r->side.inode, r->operation.process_start, r->side.device);
	}
	struct io_sync *range = (void *)request;
	struct io_ftrunc *length = (void *)request;
	if (op == OP_ALLOCATE || opcode == URING_SYNC_FILE_RANGE) {
		r->operation.offset = READ(range, off);
		r->operation.size = READ(range, len);
		r->operation.has |= HAS_OFFSET | HAS_SIZE;
		if (op == OP_ALLOCATE) {
			r->operation.flags = READ(range, mode);
			r->operation.has |= HAS_FLAGS;
		}
	} else if (op == OP_TRUNCATE) {
		r->operation.size = READ(length, len);
		r->operation.has |= HAS_SIZE;
	} else if (is_transfer(op)) {
		struct io_rw *transfer = (void *)request;
		s64 position = READ(transfer, kiocb.ki_pos);
		u64 size = READ(transfer, len);
		if (is_vectored(opcode))
			size = vector_size(READ(transfer, addr), size);
		r->operation.size = size;
		r->operation.has |= HAS_SIZE;
		r->at_position = position == -1;
		if (position >= 0 && !(op == OP_WRITE && (!file || (r->side.flags & O_APPEND)))) {
			r->operation.offset = position;
			r->operation.has |= HAS_OFFSET;
		}
	}
keep:
	if (!map_update(&requests, &key, r, NOEXIST))
		return 0;
	struct request *before = map_lookup(&requests, &key);
	if (before) {
		/* Its completion was not seen, as where the ring of completions is full, and the memory of the request is used again. */
		count_unrecorded(COUNT_URING, before->operation.op & 15, 0);
		if (!map_update(&requests, &key, r, ANY))
			return 0;
	}
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
	if (r->named) {
		complete_named(&key, r, result);
		map_delete(&request_names, &key);
		map_delete(&requests, &key);
		return 0;
	}
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
	if (is_transfer(o.op) && !(o.has & HAS_OFFSET)) {
		/* What was not known before, such as the end of a file that is appended to, has been moved on. */
		s64 moved = result > 0 ? result : 0;
		if (complete_form != 0 && (moved || r->at_position)) {
			set_offset(&o, READ((struct io_rw *)key.request_or_ring, kiocb.ki_pos) - moved, 1);
		} else if (r->at_position && file) {
			s64 position = READ((struct file *)file, f_pos) - moved;
			set_offset(&o, position, position == r->side.position);
		}
	}
	map_delete(&requests, &key);
	u64 bytes = is_transfer(o.op) && result > 0 ? result : 0;
	if (totals_only && known && is_transfer(o.op))
		add_up(&o);
	else
		send(o.op, &o, sizeof(o), bytes);
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
