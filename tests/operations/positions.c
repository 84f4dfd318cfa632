/*
 * positions CASE COUNT: reads or writes `file` in the working directory COUNT times in each of four processes or threads, which share the
 * position of an open file description or append to one file. What is where in the file tells afterwards where each transfer began:
 * - a write is a `struct record` with its size, so that the records tile the file;
 * - a read gets numbers that are their own offsets. Where its reads began a thread writes into `told.TID`, a line for each.
 * positions --list: the cases.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOUR 4
#define PAGE 4096
#define PAGES 64
#define SMALL 96

struct record {
	uint32_t magic, tid, number, size;
};

static int count, file, own, by_pwrite;

/* Of all processes. */
static pthread_barrier_t *barrier;

static void must(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		_exit(1);
	}
}

static uint32_t tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void write_one(int fd, uint32_t number, uint32_t size)
{
	union {
		struct record record;
		char bytes[SMALL + FOUR];
	} one = {.record = {0x504f5321, tid(), number, size}};
	ssize_t written = by_pwrite ? pwrite(fd, &one, size, 0) : write(fd, &one, size);
	must(written == (ssize_t)size, "write");
}

static void writes(int who)
{
	int fd = own ? open("file", O_WRONLY | O_APPEND) : file;
	must(fd >= 0, "open");
	for (int i = 0; i < count; i++)
		write_one(fd, (uint32_t)i, SMALL + (uint32_t)who % 2);
}

static void told(const int64_t *offsets, int all)
{
	char name[32];
	snprintf(name, sizeof(name), "told.%u", tid());
	FILE *out = fopen(name, "w");
	must(out != 0, name);
	for (int i = 0; i < all; i++)
		fprintf(out, "%lld\n", (long long)offsets[i]);
	must(!fclose(out), name);
}

/* Small reads from the begin to the end, by all together. */
static void reads(int who)
{
	int64_t *offsets = calloc((size_t)count, sizeof(*offsets)), got[2];
	int all = 0;
	size_t size = sizeof(got[0]) * (1 + (size_t)who % 2);
	while (all < count && read(file, got, size) > 0)
		offsets[all++] = got[0];
	told(offsets, all);
}

/* A page somewhere; others move the position meanwhile. */
static void seeks(int who)
{
	int64_t *offsets = calloc((size_t)count, sizeof(*offsets)), got[PAGE / 8];
	unsigned int state = (unsigned int)who;
	int all = 0;
	for (int i = 0; i < count; i++) {
		must(lseek(file, (off_t)(rand_r(&state) % PAGES) * PAGE, SEEK_SET) >= 0, "lseek");
		/* Another may have moved it to the end. */
		if (read(file, got, PAGE) > 0)
			offsets[all++] = got[0];
	}
	told(offsets, all);
}

/* sendfile(2), splice(2) and copy_file_range(2) read at the position without holding its lock. */
static void through_pipe(int who, ssize_t (*move)(int to, size_t size))
{
	int64_t *offsets = calloc((size_t)count, sizeof(*offsets)), got[2];
	int pipe_ends[2], all = 0;
	size_t size = sizeof(got[0]) * (1 + (size_t)who % 2);
	must(!pipe(pipe_ends), "pipe");
	while (all < count && move(pipe_ends[1], size) > 0) {
		must(read(pipe_ends[0], got, size) > 0, "read");
		offsets[all++] = got[0];
	}
	told(offsets, all);
}

static ssize_t send_to(int to, size_t size)
{
	return sendfile(to, file, 0, size);
}

static ssize_t splice_to(int to, size_t size)
{
	return splice(file, 0, to, 0, size, 0);
}

static void sends(int who)
{
	through_pipe(who, send_to);
}

static void splices(int who)
{
	through_pipe(who, splice_to);
}

static void copies(int who)
{
	int64_t *offsets = calloc((size_t)count, sizeof(*offsets));
	char name[32];
	snprintf(name, sizeof(name), "copy.%u", tid());
	int all = 0, to = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);
	size_t size = sizeof(offsets[0]) * (1 + (size_t)who % 2);
	must(to >= 0, name);
	/* The first copies are made at the same time: a server that does not know the newest request of
	 * the kernel for them (Linux 6.18) can lose those, and all that follow. */
	pthread_barrier_wait(barrier);
	for (off_t at = 0; all < count && copy_file_range(file, 0, to, &at, size, 0) > 0; at = 0)
		must(pread(to, &offsets[all++], sizeof(offsets[0]), 0) == sizeof(offsets[0]), "pread");
	told(offsets, all);
}

/* Some hold the lock, others do not. */
static void reads_or_sends(int who)
{
	if (who < FOUR / 2)
		reads(who);
	else
		sends(who);
}

static void in_processes(void (*work)(int))
{
	for (int who = 0; who < FOUR; who++) {
		if (!fork()) {
			work(who);
			_exit(0);
		}
	}
	for (int status; wait(&status) > 0;)
		must(!status, "a child");
}

struct thread {
	pthread_t thread;
	void (*work)(int);
	int who;
};

static void *thread(void *argument)
{
	struct thread *of = argument;
	of->work(of->who);
	return 0;
}

static void in_threads(void (*work)(int))
{
	struct thread all[FOUR];
	for (int who = 0; who < FOUR; who++) {
		all[who] = (struct thread){.work = work, .who = who};
		must(!pthread_create(&all[who].thread, 0, thread, &all[who]), "a thread");
	}
	for (int who = 0; who < FOUR; who++)
		pthread_join(all[who].thread, 0);
}

/* One after the other: each continues where the one before it has ended. */
static void one_by_one(void (*work)(int))
{
	for (int who = 0; who < FOUR; who++) {
		if (!fork()) {
			work(who);
			_exit(0);
		}
		int status;
		must(wait(&status) > 0 && !status, "a child");
		work(who);
	}
}

/* One process in different ways, with a descriptor more of the same open file. */
static void alone(int who)
{
	int copy = dup(file);
	must(copy >= 0, "dup");
	for (int i = 0; i < count; i++) {
		if (i % 16 == 15)
			must(lseek(file, 0, SEEK_END) >= 0, "lseek");
		write_one(i % 2 ? file : copy, (uint32_t)i, SMALL + (uint32_t)(who + i) % FOUR);
	}
	close(copy);
}

static const struct {
	const char *name;
	void (*run)(void (*)(int));
	void (*work)(int);
	int append, own, by_pwrite;
} cases[] = {
	{"alone", one_by_one, alone, 0, 0, 0},
	{"alone_append", one_by_one, alone, 1, 0, 0},
	{"handed_over", one_by_one, writes, 0, 0, 0},
	{"own_append", in_processes, writes, 1, 1, 0},
	{"own_append_pwrite", in_processes, writes, 1, 1, 1},
	{"shared", in_processes, writes, 0, 0, 0},
	{"shared_append", in_processes, writes, 1, 0, 0},
	{"threads", in_threads, writes, 0, 0, 0},
	{"threads_append", in_threads, writes, 1, 0, 0},
	{"shared_read", in_processes, reads, 0, 0, 0},
	{"shared_seek", in_processes, seeks, 0, 0, 0},
	{"shared_sendfile", in_processes, sends, 0, 0, 0},
	{"shared_splice", in_processes, splices, 0, 0, 0},
	{"shared_copy", in_processes, copies, 0, 0, 0},
	{"shared_both", in_processes, reads_or_sends, 0, 0, 0},
};

/* Numbers that are their own offsets. */
static void fill(void)
{
	int64_t numbers[PAGE / 8];
	int fd = open("file", O_CREAT | O_WRONLY | O_TRUNC, 0644);
	must(fd >= 0, "file");
	for (int64_t page = 0; page < PAGES; page++) {
		for (int64_t i = 0; i < PAGE / 8; i++)
			numbers[i] = page * PAGE + i * 8;
		must(pwrite(fd, numbers, PAGE, page * PAGE) == PAGE, "pwrite");
	}
	close(fd);
}

int main(int arguments_count, char **arguments)
{
	size_t all = sizeof(cases) / sizeof(cases[0]);
	if (arguments_count == 2 && !strcmp(arguments[1], "--list")) {
		for (size_t i = 0; i < all; i++)
			puts(cases[i].name);
		return 0;
	}
	for (size_t i = 0; arguments_count == 3 && i < all; i++) {
		if (strcmp(cases[i].name, arguments[1]))
			continue;
		count = atoi(arguments[2]);
		own = cases[i].own;
		by_pwrite = cases[i].by_pwrite;
		int is_write = cases[i].work == writes || cases[i].work == alone;
		if (!is_write)
			fill();
		int flags = is_write ? O_CREAT | O_TRUNC | O_WRONLY | (cases[i].append ? O_APPEND : 0) : O_RDONLY;
		file = open("file", flags, 0644);
		must(file >= 0, "file");
		barrier = mmap(0, sizeof(*barrier), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pthread_barrierattr_t shared;
		must(barrier != MAP_FAILED && !pthread_barrierattr_init(&shared), "memory");
		must(!pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED), "memory");
		must(!pthread_barrier_init(barrier, &shared, FOUR), "a barrier");
		cases[i].run(cases[i].work);
		return 0;
	}
	fprintf(stderr, "usage: positions CASE COUNT | --list\n");
	return 2;
}
