/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reads and writes of a process on an open file, added up. */
#ifndef TOTALS_H
#define TOTALS_H
#include "send.h"

static const struct totals_value no_totals;

INLINE void *totals_table(void)
{
	u32 zero = 0;
	return map_lookup(&totals, &zero);
}

/* Counts are added by atomic instructions, so that two threads on one open file lose nothing. The extremes cannot be (an exchange on comparison needs
 * 5.12): of two threads that widen the same range within the same few nanoseconds one may be missed, so it is looked at twice.
 */
INLINE void add_sum(struct totals_sum *sum, u64 bytes, u64 error, u64 time, u64 low, u64 high)
{
	__sync_fetch_and_add(&sum->calls, 1);
	if (bytes)
		__sync_fetch_and_add(&sum->bytes, bytes);
	if (error)
		__sync_fetch_and_add(&sum->errors, 1);
	__sync_fetch_and_add(&sum->time, time);
	if (!bytes)
		return;
	volatile struct totals_sum *seen = sum;
	for (int i = 0; i < 2; i++) {
		if (!seen->high || low < seen->low)
			seen->low = low;
		if (high > seen->high)
			seen->high = high;
	}
}

INLINE void add_to(struct totals_value *value, int write, struct wire_operation *o)
{
	u64 bytes = o->result > 0 ? o->result : 0;
	if (!value->first || o->start < value->first)
		value->first = o->start;
	if (o->end > value->last)
		value->last = o->end;
	u64 low = 0, high = OFFSET_NOT_KNOWN;
	if (o->has & HAS_OFFSET) {
		low = o->offset;
		high = low + bytes + 1;
	}
	add_sum(write ? &value->write : &value->read, bytes, o->result < 0, o->end - o->start, low, high);
}

INLINE void totals_key(struct totals_key *key, struct wire_operation *o)
{
	key->handle = o->handle;
	key->inode = o->inode;
	key->process_start = o->process_start;
	key->tgid = o->tgid;
	key->device = o->device;
}

/* The reader takes the table each second by itself; it is woken before when half of it is used. A record that is thrown away at once wakes it. */
INLINE void count_entry(void)
{
	u32 zero = 0;
	u64 *made = map_lookup(&fill, &zero);
	if (!made)
		return;
	__sync_fetch_and_add(made, 1);
	u64 now = *(volatile u64 *)made;
	if (now < TOTALS_ENTRIES / 2 || (now & 63))
		return;
	void *wake = ring_reserve(&events, 8, 0);
	if (wake)
		ring_discard(wake, RING_FORCE_WAKEUP);
}

INLINE struct totals_value *totals_entry(struct totals_key *key, u32 generation)
{
	void *table = totals_table();
	if (!table)
		return 0;
	struct totals_value *value = map_lookup(table, key);
	if (value)
		return value;
	map_update(table, key, &no_totals, NOEXIST);
	count_entry();
	value = map_lookup(table, key);
	if (value)
		value->generation = generation; /* the same whoever made the entry */
	return value;
}

/* Adds one read or write up; when the table is full it goes as a record of its own, so that still nothing is lost. */
INLINE void add_up(struct wire_operation *o)
{
	int write = o->op == OP_WRITE;
	u64 bytes = o->result > 0 ? o->result : 0;
	struct wire_counter *c = counter_of(o->op);
	struct totals_key key;
	totals_key(&key, o);
	count_seen(c, bytes);
	struct totals_value *value = totals_entry(&key, o->generation);
	if (value) {
		add_to(value, write, o);
		return;
	}
	struct wire_totals record = {.kind = WIRE_TOTALS, .key = key};
	record.value.generation = o->generation;
	add_to(&record.value, write, o);
	if (ring_output(&events, &record, sizeof(record), RING_NO_WAKEUP))
		count_full(c, bytes);
}

/* Takes what was added up for an open file out of the table and sends it: when it is closed, so that its place is free again, and before an open of a description
 * whose memory was another's, so that the two stay apart. Where there is no room in the ring it stays in the table.
 *
 * Another thread of the process may be about to add something. Then what is sent is subtracted and the place stays, so that this goes to the next one
 * instead of vanishing.
 */
APART int send_sum(u64 handle, u64 inode, u64 process_start, u32 device)
{
	struct totals_key key = {.handle = handle, .inode = inode, .process_start = process_start, .tgid = current_pid_tgid() >> 32, .device = device};
	void *table = totals_table();
	if (!table)
		return 0;
	struct totals_value *value = map_lookup(table, &key);
	if (!value)
		return 0;
	if (value->first) {
		struct wire_totals *record = ring_reserve(&events, sizeof(*record), 0);
		if (!record)
			return 0;
		record->kind = WIRE_TOTALS;
		record->key = key;
		record->value = *value;
		struct signal_struct *group = READ((struct task_struct *)current_task_number(), signal);
		if (READ(group, nr_threads) == 1) {
			ring_submit(record, RING_NO_WAKEUP);
			map_delete(table, &key);
			return 0;
		}
#define TAKE(field) __sync_fetch_and_add(&value->field, -record->value.field)
		TAKE(read.calls);
		TAKE(read.bytes);
		TAKE(read.errors);
		TAKE(read.time);
		TAKE(write.calls);
		TAKE(write.bytes);
		TAKE(write.errors);
		TAKE(write.time);
		TAKE(faults);
#undef TAKE
		ring_submit(record, RING_NO_WAKEUP);
		value->first = 0;
		value->last = 0;
		value->read.high = 0;
		value->read.low = 0;
		value->write.high = 0;
		value->write.low = 0;
	}
	return 0;
}
#endif
