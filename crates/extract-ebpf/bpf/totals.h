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
INLINE void add_sum(struct totals_sum *sum, u64 bytes, u64 error, u64 time, int offset_known, u64 low, u64 high)
{
	__sync_fetch_and_add(&sum->calls, 1);
	if (bytes)
		__sync_fetch_and_add(&sum->bytes, bytes);
	if (error)
		__sync_fetch_and_add(&sum->errors, 1);
	__sync_fetch_and_add(&sum->time, time);
	if (!offset_known)
		return;
	volatile struct totals_sum *seen = sum;
	for (int i = 0; i < 2; i++) {
		if (!seen->high || low < seen->low)
			seen->low = low;
		if (high >= seen->high)
			seen->high = high + 1;
	}
}

INLINE void add_to(struct totals_value *value, int write, struct wire_operation *o)
{
	u64 bytes = o->result > 0 ? o->result : 0;
	if (!value->first || o->start < value->first)
		value->first = o->start;
	if (o->end > value->last)
		value->last = o->end;
	add_sum(write ? &value->write : &value->read, bytes, o->result < 0, o->end - o->start, (o->has & HAS_OFFSET) && o->result > 0, o->offset,
			o->offset + bytes);
}

INLINE void totals_key(struct totals_key *key, struct wire_operation *o)
{
	key->handle = o->handle;
	key->inode = o->inode;
	key->process_start = o->process_start;
	key->tgid = o->tgid;
	key->device = o->device;
}

INLINE struct totals_value *totals_entry(struct totals_key *key, u32 generation)
{
	void *table = totals_table();
	if (!table)
		return 0;
	struct totals_value *value = map_lookup(table, key);
	if (value)
		return value;
	struct totals_value fresh = no_totals;
	fresh.generation = generation;
	map_update(table, key, &fresh, NOEXIST);
	return map_lookup(table, key);
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

/* Before the open of a description whose memory was another's: what was added up for that one goes now, so that the two stay apart. What is sent is
 * subtracted, so that a late increment of the old one stays in the table instead of vanishing.
 */
INLINE void send_previous(struct wire_operation *o)
{
	struct totals_key key;
	totals_key(&key, o);
	void *table = totals_table();
	if (!table)
		return;
	struct totals_value *value = map_lookup(table, &key);
	if (!value || !value->first)
		return;
	struct wire_totals record = {.kind = WIRE_TOTALS, .key = key};
	record.value = *value;
	if (ring_output(&events, &record, sizeof(record), RING_NO_WAKEUP))
		return; /* no room: it stays in the table, and counts for the next one */
#define TAKE(field) __sync_fetch_and_add(&value->field, -record.value.field)
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
	value->first = 0;
	value->last = 0;
	value->read.high = 0;
	value->read.low = 0;
	value->write.high = 0;
	value->write.low = 0;
}
#endif
