/* Requests of io_uring whose completions a tracer may not see. Writes to files of the names of the
 * cases, and prints the name of each and the bytes that are in it.
 *
 * silent   a success without a completion (IOSQE_CQE_SKIP_SUCCESS)
 * full     more requests than the ring of completions holds
 * vectored a vectored write with a registered buffer (IORING_OP_WRITEV_FIXED, since 6.15) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef IOSQE_CQE_SKIP_SUCCESS
#define IOSQE_CQE_SKIP_SUCCESS (1U << 6)
#endif
#define WRITEV_FIXED 61

struct ring {
    int fd;
    struct io_uring_params params;
    char *sq, *cq;
    struct io_uring_sqe *entries;
};

static char buffer[4096];

static struct ring made(unsigned entries, unsigned completions) {
    struct ring ring = {0};
    ring.params.flags = completions ? IORING_SETUP_CQSIZE : 0;
    ring.params.cq_entries = completions;
    ring.fd = (int)syscall(SYS_io_uring_setup, entries, &ring.params);
    if (ring.fd < 0) exit(77);
    struct io_uring_params *p = &ring.params;
    int both = PROT_READ | PROT_WRITE;
    ring.sq = mmap(NULL, p->sq_off.array + p->sq_entries * 4, both, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
    ring.cq = mmap(NULL, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), both, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
    ring.entries = mmap(NULL, p->sq_entries * sizeof(struct io_uring_sqe), both, MAP_SHARED, ring.fd, IORING_OFF_SQES);
    return ring;
}

static void submit(struct ring *ring, struct io_uring_sqe entry, unsigned wait) {
    unsigned *tail = (unsigned *)(ring->sq + ring->params.sq_off.tail);
    unsigned at = *tail & *(unsigned *)(ring->sq + ring->params.sq_off.ring_mask);
    ring->entries[at] = entry;
    ((unsigned *)(ring->sq + ring->params.sq_off.array))[at] = at;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring->fd, 1, wait, wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0) != 1) exit(2);
}

static struct io_uring_sqe write_of(int fd, unsigned length, long offset) {
    return (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = fd, .addr = (unsigned long)buffer, .len = length, .off = (unsigned long)offset};
}

int main(int count, char **words) {
    const char *name = count > 1 ? words[1] : "";
    int file = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
    if (file < 0) return 2;
    if (!strcmp(name, "silent")) {
        struct ring ring = made(8, 0);
        struct io_uring_sqe entry = write_of(file, 1001, 0);
        entry.flags = IOSQE_CQE_SKIP_SUCCESS;
        submit(&ring, entry, 0);
        submit(&ring, write_of(file, 1002, 1001), 1);
    } else if (!strcmp(name, "full")) {
        struct ring ring = made(2, 2);
        for (int i = 0; i < 10; i++) submit(&ring, write_of(file, 100, i * 100), 0);
    } else if (!strcmp(name, "vectored")) {
        struct ring ring = made(8, 0);
        struct iovec whole = {buffer, sizeof buffer}, part = {buffer, 222};
        syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &whole, 1);
        struct io_uring_sqe entry = {.opcode = WRITEV_FIXED, .fd = file, .addr = (unsigned long)&part, .len = 1};
        submit(&ring, entry, 1);
    }
    struct stat about;
    long whole = !strcmp(name, "full") ? 1000 : 0;
    for (int i = 0; i < 100; i++) {
        if (fstat(file, &about)) return 2;
        if (about.st_size >= whole) break;
        usleep(10000);
    }
    printf("%ld\n", (long)about.st_size);
    return 0;
}
