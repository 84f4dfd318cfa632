/*
 * The program of the tasks in tests/integration/attribution: does to files what its arguments say, nothing else, and tells what it did.
 *
 *   work TRUTH TASK STEP...
 *
 *   read FILE SIZE                       from the beginning, in requests of SIZE, until a read returns 0
 *   pread FILE SIZE COUNT START STRIDE   COUNT reads, at START, START + STRIDE, …
 *   random FILE SIZE COUNT SEED          COUNT reads at made-up places (next_random)
 *   write FILE SIZE COUNT                makes the file or empties it, then COUNT writes
 *   append FILE SIZE COUNT               COUNT writes at the end of a file that exists
 *   update FILE SIZE COUNT START STRIDE  COUNT writes into a file that exists
 *   fork STEP... join                    a child does these steps and is waited for
 *   once FILE CODE                       ends with CODE if FILE does not exist, and makes it
 *   sleep MILLISECONDS
 *   serve SOCKET COUNT                   does `write` for COUNT clients, one after the other, on a stream socket of the Unix domain
 *   ask SOCKET FILE SIZE COUNT           is such a client: the bytes are written by the server
 *
 * TRUTH gets a line for each file when the program ends, however it ends; it must lie where a comparison does not look. The fields are
 * separated by tabs:
 *
 *   TASK PID FILE DEVICE INODE OPENS READ_CALLS READ_BYTES UNIQUE_READ_BYTES WRITE_CALLS WRITTEN_BYTES UNIQUE_WRITTEN_BYTES
 *
 * PID is as the program sees it. FILE is the name without directories, DEVICE and INODE are stat(2)'s. Bytes are what the calls returned. What children did is in it. A
 * program that does not reach its end (killed) tells nothing. To be linked statically: a loader would read libraries.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILES 16
#define FILE_BYTES (1 << 18)

struct file {
    char name[64];
    unsigned long long device, inode;
    long long opens, read_calls, read_bytes, write_calls, written_bytes;
    unsigned char read[FILE_BYTES], written[FILE_BYTES];
};
/* Shared with children, so that the one who tells knows all. */
static struct file *book;
static const char *truth, *task;
static char buffer[FILE_BYTES];

static void fail(const char *what) {
    fprintf(stderr, "work: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static void tell(void) {
    static char text[FILES * 256];
    size_t length = 0;
    for (struct file *file = book; file < book + FILES && file->name[0] != 0; file++) {
        long long unique_read = 0, unique_written = 0;
        for (int at = 0; at < FILE_BYTES; at++) {
            unique_read += file->read[at];
            unique_written += file->written[at];
        }
        length += snprintf(text + length, sizeof text - length, "%s\t%d\t%s\t%llu\t%llu\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\t%lld\n",
            task, getpid(), file->name, file->device, file->inode, file->opens, file->read_calls, file->read_bytes, unique_read,
            file->write_calls, file->written_bytes, unique_written);
    }
    int fd = open(truth, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length) fail(truth);
    close(fd);
}

static struct file *opened(const char *path, int flags, int *fd) {
    *fd = open(path, flags | O_CLOEXEC, 0666);
    if (*fd < 0) fail(path);
    struct stat status;
    if (fstat(*fd, &status) != 0) fail(path);
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    if (strlen(name) >= sizeof book->name) fail("the name is too long");
    for (struct file *file = book; file < book + FILES; file++) {
        if (file->name[0] == 0) {
            strcpy(file->name, name);
            file->device = status.st_dev;
            file->inode = status.st_ino;
        }
        if (file->device == status.st_dev && file->inode == status.st_ino) {
            file->opens++;
            return file;
        }
    }
    fail("too many files");
    return NULL;
}

/* A call that transferred `done` bytes at `offset`. */
static void mark(unsigned char *which, long long offset, ssize_t done, long long *calls, long long *bytes) {
    if (done < 0) fail("a read or write failed");
    if (offset + done > FILE_BYTES) fail("the file is too large");
    memset(which + offset, 1, done);
    *calls += 1;
    *bytes += done;
}

/* Knuth's MMIX generator. */
static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void do_read(const char *path, size_t size) {
    int fd;
    struct file *file = opened(path, O_RDONLY, &fd);
    long long offset = 0;
    ssize_t done;
    do {
        done = read(fd, buffer, size);
        mark(file->read, offset, done, &file->read_calls, &file->read_bytes);
        offset += done;
    } while (done > 0);
    close(fd);
}

static void do_pread(const char *path, size_t size, int count, long long start, long long stride) {
    int fd;
    struct file *file = opened(path, O_RDONLY, &fd);
    for (int i = 0; i < count; i++) {
        long long offset = start + i * stride;
        mark(file->read, offset, pread(fd, buffer, size, offset), &file->read_calls, &file->read_bytes);
    }
    close(fd);
}

static void do_random(const char *path, size_t size, int count, uint64_t seed) {
    int fd;
    struct file *file = opened(path, O_RDONLY, &fd);
    long long length = lseek(fd, 0, SEEK_END);
    for (int i = 0; i < count; i++) {
        long long offset = (long long)(next_random(&seed) % (uint64_t)length);
        mark(file->read, offset, pread(fd, buffer, size, offset), &file->read_calls, &file->read_bytes);
    }
    close(fd);
}

static void do_write(const char *path, int flags, size_t size, int count) {
    int fd;
    struct file *file = opened(path, O_WRONLY | flags, &fd);
    long long offset = lseek(fd, 0, SEEK_END);
    for (int i = 0; i < count; i++) {
        ssize_t done = write(fd, buffer, size);
        mark(file->written, offset, done, &file->write_calls, &file->written_bytes);
        offset += done;
    }
    close(fd);
}

static void do_update(const char *path, size_t size, int count, long long start, long long stride) {
    int fd;
    struct file *file = opened(path, O_WRONLY, &fd);
    for (int i = 0; i < count; i++) {
        long long offset = start + i * stride;
        mark(file->written, offset, pwrite(fd, buffer, size, offset), &file->write_calls, &file->written_bytes);
    }
    close(fd);
}

static struct sockaddr_un address(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) fail("the socket's path is too long");
    strcpy(address.sun_path, path);
    return address;
}

static void serve(const char *path, int count) {
    struct sockaddr_un at = address(path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 8) != 0) fail(path);
    for (int i = 0; i < count; i++) {
        char request[512], file[256];
        unsigned size, times;
        int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        ssize_t length = recv(client, request, sizeof request - 1, 0);
        if (length < 0) fail("recv");
        request[length] = 0;
        if (sscanf(request, "%255s %u %u", file, &size, &times) != 3 || size > FILE_BYTES) fail("a request");
        do_write(file, O_CREAT | O_TRUNC, size, (int)times);
        send(client, "done", 4, 0);
        close(client);
    }
    close(listening);
}

static void ask(const char *path, const char *file, const char *size, const char *count) {
    struct sockaddr_un at = address(path);
    char text[512];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) fail(path);
    int length = snprintf(text, sizeof text, "%s %s %s", file, size, count);
    if (send(fd, text, length, 0) != length || recv(fd, text, sizeof text, 0) != 4) fail("the server");
    close(fd);
}

static void do_once(const char *path, int code) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) return;
    if (fd < 0) fail(path);
    close(fd);
    tell();
    _exit(code);
}

static long long number(const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < 0) fail(text);
    return value;
}

static size_t request(const char *text) {
    long long size = number(text);
    if (size > FILE_BYTES) fail(text);
    return (size_t)size;
}

static void run(char **step, char **end);

/* The child does what is up to `join`. */
static char **do_fork(char **step, char **end) {
    char **join = step;
    while (join < end && strcmp(*join, "join") != 0) join++;
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        run(step, join);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the child");
    return join + 1;
}

static void run(char **step, char **end) {
    while (step < end) {
        const char *what = *step++;
        char **a = step;
        long words = end - step;
        if (strcmp(what, "read") == 0 && words >= 2) {
            do_read(a[0], request(a[1]));
            step += 2;
        } else if (strcmp(what, "pread") == 0 && words >= 5) {
            do_pread(a[0], request(a[1]), (int)number(a[2]), number(a[3]), number(a[4]));
            step += 5;
        } else if (strcmp(what, "random") == 0 && words >= 4) {
            do_random(a[0], request(a[1]), (int)number(a[2]), (uint64_t)number(a[3]));
            step += 4;
        } else if (strcmp(what, "write") == 0 && words >= 3) {
            do_write(a[0], O_CREAT | O_TRUNC, request(a[1]), (int)number(a[2]));
            step += 3;
        } else if (strcmp(what, "append") == 0 && words >= 3) {
            do_write(a[0], O_APPEND, request(a[1]), (int)number(a[2]));
            step += 3;
        } else if (strcmp(what, "update") == 0 && words >= 5) {
            do_update(a[0], request(a[1]), (int)number(a[2]), number(a[3]), number(a[4]));
            step += 5;
        } else if (strcmp(what, "fork") == 0) {
            step = do_fork(step, end);
        } else if (strcmp(what, "once") == 0 && words >= 2) {
            do_once(a[0], (int)number(a[1]));
            step += 2;
        } else if (strcmp(what, "sleep") == 0 && words >= 1) {
            usleep((useconds_t)number(a[0]) * 1000);
            step += 1;
        } else if (strcmp(what, "serve") == 0 && words >= 2) {
            serve(a[0], (int)number(a[1]));
            step += 2;
        } else if (strcmp(what, "ask") == 0 && words >= 4) {
            ask(a[0], a[1], a[2], a[3]);
            step += 4;
        } else {
            errno = EINVAL;
            fail(what);
        }
    }
}

int main(int count, char **arguments) {
    if (count < 3) {
        errno = EINVAL;
        fail("work TRUTH TASK STEP...");
    }
    truth = arguments[1];
    task = arguments[2];
    book = mmap(NULL, FILES * sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (book == MAP_FAILED) fail("mmap");
    run(arguments + 3, arguments + count);
    tell();
    return 0;
}
