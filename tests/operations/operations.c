/*
 * Does one known pattern of file operations in the current directory and then tells which rows a tracer must have given.
 *
 *   operations --list                   the names of the cases, one a line
 *   operations CASE [--expect FILE]     runs a case; the expectations go to FILE, or else to standard output
 *
 * Whatever is done outside of the current directory, FILE included (it is opened after the last operation), is none of the case:
 * a comparison leaves rows of other directories out. The directory should be empty. Exit codes: 0 done, 77 the case cannot run here
 * (a sentence on standard error says why), 2 the case did not go as it should have.
 *
 * The program knows what it did from its own arguments, from what the calls returned and from fstat(2), never from a tracer. It uses
 * nothing but the C library and can be linked statically.
 *
 * Expectations are lines of fields separated by tabs. A number that must be absent is `-`; one that is not compared is `?`.
 * Texts have bytes outside of `!`…`~`, and the backslash, as \xNN. Paths are relative to the current directory of the start.
 *
 *   process  PID  START      a process; its start time in clock ticks after boot, field 22 of /proc/PID/stat (proc(5))
 *   row  COUNT  STEP  PID  TID  OP  VIA  HANDLE  DEVICE  INODE  PATH  CONTAINER_PATH  NEW_PATH  OFFSET  SIZE  RESULT  FLAGS
 *
 * COUNT rows, whose offsets grow by STEP. HANDLE is a number of the program's own, the same for the same open file description.
 * DEVICE is what stat(2) says. The rows of a thread stand in the order of its calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef RWF_APPEND
#define RWF_APPEND 0x10
#endif

/* A number that must be absent, and one that is not compared. */
#define ABSENT INT64_MIN
#define ANY (INT64_MIN + 1)
/* A path that is not compared; a null pointer is a path that must be absent. */
static const char any_path[] = "?";

#define SKIPPED 77
#define FAILED 2

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "operations: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    _exit(FAILED);
}

static void skip(const char *why) {
    fprintf(stderr, "operations: cannot run here: %s (%s)\n", why, strerror(errno));
    _exit(SKIPPED);
}

/* What must hold for the case to be what its name says. */
#define must(condition)                                                                  \
    do {                                                                                 \
        if (!(condition)) fail("line %d: %s (%s)", __LINE__, #condition, strerror(errno)); \
    } while (0)

/* ---- The expectations: memory that forked processes share, so that no file is touched while the case runs. ---- */

#define LOG_BYTES (16u << 20)
struct log {
    atomic_size_t used;
    atomic_int next_handle;
    char text[];
};
static struct log *book;

static void append(const char *text, size_t length) {
    size_t at = atomic_fetch_add(&book->used, length);
    if (sizeof *book + at + length > LOG_BYTES) fail("too many expectations");
    memcpy(book->text + at, text, length);
}

static void open_book(int first_handle) {
    book = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(book != MAP_FAILED);
    atomic_store(&book->next_handle, first_handle);
}

struct row {
    int64_t count, step;
    const char *op, *via;
    int64_t handle, device, inode;
    const char *path, *container_path, *new_path;
    int64_t offset, size, result, flags;
};

static char *put_number(char *at, int64_t number) {
    if (number == ABSENT) return stpcpy(at, "\t-");
    if (number == ANY) return stpcpy(at, "\t?");
    return at + sprintf(at, "\t%lld", (long long)number);
}

static char *put_text(char *at, const char *text) {
    *at++ = '\t';
    if (text == NULL || text == any_path) {
        *at++ = text == NULL ? '-' : '?';
        return at;
    }
    bool plain_dash_or_mark = (text[0] == '-' || text[0] == '?') && text[1] == 0;
    for (const unsigned char *byte = (const unsigned char *)text; *byte != 0; byte++) {
        if (*byte <= ' ' || *byte > '~' || *byte == '\\' || plain_dash_or_mark) {
            at += sprintf(at, "\\x%02x", *byte);
        } else {
            *at++ = (char)*byte;
        }
    }
    return at;
}

static size_t text_length(const char *text) { return text == NULL ? 0 : strlen(text); }

static void write_row(const struct row *row) {
    /* vfork(2)'s child shares the memory in which a C library may keep its numbers. */
    long pid = syscall(SYS_getpid), tid = syscall(SYS_gettid);
    size_t room = 1000 + 4 * (text_length(row->path) + text_length(row->container_path) + text_length(row->new_path));
    char *line = malloc(room), *at = line;
    must(line != NULL);
    at += sprintf(at, "row\t%lld\t%lld\t%ld\t%ld", (long long)row->count, (long long)row->step, pid, tid);
    at = put_text(put_text(at, row->op), row->via);
    at = put_number(put_number(put_number(at, row->handle), row->device), row->inode);
    at = put_text(put_text(put_text(at, row->path), row->container_path), row->new_path);
    at = put_number(put_number(put_number(put_number(at, row->offset), row->size), row->result), row->flags);
    *at++ = '\n';
    append(line, (size_t)(at - line));
    free(line);
}

#define ROW(...)                                                                                                                  \
    write_row(&(struct row){.count = 1, .via = "call", .handle = ABSENT, .device = ABSENT, .inode = ABSENT, .path = any_path,        \
                            .container_path = any_path, .offset = ABSENT, .size = ABSENT, .result = ABSENT, .flags = ABSENT, __VA_ARGS__})

/* The `process` line of the calling process; each process writes its own. */
static void introduce(void) {
    char text[4096];
    int fd = open("/proc/self/stat", O_RDONLY);
    must(fd >= 0);
    ssize_t length = read(fd, text, sizeof text - 1);
    must(length > 0);
    text[length] = 0;
    close(fd);
    /* The second field is the name in parentheses and may hold anything. */
    char *at = strrchr(text, ')');
    must(at != NULL);
    for (int field = 2; field < 22; field++) at = strchr(at + 1, ' ');
    char line[100];
    int size = sprintf(line, "process\t%ld\t%llu\n", syscall(SYS_getpid), strtoull(at, NULL, 10));
    append(line, (size_t)size);
}

/* ---- What is open. A fork copies this as it copies the descriptors; threads share it. ---- */

struct open_file {
    bool open, recorded;
    int handle;
    int64_t device, inode;
};
#define FDS 1024
static struct open_file files[FDS];
static __thread _Alignas(4096) char buffer[1 << 18];

static int64_t outcome(long result) { return result < 0 ? -errno : result; }

static void keep(int fd, int handle) {
    struct stat status;
    must(fd < FDS && fstat(fd, &status) == 0);
    files[fd] = (struct open_file){
        .open = true,
        .recorded = S_ISREG(status.st_mode) || S_ISBLK(status.st_mode),
        .handle = handle,
        .device = (int64_t)status.st_dev,
        .inode = (int64_t)status.st_ino,
    };
}

/* Of the file that is open as `fd`. */
#define OF(fd) .handle = files[fd].handle, .device = files[fd].device, .inode = files[fd].inode

/* Notes an open that returned `fd`, or failed with errno. `path` is what a tracer must say. */
static int opened_in(int fd, const char *path, const char *container_path, int64_t flags) {
    flags &= ~(int64_t)O_LARGEFILE;
    if (fd < 0) {
        int error = errno;
        ROW(.op = "open", .device = ANY, .inode = ANY, .path = path, .container_path = container_path, .result = -error, .flags = flags);
        errno = error;
        return -1;
    }
    keep(fd, 0);
    if (files[fd].recorded) {
        files[fd].handle = atomic_fetch_add(&book->next_handle, 1);
        ROW(.op = "open", OF(fd), .path = path, .container_path = container_path, .result = 0, .flags = flags);
    }
    return fd;
}

static int opened(int fd, const char *path, int64_t flags) { return opened_in(fd, path, NULL, flags); }

/* openat(2) of a path below the current directory, which is the start's. */
static int do_open(const char *path, int flags) { return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, 0644), path, flags); }

/* An open that succeeds. */
static int sure_open(const char *path, int flags) {
    int fd = do_open(path, flags);
    must(fd >= 0);
    return fd;
}

static void close_row(int fd) {
    if (files[fd].open && files[fd].recorded) ROW(.op = "close", OF(fd), .result = 0);
    files[fd].open = false;
}

static void do_close(int fd) {
    /* Before the call: behind it another thread may open a file with this number. */
    close_row(fd);
    must(close(fd) == 0);
}

/* Where a call without an offset of its own begins. */
static int64_t place(int fd, bool writing) {
    struct stat status;
    if (writing && (fcntl(fd, F_GETFL) & O_APPEND) != 0) {
        must(fstat(fd, &status) == 0);
        return status.st_size;
    }
    return lseek(fd, 0, SEEK_CUR);
}

static int64_t transfer(int fd, const char *op, const char *via, int64_t offset, int64_t size, int64_t result) {
    if (files[fd].recorded) ROW(.op = op, .via = via, OF(fd), .offset = offset, .size = size, .result = result);
    return result;
}

static int64_t do_read(int fd, size_t size) {
    int64_t offset = place(fd, false);
    return transfer(fd, "read", "call", offset, (int64_t)size, outcome(syscall(SYS_read, fd, buffer, size)));
}

static int64_t do_write(int fd, size_t size) {
    int64_t offset = place(fd, true);
    return transfer(fd, "write", "call", offset, (int64_t)size, outcome(syscall(SYS_write, fd, buffer, size)));
}

static int64_t do_pread(int fd, size_t size, int64_t offset) {
    return transfer(fd, "read", "call", offset, (int64_t)size, outcome(pread(fd, buffer, size, offset)));
}

static int64_t do_pwrite(int fd, size_t size, int64_t offset) {
    /* pwrite(2), BUGS: a descriptor that appends does so here too. */
    int64_t at = (fcntl(fd, F_GETFL) & O_APPEND) != 0 ? place(fd, true) : offset;
    return transfer(fd, "write", "call", at, (int64_t)size, outcome(pwrite(fd, buffer, size, offset)));
}

static void do_unlink(const char *path) {
    struct stat status;
    bool known = lstat(path, &status) == 0;
    int64_t result = outcome(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
    ROW(.op = "delete", .device = known ? (int64_t)status.st_dev : ANY, .inode = known ? (int64_t)status.st_ino : ANY, .path = path,
        .container_path = NULL, .result = result);
}

static void do_rename(const char *from, const char *to, unsigned flags) {
    struct stat status;
    bool known = lstat(from, &status) == 0;
    int64_t result = outcome(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags));
    ROW(.op = "rename", .device = known ? (int64_t)status.st_dev : ANY, .inode = known ? (int64_t)status.st_ino : ANY, .path = from,
        .container_path = NULL, .new_path = to, .result = result, .flags = flags);
}

static void do_link(const char *from, const char *to) {
    struct stat status;
    bool known = lstat(from, &status) == 0;
    int64_t result = outcome(syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
    ROW(.op = "link", .device = known ? (int64_t)status.st_dev : ANY, .inode = known ? (int64_t)status.st_ino : ANY, .path = from,
        .container_path = NULL, .new_path = to, .result = result);
}

static void do_ftruncate(int fd, int64_t size) {
    int64_t result = outcome(ftruncate(fd, size));
    ROW(.op = "truncate", OF(fd), .size = size, .result = result);
}

static void do_truncate(const char *path, int64_t size) {
    struct stat status;
    bool known = stat(path, &status) == 0;
    int64_t result = outcome(truncate(path, size));
    ROW(.op = "truncate", .device = known ? (int64_t)status.st_dev : ANY, .inode = known ? (int64_t)status.st_ino : ANY, .path = path,
        .container_path = NULL, .size = size, .result = result);
}

static void do_fallocate(int fd, int mode, int64_t offset, int64_t size) {
    int64_t result = outcome(fallocate(fd, mode, offset, size));
    ROW(.op = "allocate", OF(fd), .offset = offset, .size = size, .result = result, .flags = mode);
}

static void *do_mmap(int fd, size_t size, int protection, int flags, int64_t offset) {
    void *at = mmap(NULL, size, protection, flags, fd, offset);
    int64_t result = at == MAP_FAILED ? -errno : 0;
    ROW(.op = "mmap", OF(fd), .offset = offset, .size = (int64_t)size, .result = result, .flags = protection | flags << 8);
    return at == MAP_FAILED ? NULL : at;
}

/* A file with `size` bytes. */
static void make(const char *path, size_t size) {
    int fd = sure_open(path, O_WRONLY | O_CREAT | O_EXCL);
    must(do_write(fd, size) == (int64_t)size);
    do_close(fd);
}

/* ---- Processes ---- */

static pid_t do_fork(void) {
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) introduce();
    return child;
}

static void wait_for(pid_t child) {
    int status;
    must(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a child ended with status %#x", status);
}

/* A program that goes on after exec has no memory of what was before: it is told on its command line, and tells what it did by a pipe. */
static int hand_over[2];

static void prepare_exec(void) { must(pipe(hand_over) == 0); }

static void exec_self(const char *name, int fd) {
    char log_fd[20], next[20], inherited[20], handle[20];
    sprintf(log_fd, "%d", hand_over[1]);
    sprintf(next, "%d", atomic_load(&book->next_handle) + 1000);
    sprintf(inherited, "%d", fd);
    sprintf(handle, "%d", files[fd].handle);
    char *arguments[] = {"operations", "--resume", (char *)name, log_fd, next, inherited, handle, NULL};
    char *environment[] = {NULL};
    syscall(SYS_execve, "/proc/self/exe", arguments, environment);
    _exit(FAILED);
}

static void take_over(void) {
    close(hand_over[1]);
    char text[65536];
    ssize_t length;
    while ((length = read(hand_over[0], text, sizeof text)) > 0) append(text, (size_t)length);
    must(length == 0);
    close(hand_over[0]);
}

/* ---- The cases ---- */

static void sequential(void) {
    int fd = sure_open("data", O_WRONLY | O_CREAT);
    for (int i = 0; i < 10; i++) must(do_write(fd, 4096) == 4096);
    must(do_write(fd, 150) == 150);
    do_close(fd);
    fd = sure_open("data", O_RDONLY);
    while (do_read(fd, 8192) > 0) {}
    do_close(fd);
}

static void random_access(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    uint64_t state = 88172645463325252ull;
    for (int i = 0; i < 50; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        must(lseek(fd, (off_t)(state % 1000000), SEEK_SET) >= 0);
        if (i % 2 == 0) {
            must(do_write(fd, 1 + state % 5000) > 0);
        } else {
            do_read(fd, 1 + state % 5000);
        }
    }
    /* Beyond 32 bits, as a hole. */
    must(lseek(fd, 5ll << 30, SEEK_SET) >= 0);
    must(do_write(fd, 3) == 3);
    must(lseek(fd, -2, SEEK_END) >= 0);
    must(do_read(fd, 10) == 2);
    do_close(fd);
}

static void appending(void) {
    make("data", 100);
    int first = sure_open("data", O_WRONLY | O_APPEND), second = sure_open("data", O_RDWR | O_APPEND);
    must(do_write(first, 10) == 10);
    must(do_write(second, 20) == 20);
    must(do_write(first, 30) == 30);
    must(lseek(second, 5, SEEK_SET) == 5);
    must(do_read(second, 7) == 7);
    must(do_write(second, 1) == 1);
    must(do_pwrite(second, 9, 0) == 9);
    /* One that appends from now on. */
    int third = sure_open("data", O_WRONLY);
    must(do_write(third, 4) == 4);
    must(fcntl(third, F_SETFL, O_APPEND) == 0);
    must(do_write(third, 6) == 6);
    do_close(first);
    do_close(second);
    do_close(third);
}

static void pread_pwrite(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    must(do_pwrite(fd, 1000, 5000) == 1000);
    must(do_pwrite(fd, 1, (3ll << 32) + 7) == 1);
    must(do_pread(fd, 4000, 3000) == 4000);
    must(do_pread(fd, 10, 3ll << 32) == 8);
    /* Neither moved the position. */
    must(do_read(fd, 100) == 100);
    do_close(fd);
}

static void vectored(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    struct iovec parts[3] = {{buffer, 100}, {buffer + 1000, 0}, {buffer + 2000, 250}};
    int64_t at = place(fd, true);
    transfer(fd, "write", "call", at, 350, outcome(writev(fd, parts, 3)));
    transfer(fd, "write", "call", 1000, 350, outcome(pwritev(fd, parts, 3, 1000)));
    transfer(fd, "write", "call", 2000, 350, outcome(pwritev2(fd, parts, 3, 2000, RWF_DSYNC)));
    /* -1 is the position, which then moves. */
    at = place(fd, true);
    transfer(fd, "write", "call", at, 350, outcome(pwritev2(fd, parts, 3, -1, 0)));
    struct stat status;
    must(fstat(fd, &status) == 0);
    transfer(fd, "write", "call", status.st_size, 350, outcome(pwritev2(fd, parts, 3, 0, RWF_APPEND)));
    must(lseek(fd, 100, SEEK_SET) == 100);
    at = place(fd, false);
    transfer(fd, "read", "call", at, 350, outcome(readv(fd, parts, 3)));
    transfer(fd, "read", "call", 2500, 350, outcome(preadv(fd, parts, 3, 2500)));
    at = place(fd, false);
    transfer(fd, "read", "call", at, 100, outcome(preadv2(fd, parts, 1, -1, 0)));
    transfer(fd, "read", "call", 2600, 350, outcome(preadv2(fd, parts, 3, 2600, 0)));
    do_close(fd);
}

static void memory_mapped(void) {
    make("data", 20000);
    int fd = sure_open("data", O_RDWR), only_read = sure_open("data", O_RDONLY);
    char *private = do_mmap(only_read, 20000, PROT_READ, MAP_PRIVATE, 0);
    must(private != NULL);
    /* Its faults are not compared. */
    for (int i = 0; i < 20000; i += 4096) *(volatile char *)(private + i);
    char *shared = do_mmap(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 8192);
    must(shared != NULL);
    memcpy(shared + 10, "written", 7);
    must(msync(shared, 4096, MS_SYNC) == 0);
    /* Not allowed: the descriptor cannot write. */
    must(do_mmap(only_read, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 0) == NULL);
    /* No file, no row. */
    void *nothing = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(nothing != MAP_FAILED);
    do_close(fd);
    do_close(only_read);
    must(munmap(private, 20000) == 0 && munmap(shared, 4096) == 0 && munmap(nothing, 4096) == 0);
}

/* A call that moves bytes from a file to a file: a row for each that is recorded. */
static void moved(const char *via, int in, int64_t in_offset, int out, int64_t out_offset, int64_t size, int64_t result) {
    transfer(in, "read", via, in_offset, size, result);
    transfer(out, "write", via, out_offset, size, result);
}

static void send_file(void) {
    make("in", 10000);
    int in = sure_open("in", O_RDONLY), out = sure_open("out", O_WRONLY | O_CREAT);
    int64_t from = place(in, false), to = place(out, true);
    moved("sendfile", in, from, out, to, 4000, outcome(sendfile(out, in, NULL, 4000)));
    off_t offset = 7000;
    to = place(out, true);
    moved("sendfile", in, 7000, out, to, 5000, outcome(sendfile(out, in, &offset, 5000)));
    must(offset == 10000);
    to = place(out, true);
    moved("sendfile", in, 10000, out, to, 5000, outcome(sendfile(out, in, &offset, 5000)));
    /* Into a pipe: only the file has a row. */
    int ends[2];
    must(pipe(ends) == 0);
    keep(ends[0], 0);
    keep(ends[1], 0);
    from = place(in, false);
    moved("sendfile", in, from, ends[1], ABSENT, 300, outcome(sendfile(ends[1], in, NULL, 300)));
    do_close(in);
    do_close(out);
}

static void spliced(void) {
    make("in", 10000);
    int in = sure_open("in", O_RDONLY), out = sure_open("out", O_WRONLY | O_CREAT), ends[2];
    must(pipe(ends) == 0);
    keep(ends[0], 0);
    keep(ends[1], 0);
    int64_t from = place(in, false), done = outcome(splice(in, NULL, ends[1], NULL, 3000, 0));
    moved("splice", in, from, ends[1], ABSENT, 3000, done);
    must(done > 0);
    int64_t to = place(out, true);
    moved("splice", ends[0], ABSENT, out, to, 5000, outcome(splice(ends[0], NULL, out, NULL, 5000, 0)));
    off_t offset = 6000;
    done = outcome(splice(in, &offset, ends[1], NULL, 1000, SPLICE_F_MOVE));
    moved("splice", in, 6000, ends[1], ABSENT, 1000, done);
    offset = 50000;
    moved("splice", ends[0], ABSENT, out, 50000, 1000, outcome(splice(ends[0], NULL, out, &offset, 1000, 0)));
    do_close(in);
    do_close(out);
}

static void copy_range(void) {
    make("in", 100000);
    int in = sure_open("in", O_RDONLY), out = sure_open("out", O_RDWR | O_CREAT);
    int64_t from = place(in, false), to = place(out, true);
    moved("copy_file_range", in, from, out, to, 30000, outcome(copy_file_range(in, NULL, out, NULL, 30000, 0)));
    off_t in_offset = 90000, out_offset = 40000;
    moved("copy_file_range", in, 90000, out, 40000, 30000, outcome(copy_file_range(in, &in_offset, out, &out_offset, 30000, 0)));
    /* At the end of the source. */
    in_offset = 100000;
    to = place(out, true);
    moved("copy_file_range", in, 100000, out, to, 10, outcome(copy_file_range(in, &in_offset, out, NULL, 10, 0)));
    do_close(in);
    do_close(out);
}

/* ---- io_uring(7) by its system calls ---- */

struct ring {
    int fd;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
};

static void open_ring(struct ring *ring) {
    struct io_uring_params params = {0};
    ring->fd = (int)syscall(SYS_io_uring_setup, 8, &params);
    if (ring->fd < 0) skip("io_uring_setup");
    size_t sq_bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    char *sq = mmap(NULL, sq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_CQ_RING);
    ring->sqes = mmap(NULL, params.sq_entries * sizeof *ring->sqes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, IORING_OFF_SQES);
    must(sq != MAP_FAILED && cq != MAP_FAILED && ring->sqes != MAP_FAILED);
    ring->sq_tail = (unsigned *)(sq + params.sq_off.tail);
    ring->sq_mask = (unsigned *)(sq + params.sq_off.ring_mask);
    ring->sq_array = (unsigned *)(sq + params.sq_off.array);
    ring->cq_head = (unsigned *)(cq + params.cq_off.head);
    ring->cq_tail = (unsigned *)(cq + params.cq_off.tail);
    ring->cq_mask = (unsigned *)(cq + params.cq_off.ring_mask);
    ring->cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
}

static void queue(struct ring *ring, struct io_uring_sqe entry) {
    unsigned tail = *ring->sq_tail, index = tail & *ring->sq_mask;
    ring->sqes[index] = entry;
    ring->sq_array[index] = index;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

static void submit(struct ring *ring, unsigned count) {
    long done = syscall(SYS_io_uring_enter, ring->fd, count, count, IORING_ENTER_GETEVENTS, NULL, 0);
    must(done == (long)count);
}

/* The result of the completion with this number; those before it are taken too. */
static int64_t completion(struct ring *ring, uint64_t number, int64_t *results) {
    while (*ring->cq_head != __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE)) {
        struct io_uring_cqe *entry = &ring->cqes[*ring->cq_head & *ring->cq_mask];
        must(entry->user_data < 8);
        results[entry->user_data] = entry->res;
        __atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
    }
    return results[number];
}

static int64_t ring_call(struct ring *ring, struct io_uring_sqe entry) {
    int64_t results[8];
    entry.user_data = 0;
    queue(ring, entry);
    submit(ring, 1);
    return completion(ring, 0, results);
}

static void io_uring(void) {
    struct ring ring;
    open_ring(&ring);
    int fd = sure_open("data", O_RDWR | O_CREAT), write_only = sure_open("data", O_WRONLY);
    struct iovec parts[2] = {{buffer, 1000}, {buffer + 5000, 24}};
    struct io_uring_sqe entry = {.opcode = IORING_OP_WRITEV, .fd = fd, .addr = (uintptr_t)parts, .len = 2, .off = 0};
    transfer(fd, "write", "io_uring", 0, 1024, ring_call(&ring, entry));
    entry.opcode = IORING_OP_READV, entry.off = 24;
    transfer(fd, "read", "io_uring", 24, 1024, ring_call(&ring, entry));
    entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = fd, .addr = (uintptr_t)buffer, .len = 777, .off = 1ull << 33};
    transfer(fd, "write", "io_uring", 1ll << 33, 777, ring_call(&ring, entry));
    entry.opcode = IORING_OP_READ, entry.off = 500, entry.len = 100;
    transfer(fd, "read", "io_uring", 500, 100, ring_call(&ring, entry));
    /* By one of the kernel's workers, and still this thread's. */
    entry.flags = IOSQE_ASYNC, entry.off = 200;
    transfer(fd, "read", "io_uring", 200, 100, ring_call(&ring, entry));
    entry.flags = 0;
    /* Refused. */
    entry.fd = write_only;
    transfer(write_only, "read", "io_uring", 200, 100, ring_call(&ring, entry));
    entry.fd = fd;
    /* Registered buffer and descriptor. */
    struct iovec fixed = {buffer, 4096};
    if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &fixed, 1) != 0) skip("registered buffers");
    must(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &fd, 1) == 0);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE_FIXED, .flags = IOSQE_FIXED_FILE, .fd = 0, .addr = (uintptr_t)buffer, .len = 4096, .off = 8192};
    transfer(fd, "write", "io_uring", 8192, 4096, ring_call(&ring, entry));
    entry.opcode = IORING_OP_READ_FIXED, entry.off = 10000;
    transfer(fd, "read", "io_uring", 10000, 4096, ring_call(&ring, entry));
    /* Several at once, in order because each waits for the one before. */
    for (int i = 0; i < 4; i++) {
        entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .flags = i < 3 ? IOSQE_IO_LINK : 0, .fd = fd, .addr = (uintptr_t)buffer,
                                      .len = 10u + (unsigned)i, .off = 20000 + 100u * (unsigned)i, .user_data = (uint64_t)i};
        queue(&ring, entry);
    }
    submit(&ring, 4);
    int64_t results[8];
    for (int i = 0; i < 4; i++) {
        transfer(fd, "write", "io_uring", 20000 + 100 * i, 10 + i, completion(&ring, (uint64_t)i, results));
    }
    do_close(fd);
    do_close(write_only);
    close(ring.fd);
}

/* Names and what moves no bytes. */
static void io_uring_names(void) {
    struct ring ring;
    open_ring(&ring);
    struct io_uring_sqe entry = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)"data", .len = 0644, .open_flags = O_RDWR | O_CREAT};
    int64_t done = ring_call(&ring, entry);
    if (done == -EINVAL) skip("IORING_OP_OPENAT");
    must(done >= 0);
    keep((int)done, 0);
    int fd = (int)done;
    files[fd].handle = atomic_fetch_add(&book->next_handle, 1);
    ROW(.op = "open", .via = "io_uring", OF(fd), .path = "data", .container_path = NULL, .result = 0, .flags = O_RDWR | O_CREAT);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = fd, .addr = (uintptr_t)buffer, .len = 300};
    must(transfer(fd, "write", "io_uring", 0, 300, ring_call(&ring, entry)) == 300);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_FALLOCATE, .fd = fd, .off = 1000, .addr = 500};
    done = ring_call(&ring, entry);
    ROW(.op = "allocate", .via = "io_uring", OF(fd), .offset = 1000, .size = 500, .result = done, .flags = 0);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_CLOSE, .fd = fd};
    must(ring_call(&ring, entry) == 0);
    ROW(.op = "close", .via = "io_uring", OF(fd), .result = 0);
    files[fd].open = false;
    /* By a directory's descriptor, and what fails. */
    must(mkdir("sub", 0755) == 0);
    int directory = (int)syscall(SYS_openat, AT_FDCWD, "sub", O_RDONLY | O_DIRECTORY, 0);
    must(directory >= 0);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_OPENAT, .fd = directory, .addr = (uintptr_t)"missing", .open_flags = O_RDONLY};
    done = ring_call(&ring, entry);
    ROW(.op = "open", .via = "io_uring", .device = ANY, .inode = ANY, .path = "sub/missing", .container_path = NULL, .result = done, .flags = O_RDONLY);
    struct stat status;
    must(stat("data", &status) == 0);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_RENAMEAT, .fd = AT_FDCWD, .addr = (uintptr_t)"data", .len = (unsigned)directory, .off = (uintptr_t)"moved"};
    done = ring_call(&ring, entry);
    if (done == -EINVAL) skip("IORING_OP_RENAMEAT");
    ROW(.op = "rename", .via = "io_uring", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = "data", .container_path = NULL,
        .new_path = "sub/moved", .result = done, .flags = 0);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_LINKAT, .fd = directory, .addr = (uintptr_t)"moved", .len = (unsigned)AT_FDCWD, .off = (uintptr_t)"linked"};
    done = ring_call(&ring, entry);
    /* Not in the io_uring of 5.10, which is that of 5.15 but for this. */
    bool linked = done != -EINVAL;
    const char *name = linked ? "linked" : "sub/moved";
    if (linked) ROW(.op = "link", .via = "io_uring", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = "sub/moved", .container_path = NULL,
        .new_path = "linked", .result = done);
    entry = (struct io_uring_sqe){.opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = (uintptr_t)name};
    done = ring_call(&ring, entry);
    ROW(.op = "delete", .via = "io_uring", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = name, .container_path = NULL, .result = done);
    close(directory);
    close(ring.fd);
}

/* At the position, which moves: fuse.ko does not move it for files that it serves without the page cache (FOPEN_DIRECT_IO). */
static void io_uring_position(void) {
    struct ring ring;
    open_ring(&ring);
    make("data", 200);
    int fd = sure_open("data", O_RDONLY);
    must(lseek(fd, 40, SEEK_SET) == 40);
    struct io_uring_sqe entry = {.opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)buffer, .len = 100, .off = UINT64_MAX};
    transfer(fd, "read", "io_uring", 40, 100, ring_call(&ring, entry));
    must(place(fd, false) == 140);
    do_close(fd);
    close(ring.fd);
}

static void o_tmpfile(void) {
    int flags = O_RDWR | O_TMPFILE;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, ".", flags, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) skip("O_TMPFILE");
    must(fd >= 0);
    /* A file without a name. */
    opened(fd, NULL, flags);
    must(do_write(fd, 5000) == 5000);
    must(do_pread(fd, 100, 4950) == 50);
    do_close(fd);
    /* One that gets a name. */
    flags = O_WRONLY | O_TMPFILE;
    fd = opened((int)syscall(SYS_openat, AT_FDCWD, ".", flags, 0600), NULL, flags);
    must(fd >= 0 && do_write(fd, 10) == 10);
    char name[40];
    sprintf(name, "/proc/self/fd/%d", fd);
    must(linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW) == 0);
    /* Whether that is the link in /proc or nothing depends on where a tracer looks. */
    ROW(.op = "link", .device = files[fd].device, .inode = files[fd].inode, .path = any_path, .new_path = "named", .result = 0);
    must(do_write(fd, 20) == 20);
    do_close(fd);
    fd = sure_open("named", O_RDONLY);
    must(do_read(fd, 100) == 30);
    do_close(fd);
}

static void rename_over(void) {
    make("old", 100);
    make("new", 200);
    int replaced = sure_open("new", O_RDWR);
    int moved_file = sure_open("old", O_RDONLY);
    do_rename("old", "new", 0);
    must(do_read(replaced, 1000) == 200);
    must(do_read(moved_file, 1000) == 100);
    int fd = sure_open("new", O_RDONLY);
    must(do_read(fd, 1000) == 100);
    do_close(fd);
    do_close(replaced);
    do_close(moved_file);
    make("other", 300);
    do_rename("other", "new", RENAME_EXCHANGE);
    do_rename("other", "new", RENAME_NOREPLACE);
    do_rename("missing", "nowhere", 0);
    must(mkdir("sub", 0755) == 0);
    do_rename("new", "sub/new", 0);
}

static void hard_link(void) {
    make("first", 100);
    do_link("first", "second");
    int fd = sure_open("second", O_RDWR);
    must(do_write(fd, 10) == 10);
    do_unlink("first");
    must(do_read(fd, 1000) == 90);
    do_close(fd);
    do_link("first", "third");
    do_link("second", "second");
    fd = sure_open("second", O_RDONLY);
    must(do_read(fd, 1000) == 100);
    do_close(fd);
    do_unlink("second");
}

static void unlink_while_open(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    must(do_write(fd, 100) == 100);
    do_unlink("data");
    must(do_write(fd, 50) == 50);
    must(do_pread(fd, 1000, 0) == 150);
    /* Another file of the same name; some file systems use the inode number again after the close. */
    int second = sure_open("data", O_RDWR | O_CREAT);
    must(do_write(second, 1) == 1);
    do_close(fd);
    do_close(second);
    do_unlink("data");
    fd = sure_open("data", O_RDWR | O_CREAT);
    must(do_write(fd, 2) == 2);
    do_close(fd);
    do_unlink("data");
    do_unlink("data");
}

/* Descriptor `to` becomes the same as `from`. */
static void same(int from, int to) {
    close_row(to);
    files[to] = files[from];
}

static void duplicated(void) {
    make("data", 1000);
    make("other", 1000);
    int fd = sure_open("data", O_RDWR), other = sure_open("other", O_RDWR), third = sure_open("other", O_RDONLY);
    int copy = dup(fd);
    must(copy >= 0);
    files[copy] = files[fd];
    must(do_read(copy, 10) == 10);
    must(do_read(fd, 10) == 10);
    /* Over one that is open: that one is closed. */
    must(dup2(fd, other) == other);
    same(fd, other);
    must(do_write(other, 10) == 10);
    must(dup3(fd, third, O_CLOEXEC) == third);
    same(fd, third);
    must(do_read(third, 10) == 10);
    int fourth = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    must(fourth >= 100);
    files[fourth] = files[fd];
    do_close(fd);
    must(do_read(fourth, 10) == 10);
    /* Onto itself: nothing is closed. */
    must(dup2(fourth, fourth) == fourth);
    /* Onto one that is free. */
    must(dup2(fourth, fd) == fd);
    files[fd] = files[fourth];
    must(do_read(fd, 10) == 10);
    do_close(copy);
    do_close(other);
    do_close(third);
    do_close(fourth);
    do_close(fd);
}

static void fd_passing(void) {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    pid_t child = do_fork();
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct open_file passed = {0};
    struct iovec body = {&passed, sizeof passed};
    struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    if (child == 0) {
        must(recvmsg(ends[1], &message, 0) == sizeof passed);
        int fd;
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
        files[fd] = passed;
        must(do_read(fd, 100) == 100);
        must(do_write(fd, 50) == 50);
        do_close(fd);
        _exit(0);
    }
    make("data", 1000);
    int fd = sure_open("data", O_RDWR);
    must(do_read(fd, 10) == 10);
    passed = files[fd];
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    must(sendmsg(ends[0], &message, 0) == sizeof passed);
    wait_for(child);
    must(do_read(fd, 10) == 10);
    do_close(fd);
}

struct worker {
    int number, shared;
    pthread_t thread;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    char name[20];
    sprintf(name, "own%d", worker->number);
    int own = sure_open(name, O_RDWR | O_CREAT);
    for (int i = 0; i < 25; i++) {
        must(do_write(own, 10 + (size_t)i) > 0);
        must(do_pwrite(worker->shared, 100, worker->number * 100000 + i * 100) == 100);
        must(do_pread(own, 5, i) == 5);
        must(do_pread(worker->shared, 100, worker->number * 100000 + i * 100) == 100);
    }
    do_close(own);
    return NULL;
}

static void threads(void) {
    int shared = sure_open("shared", O_RDWR | O_CREAT);
    struct worker workers[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){.number = i, .shared = shared};
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) must(pthread_join(workers[i].thread, NULL) == 0);
    do_close(shared);
}

static void fork_without_exec(void) {
    make("data", 1000);
    int fd = sure_open("data", O_RDWR);
    must(do_read(fd, 10) == 10);
    pid_t child = do_fork();
    if (child == 0) {
        must(do_read(fd, 20) == 20);
        int own = sure_open("child", O_WRONLY | O_CREAT);
        must(do_write(own, 30) == 30);
        pid_t grandchild = do_fork();
        if (grandchild == 0) {
            must(do_write(own, 40) == 40);
            must(do_read(fd, 5) == 5);
            do_close(fd);
            /* Open at the end: no row for that. */
            _exit(0);
        }
        wait_for(grandchild);
        do_close(own);
        _exit(0);
    }
    wait_for(child);
    must(do_read(fd, 40) == 40);
    do_close(fd);
}

static void vfork_exec(void) {
    make("data", 1000);
    int fd = sure_open("data", O_RDWR), closed_by_exec = sure_open("data", O_RDONLY | O_CLOEXEC);
    must(do_read(closed_by_exec, 3) == 3);
    prepare_exec();
    pid_t child = vfork();
    must(child >= 0);
    if (child == 0) {
        do_write(fd, 7);
        exec_self("vfork_exec", fd);
    }
    take_over();
    wait_for(child);
    must(do_read(fd, 10) == 10);
    do_close(fd);
    do_close(closed_by_exec);
}

/* What the program after an exec does with the descriptor that it inherited. */
static void resumed(int fd) {
    must(do_read(fd, 100) == 100);
    int own = sure_open("after", O_WRONLY | O_CREAT);
    must(do_write(own, 11) == 11);
    do_close(own);
    must(do_write(fd, 22) == 22);
    do_close(fd);
}

static void *exec_from_thread(void *fd) {
    must(do_write(*(int *)fd, 33) == 33);
    exec_self("exec_by_thread", *(int *)fd);
    return NULL;
}

static void exec_by_thread(void) {
    make("data", 1000);
    prepare_exec();
    int fd = sure_open("data", O_RDWR);
    pid_t child = do_fork();
    if (child == 0) {
        must(do_read(fd, 1) == 1);
        pthread_t thread;
        must(pthread_create(&thread, NULL, exec_from_thread, &fd) == 0);
        pthread_join(thread, NULL);
        _exit(FAILED);
    }
    take_over();
    wait_for(child);
    do_close(fd);
}

static void shared_descriptors(void) {
    make("data", 1000);
    int gate[2], back[2];
    must(pipe(gate) == 0 && pipe(back) == 0);
    /* A process with its own memory whose descriptors are the parent's. */
    long child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    must(child >= 0);
    if (child == 0) {
        introduce();
        int fd = sure_open("data", O_RDWR);
        must(do_read(fd, 10) == 10);
        struct open_file told = files[fd];
        must(write(back[1], &fd, sizeof fd) == sizeof fd && write(back[1], &told, sizeof told) == sizeof told);
        char go;
        must(read(gate[0], &go, 1) == 1);
        /* The parent closed it. */
        must(read(fd, buffer, 1) < 0 && errno == EBADF);
        _exit(0);
    }
    int fd;
    struct open_file told;
    must(read(back[0], &fd, sizeof fd) == sizeof fd && read(back[0], &told, sizeof told) == sizeof told);
    files[fd] = told;
    must(do_read(fd, 20) == 20);
    do_close(fd);
    must(write(gate[1], "g", 1) == 1);
    wait_for((pid_t)child);
}

static void deleted_cwd(void) {
    make("top", 10);
    must(mkdir("sub", 0755) == 0 && chdir("sub") == 0);
    int flags = O_RDWR | O_CREAT;
    int fd = opened((int)syscall(SYS_openat, AT_FDCWD, "data", flags, 0644), "sub/data", flags);
    must(fd >= 0 && do_write(fd, 100) == 100);
    int64_t result = outcome(unlink("data"));
    ROW(.op = "delete", .device = files[fd].device, .inode = files[fd].inode, .path = "sub/data", .container_path = NULL, .result = result);
    must(rmdir("../sub") == 0);
    must(do_pread(fd, 10, 0) == 10);
    must(opened((int)syscall(SYS_openat, AT_FDCWD, "data", O_RDONLY, 0), "sub/data", O_RDONLY) < 0);
    must(opened((int)syscall(SYS_openat, AT_FDCWD, "new", flags, 0644), "sub/new", flags) < 0);
    int top = opened((int)syscall(SYS_openat, AT_FDCWD, "../top", O_RDONLY, 0), "top", O_RDONLY);
    must(top >= 0 && do_read(top, 100) == 10);
    do_close(top);
    do_close(fd);
}

/* `depth` directories of 255 bytes, one in the other, and a file in the last. */
static void nested(int depth) {
    char *path = calloc(1, (size_t)depth * 256 + 10);
    must(path != NULL);
    for (int i = 0; i < depth; i++) {
        char name[256];
        memset(name, 'a' + i % 26, 255);
        name[255] = 0;
        must(mkdir(name, 0755) == 0 && chdir(name) == 0);
        strcat(strcat(path, name), "/");
    }
    strcat(path, "leaf");
    int flags = O_RDWR | O_CREAT;
    int fd = opened((int)syscall(SYS_openat, AT_FDCWD, "leaf", flags, 0644), path, flags);
    must(fd >= 0 && do_write(fd, 100) == 100);
    must(do_pread(fd, 10, 5) == 10);
    do_close(fd);
    struct stat status;
    must(stat("leaf", &status) == 0);
    must(unlink("leaf") == 0);
    ROW(.op = "delete", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = path, .container_path = NULL, .result = 0);
    must(opened((int)syscall(SYS_openat, AT_FDCWD, "leaf", O_RDONLY, 0), path, O_RDONLY) < 0);
    for (int i = depth - 1; i >= 0; i--) {
        char name[256];
        memset(name, 'a' + i % 26, 255);
        name[255] = 0;
        must(chdir("..") == 0 && rmdir(name) == 0);
    }
    free(path);
}

static void long_path(void) {
    nested(12);
    char name[257];
    memset(name, 'n', 256);
    name[256] = 0;
    must(do_open(name, O_RDONLY) < 0 && errno == ENAMETOOLONG);
    name[255] = 0;
    make(name, 3);
}

static void longer_path(void) {
    nested(20);
    /* Longer than what the kernel takes: what of it a tracer keeps is not compared. */
    char path[5000];
    for (int i = 0; i < 4999; i++) path[i] = i % 2 == 0 ? '.' : '/';
    path[4999] = 0;
    must(opened((int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0), any_path, O_RDONLY) < 0 && errno == ENAMETOOLONG);
}

/* A file of this name through all that takes a name. */
static void named(const char *name, const char *other) {
    make(name, 100);
    do_link(name, other);
    do_unlink(name);
    do_rename(other, name, 0);
    int fd = sure_open(name, O_RDONLY);
    must(do_read(fd, 1000) == 100);
    do_close(fd);
    do_truncate(name, 50);
    must(do_open(other, O_RDONLY) < 0);
    do_unlink(name);
}

static void non_utf8_path(void) {
    named("\xff\xfe\x80name", "caf\xe9");
    named("\xed\xa0\x80", "\xf0\x9f\x92");
}

static void special_path(void) {
    named("a,b\nc\td\"e\\f'g ", " (deleted)");
    named("data (deleted)", "-");
    named("\x1b[31mred\x7f", "?");
    must(mkdir("d,\n", 0755) == 0);
    named("d,\n/x", "d,\n/y");
}

static void truncated(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    must(do_write(fd, 1000) == 1000);
    do_ftruncate(fd, 100);
    do_truncate("data", 1ll << 40);
    do_truncate("data", 10);
    must(do_write(fd, 5) == 5);
    do_truncate("missing", 0);
    do_fallocate(fd, 0, 0, 100000);
    do_fallocate(fd, FALLOC_FL_KEEP_SIZE, 200000, 4096);
    do_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192);
    int only_read = sure_open("data", O_RDONLY);
    do_fallocate(only_read, 0, 0, 10);
    do_ftruncate(only_read, 3);
    do_close(only_read);
    do_close(fd);
}

static void synced(void) {
    int fd = sure_open("data", O_RDWR | O_CREAT);
    must(do_write(fd, 10000) == 10000);
    int64_t result = outcome(fsync(fd));
    ROW(.op = "sync", OF(fd), .offset = ANY, .size = ANY, .result = result);
    must(do_write(fd, 10) == 10);
    result = outcome(fdatasync(fd));
    ROW(.op = "sync", OF(fd), .offset = ANY, .size = ANY, .result = result);
    result = outcome(sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
    ROW(.op = "sync", OF(fd), .offset = ANY, .size = ANY, .result = result, .flags = ANY);
    do_close(fd);
}

static void failed_open(void) {
    make("data", 10);
    must(symlink("data", "to_data") == 0 && symlink("missing", "to_missing") == 0);
    must(do_open("missing", O_RDONLY) < 0 && errno == ENOENT);
    must(do_open("missing/below", O_RDONLY) < 0 && errno == ENOENT);
    must(do_open("data/below", O_RDONLY) < 0 && errno == ENOTDIR);
    must(do_open("data", O_WRONLY | O_CREAT | O_EXCL) < 0 && errno == EEXIST);
    must(do_open("to_data", O_RDONLY | O_NOFOLLOW) < 0 && errno == ELOOP);
    must(do_open("to_missing", O_RDONLY) < 0 && errno == ENOENT);
    /* A path that cannot be read. */
    must(opened((int)syscall(SYS_openat, AT_FDCWD, 1, O_RDONLY, 0), any_path, O_RDONLY) < 0 && errno == EFAULT);
    must(chmod("data", 0) == 0);
    pid_t child = do_fork();
    if (child == 0) {
        /* Root without its capabilities is refused like anybody. */
        struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
        struct __user_cap_data_struct none[2] = {0};
        must(syscall(SYS_capset, &header, none) == 0);
        must(do_open("data", O_RDWR) < 0 && errno == EACCES);
        _exit(0);
    }
    wait_for(child);
    struct rlimit old, few;
    must(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few = old;
    few.rlim_cur = 3;
    must(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int first = dup(0);
    must(do_open("to_data", O_RDONLY) < 0 && errno == EMFILE);
    if (first >= 0) close(first);
    must(setrlimit(RLIMIT_NOFILE, &old) == 0);
}

static void short_read(void) {
    make("data", 10);
    make("empty", 0);
    int fd = sure_open("data", O_RDONLY);
    must(do_read(fd, 4096) == 10);
    must(do_read(fd, 4096) == 0);
    must(do_read(fd, 0) == 0);
    must(do_pread(fd, 100, 5) == 5);
    must(do_pread(fd, 100, 1000) == 0);
    do_close(fd);
    fd = sure_open("empty", O_RDONLY);
    must(do_read(fd, 1) == 0);
    do_close(fd);
}

static void failed_transfer(void) {
    make("data", 1000);
    int only_read = sure_open("data", O_RDONLY), only_write = sure_open("data", O_WRONLY);
    must(do_read(only_read, 10) == 10);
    must(do_write(only_read, 20) == -EBADF);
    must(do_pwrite(only_read, 20, 5) == -EBADF);
    must(do_read(only_write, 30) == -EBADF);
    /* Into nowhere. */
    int64_t at = place(only_read, false);
    must(transfer(only_read, "read", "call", at, 100, outcome(syscall(SYS_read, only_read, 8, 100))) == -EFAULT);
    at = place(only_write, true);
    must(transfer(only_write, "write", "call", at, 100, outcome(syscall(SYS_write, only_write, 8, 100))) == -EFAULT);
    /* A descriptor that is not open has no file and no row. */
    must(read(999, buffer, 10) < 0 && errno == EBADF);
    must(close(999) < 0 && errno == EBADF);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, little;
    must(getrlimit(RLIMIT_FSIZE, &old) == 0);
    little = old;
    little.rlim_cur = 1500;
    must(setrlimit(RLIMIT_FSIZE, &little) == 0);
    must(lseek(only_write, 1000, SEEK_SET) == 1000);
    must(do_write(only_write, 400) == 400);
    must(do_write(only_write, 400) == 100);
    must(do_write(only_write, 400) == -EFBIG);
    must(setrlimit(RLIMIT_FSIZE, &old) == 0);
    do_close(only_read);
    do_close(only_write);
}

static void range_closed(void) {
    int first = sure_open("a", O_RDWR | O_CREAT);
    /* From here on all are ours. */
    int from = fcntl(first, F_DUPFD, 500), to = from + 3;
    must(from == 500);
    files[from] = files[first];
    for (int i = 1; i < 3; i++) {
        char name[] = {(char)('a' + i), 0};
        int fd = sure_open(name, O_RDWR | O_CREAT);
        must(dup2(fd, from + i) == from + i);
        files[from + i] = files[fd];
        do_close(fd);
    }
    must(do_write(from + 2, 10) == 10);
    /* CLOSE_RANGE_CLOEXEC (close_range(2)) closes nothing; a kernel before 5.11 refuses it. */
    long marked = syscall(SYS_close_range, from, to, 4);
    if (marked != 0 && errno == ENOSYS) skip("close_range");
    must(do_write(from + 1, 20) == 20);
    must(syscall(SYS_close_range, from + 1, to, 0) == 0);
    close_row(from + 1);
    close_row(from + 2);
    must(do_write(from, 30) == 30);
    do_close(from);
    do_close(first);
}

static void o_trunc(void) {
    make("data", 1000);
    int fd = sure_open("data", O_RDWR | O_TRUNC);
    must(do_read(fd, 10) == 0);
    must(do_write(fd, 10) == 10);
    do_close(fd);
    fd = sure_open("data", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    do_close(fd);
}

static void open_kinds(void) {
    must(mkdir("sub", 0755) == 0);
    /* A directory has no rows. */
    int directory = do_open("sub", O_RDONLY | O_DIRECTORY);
    must(directory >= 0);
    int fd = opened(openat(directory, "x", O_RDWR | O_CREAT, 0644), "sub/x", O_RDWR | O_CREAT);
    must(fd >= 0);
    do_close(fd);
    fd = opened(openat(directory, "../sub/./x", O_RDONLY), "sub/x", O_RDONLY);
    must(fd >= 0);
    do_close(fd);
    must(opened(openat(directory, "missing", O_RDONLY), "sub/missing", O_RDONLY) < 0);
#ifdef SYS_open
    fd = opened((int)syscall(SYS_open, "sub/x", O_RDWR | O_NONBLOCK), "sub/x", O_RDWR | O_NONBLOCK);
    must(fd >= 0);
    do_close(fd);
#endif
#ifdef SYS_creat
    fd = opened((int)syscall(SYS_creat, "created", 0600), "created", O_CREAT | O_WRONLY | O_TRUNC);
    must(fd >= 0);
    do_close(fd);
#endif
    struct open_how how = {.flags = O_RDWR | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
    fd = (int)syscall(SYS_openat2, directory, "x", &how, sizeof how);
    if (fd < 0 && errno == ENOSYS) skip("openat2");
    opened(fd, "sub/x", O_RDWR | O_CLOEXEC);
    must(fd >= 0);
    do_close(fd);
    must(opened((int)syscall(SYS_openat2, directory, "../created", &how, sizeof how), any_path, O_RDWR | O_CLOEXEC) < 0 && errno == EXDEV);
    do_close(directory);
#ifdef SYS_unlink
    struct stat status;
    must(stat("sub/x", &status) == 0);
    int64_t result = outcome(syscall(SYS_unlink, "sub/x"));
    ROW(.op = "delete", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = "sub/x", .container_path = NULL, .result = result);
#endif
    /* AT_REMOVEDIR removes directories, which have no rows. */
    must(unlinkat(AT_FDCWD, "sub", AT_REMOVEDIR) == 0);
}

static void symlinked(void) {
    must(mkdir("real", 0755) == 0 && symlink("real", "alias") == 0);
    make("real/data", 100);
    must(symlink("real/data", "link") == 0 && symlink("alias/new", "to_new") == 0);
    int fd = opened(open("link", O_RDWR), "real/data", O_RDWR);
    must(fd >= 0 && do_read(fd, 10) == 10);
    do_close(fd);
    fd = opened(open("alias/data", O_RDONLY), "real/data", O_RDONLY);
    must(fd >= 0 && do_read(fd, 10) == 10);
    do_close(fd);
    /* Made where the link points. */
    fd = opened(open("to_new", O_WRONLY | O_CREAT, 0644), "real/new", O_WRONLY | O_CREAT);
    must(fd >= 0 && do_write(fd, 10) == 10);
    do_close(fd);
}

/* What has a name and is no regular file: its name is told when it goes, is changed or gets another, without its identity. */
static void special_names(void) {
    must(symlink("nowhere", "link") == 0 && mkfifo("fifo", 0644) == 0 && mkdir("directory", 0755) == 0);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    must(listening >= 0 && bind(listening, (struct sockaddr *)&address, sizeof address) == 0);
    close(listening);
    make("directory/data", 10);
    must(syscall(SYS_renameat2, AT_FDCWD, "directory", AT_FDCWD, "moved", 0) == 0);
    ROW(.op = "rename", .path = "directory", .container_path = NULL, .new_path = "moved", .result = 0, .flags = 0);
    must(syscall(SYS_renameat2, AT_FDCWD, "link", AT_FDCWD, "moved/link", 0) == 0);
    ROW(.op = "rename", .path = "link", .container_path = NULL, .new_path = "moved/link", .result = 0, .flags = 0);
    must(linkat(AT_FDCWD, "fifo", AT_FDCWD, "second", 0) == 0);
    ROW(.op = "link", .path = "fifo", .container_path = NULL, .new_path = "second", .result = 0);
    const char *names[] = {"moved/link", "fifo", "second", "socket"};
    for (int i = 0; i < 4; i++) {
        must(unlink(names[i]) == 0);
        ROW(.op = "delete", .path = names[i], .container_path = NULL, .result = 0);
    }
    int fd = sure_open("moved/data", O_RDONLY);
    must(do_read(fd, 100) == 10);
    do_close(fd);
}

static void not_recorded(void) {
    must(mkfifo("fifo", 0644) == 0);
    int both = do_open("fifo", O_RDWR);
    must(both >= 0 && do_write(both, 100) == 100 && do_read(both, 100) == 100);
    do_close(both);
    if (mknod("zero", S_IFCHR | 0644, makedev(1, 5)) == 0) {
        int zero = do_open("zero", O_RDONLY);
        /* A mount may forbid devices: that is then a failed open like others. */
        if (zero >= 0) {
            must(do_read(zero, 100) == 100);
            do_close(zero);
        }
    }
    int zero = open("/dev/zero", O_RDONLY), ends[2];
    must(zero >= 0 && read(zero, buffer, 100) == 100);
    must(pipe(ends) == 0 && write(ends[1], buffer, 100) == 100 && read(ends[0], buffer, 100) == 100);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    must(listening >= 0 && bind(listening, (struct sockaddr *)&address, sizeof address) == 0);
    int own = open("/proc/self/status", O_RDONLY);
    must(own >= 0 && read(own, buffer, 4096) > 0);
    close(own);
    close(zero);
    close(ends[0]);
    close(ends[1]);
    close(listening);
    int directory = do_open(".", O_RDONLY | O_DIRECTORY);
    must(directory >= 0);
    must(syscall(SYS_getdents64, directory, buffer, 4096) > 0);
    do_close(directory);
    make("data", 1);
}

static void many_small(void) {
    const int count = 100000;
    int fd = sure_open("data", O_WRONLY | O_CREAT);
    for (int i = 0; i < count; i++) must(write(fd, buffer, 1) == 1);
    ROW(.count = count, .step = 1, .op = "write", OF(fd), .offset = 0, .size = 1, .result = 1);
    do_close(fd);
}

static void direct(void) {
    int flags = O_RDWR | O_CREAT | O_DIRECT;
    int fd = do_open("data", flags);
    if (fd < 0) return;
    must(do_write(fd, 8192) == 8192);
    must(do_pwrite(fd, 4096, 16384) == 4096);
    must(do_pread(fd, 16384, 4096) == 16384);
    must(do_read(fd, 4096) == 4096);
    must(lseek(fd, 0, SEEK_SET) == 0);
    must(do_read(fd, 65536) == 20480);
    do_close(fd);
}

static void o_path(void) {
    make("data", 10);
    int fd = sure_open("data", O_PATH);
    must(read(fd, buffer, 1) < 0 && errno == EBADF);
    do_close(fd);
}

static void in_chroot(void) {
    must(mkdir("jail", 0755) == 0 && mkdir("jail/in", 0755) == 0);
    make("jail/in/data", 10);
    pid_t child = do_fork();
    if (child == 0) {
        if (chroot("jail") != 0) skip("chroot");
        must(chdir("/in") == 0);
        int fd = opened_in(open("/in/data", O_RDWR), "jail/in/data", "/in/data", O_RDWR);
        must(fd >= 0 && do_read(fd, 100) == 10);
        do_close(fd);
        int flags = O_WRONLY | O_CREAT;
        fd = opened_in(open("new", flags, 0644), "jail/in/new", "/in/new", flags);
        must(fd >= 0 && do_write(fd, 5) == 5);
        do_close(fd);
        must(opened_in(open("missing", O_RDONLY), "jail/in/missing", "/in/missing", O_RDONLY) < 0);
        struct stat status;
        must(stat("new", &status) == 0 && unlink("new") == 0);
        ROW(.op = "delete", .device = (int64_t)status.st_dev, .inode = (int64_t)status.st_ino, .path = "jail/in/new", .container_path = "/in/new",
            .result = 0);
        _exit(0);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) _exit(SKIPPED);
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* io_submit(2), by which libaio works. */
static void aio(void) {
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, 4, &context) != 0) skip("io_setup");
    int fd = sure_open("data", O_RDWR | O_CREAT);
    struct iocb request = {.aio_fildes = (unsigned)fd, .aio_lio_opcode = IOCB_CMD_PWRITE, .aio_buf = (uintptr_t)buffer, .aio_nbytes = 5000, .aio_offset = 300};
    struct iocb *requests[] = {&request};
    struct io_event event;
    must(syscall(SYS_io_submit, context, 1, requests) == 1 && syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
    transfer(fd, "write", "?", 300, 5000, event.res);
    request.aio_lio_opcode = IOCB_CMD_PREAD, request.aio_offset = 5000;
    must(syscall(SYS_io_submit, context, 1, requests) == 1 && syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
    transfer(fd, "read", "?", 5000, 5000, event.res);
    do_close(fd);
    must(syscall(SYS_io_destroy, context) == 0);
}

#ifdef SYS_mkdir
#define MKDIR(name) syscall(SYS_mkdir, name, 0755)
#define RMDIR(name) syscall(SYS_rmdir, name)
#define SYMLINK(name) syscall(SYS_symlink, "nowhere", name)
#define STAT(name, status) syscall(SYS_lstat, name, status)
#else
#define MKDIR(name) syscall(SYS_mkdirat, AT_FDCWD, name, 0755)
#define RMDIR(name) syscall(SYS_unlinkat, AT_FDCWD, name, AT_REMOVEDIR)
#define SYMLINK(name) syscall(SYS_symlinkat, "nowhere", AT_FDCWD, name)
#define STAT(name, status) syscall(SYS_newfstatat, AT_FDCWD, name, status, AT_SYMLINK_NOFOLLOW)
#endif

static void *look_often(void *argument) {
    (void)argument;
    char status[512];
    for (int i = 0; i < 500; i++) must(STAT(".", status) == 0);
    return NULL;
}

/* Calls on directories, which are counted by process and have no rows: of this child 9 mkdir, 8 rmdir, 4 symlink, 3 readdir, 1010 stat, one of each failed or
 * empty-handed. `COUNTED` in tests/support/operations.rs says the same. */
static void directory_calls(void) {
    make("data", 10);
    pid_t child = do_fork();
    if (child == 0) {
        char names[9][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"}, entries[4096], status[512];
        for (int i = 0; i < 6; i++) must(MKDIR(names[i]) == 0);
        for (int i = 6; i < 8; i++) must(syscall(SYS_mkdirat, AT_FDCWD, names[i], 0755) == 0);
        must(MKDIR("0") == -1 && errno == EEXIST);
        for (int i = 0; i < 5; i++) must(RMDIR(names[i]) == 0);
        for (int i = 5; i < 7; i++) must(syscall(SYS_unlinkat, AT_FDCWD, names[i], AT_REMOVEDIR) == 0);
        must(RMDIR("data") == -1 && errno == ENOTDIR);
        must(SYMLINK("a") == 0 && SYMLINK("b") == 0 && syscall(SYS_symlinkat, "nowhere", AT_FDCWD, "c") == 0);
        must(SYMLINK("a") == -1 && errno == EEXIST);
        int fd = (int)syscall(SYS_openat, AT_FDCWD, "7", O_RDONLY | O_DIRECTORY);
        must(fd >= 0 && syscall(SYS_getdents64, fd, entries, sizeof entries) > 0 && syscall(SYS_getdents64, fd, entries, sizeof entries) == 0);
        must(syscall(SYS_getdents64, -1, entries, sizeof entries) == -1 && errno == EBADF);
        pthread_t other;
        must(pthread_create(&other, NULL, look_often, NULL) == 0);
        look_often(NULL);
        must(pthread_join(other, NULL) == 0);
        for (int i = 0; i < 3; i++) must(syscall(SYS_newfstatat, AT_FDCWD, "data", status, 0) == 0 && syscall(SYS_fstat, fd, status) == 0);
        for (int i = 0; i < 3; i++) must(syscall(SYS_statx, AT_FDCWD, "data", 0, 0x7ff, status) == 0);
        must(STAT("missing", status) == -1 && errno == ENOENT);
        syscall(SYS_exit_group, 0);
    }
    wait_for(child);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"sequential", sequential},
    {"random", random_access},
    {"append", appending},
    {"pread_pwrite", pread_pwrite},
    {"vectored", vectored},
    {"mmap", memory_mapped},
    {"sendfile", send_file},
    {"splice", spliced},
    {"copy_file_range", copy_range},
    {"io_uring", io_uring},
    {"io_uring_names", io_uring_names},
    {"io_uring_position", io_uring_position},
    {"o_tmpfile", o_tmpfile},
    {"rename_over", rename_over},
    {"hard_link", hard_link},
    {"unlink_while_open", unlink_while_open},
    {"dup", duplicated},
    {"fd_passing", fd_passing},
    {"threads", threads},
    {"fork_without_exec", fork_without_exec},
    {"vfork_exec", vfork_exec},
    {"exec_by_thread", exec_by_thread},
    {"shared_descriptors", shared_descriptors},
    {"deleted_cwd", deleted_cwd},
    {"long_path", long_path},
    {"longer_path", longer_path},
    {"non_utf8_path", non_utf8_path},
    {"special_path", special_path},
    {"truncate", truncated},
    {"sync", synced},
    {"failed_open", failed_open},
    {"short_read", short_read},
    {"failed_transfer", failed_transfer},
    {"close_range", range_closed},
    {"o_trunc", o_trunc},
    {"open_kinds", open_kinds},
    {"symlink", symlinked},
    {"special_names", special_names},
    {"directory_calls", directory_calls},
    {"not_recorded", not_recorded},
    {"many_small", many_small},
    {"direct", direct},
    {"o_path", o_path},
    {"chroot", in_chroot},
    {"aio", aio},
};

static void tell(int fd) {
    size_t at = 0, used = atomic_load(&book->used);
    while (at < used) {
        ssize_t done = write(fd, book->text + at, used - at);
        if (done <= 0) fail("the expectations cannot be written: %s", strerror(errno));
        at += (size_t)done;
    }
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) puts(cases[i].name);
        return 0;
    }
    if (count == 7 && strcmp(arguments[1], "--resume") == 0) {
        open_book(atoi(arguments[4]));
        int fd = atoi(arguments[5]);
        keep(fd, atoi(arguments[6]));
        introduce();
        resumed(fd);
        tell(atoi(arguments[3]));
        return 0;
    }
    const char *expect = NULL;
    if (count == 4 && strcmp(arguments[2], "--expect") == 0) {
        expect = arguments[3];
    } else if (count != 2) {
        fprintf(stderr, "usage: operations --list | CASE [--expect FILE]\n");
        return FAILED;
    }
    /* It is opened when the current directory may be another. */
    if (expect != NULL && expect[0] != '/') fail("%s is not an absolute path", expect);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, arguments[1]) != 0) continue;
        for (size_t byte = 0; byte < sizeof buffer; byte++) buffer[byte] = (char)('A' + byte % 26);
        open_book(1);
        introduce();
        cases[i].run();
        int fd = expect == NULL ? 1 : open(expect, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0) fail("%s: %s", expect, strerror(errno));
        tell(fd);
        return 0;
    }
    fail("no case is named %s", arguments[1]);
}
