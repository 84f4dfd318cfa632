/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Records into the ring, counted whether they find room or not: seen = sent + lost, by kind and processor. */
#ifndef SEND_H
#define SEND_H
#include "maps.h"

INLINE struct wire_counter *counter_of(u32 kind)
{
	return map_lookup(&counters, &kind);
}

/* The programs run with preemption or at least migration off, and a counter has one processor: no atomic instruction is needed, except where an
 * fentry program could be interrupted by another task; those count nothing.
 */
INLINE void count_seen(struct wire_counter *c, u64 bytes)
{
	if (c) {
		c->seen += 1;
		c->seen_bytes += bytes;
	}
}
INLINE void count_lost(struct wire_counter *c, u64 bytes)
{
	if (c) {
		c->lost += 1;
		c->lost_bytes += bytes;
	}
}
INLINE void count_full(struct wire_counter *c, u64 bytes)
{
	if (c) {
		c->full += 1;
		c->full_bytes += bytes;
	}
}

/* A wake-up costs more than a record: the reader looks every 100 ms by itself, so it is woken only when a good part of the ring is filled. That is
 * looked at for every 16th record of a kind.
 */
INLINE u64 wake_flags(struct wire_counter *c)
{
	if (c && (c->seen & 15))
		return RING_NO_WAKEUP;
	return ring_query(&events, RING_UNREAD) > wake_bytes ? RING_FORCE_WAKEUP : RING_NO_WAKEUP;
}
INLINE u64 wake_news(void)
{
	return ring_query(&news, RING_UNREAD) > news_wake_bytes ? RING_FORCE_WAKEUP : RING_NO_WAKEUP;
}

INLINE void send(u32 kind, void *record, u64 size, u64 bytes)
{
	struct wire_counter *c = counter_of(kind);
	count_seen(c, bytes);
	if (ring_output(&events, record, size, wake_flags(c)))
		count_lost(c, bytes);
}

/* The same of what is told of processes. */
INLINE void send_news(u32 kind, void *record, u64 size)
{
	struct wire_counter *c = counter_of(kind);
	count_seen(c, 0);
	if (ring_output(&news, record, size, wake_news()))
		count_lost(c, 0);
}
#endif
