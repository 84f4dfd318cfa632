/* A command that serves a file system of FUSE itself: `served SECONDS [apart]` in an empty directory
 * as root. The server is one of its processes, and does its own calls to answer; others use its
 * files. SECONDS is how long the kernel may remember an answer. With `apart` it mounts in a mount
 * namespace of its own. What is seen is printed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "must.h"

enum { NODES = 32, LARGEST = 1 << 16 };

/* The names of the nodes, which are all in one directory, the node 1. */
static char names[NODES][64];
static int device, back;
static uint64_t seconds;
static _Alignas(8) char request[LARGEST + 4096];

static void answer(uint64_t unique, int error, const void *data, size_t size)
{
    struct fuse_out_header header = {.unique = unique, .error = error};
    header.len = sizeof header + (error ? 0 : size);
    struct iovec parts[2] = {{&header, sizeof header}, {(void *)data, error ? 0 : size}};
    /* A request that was interrupted is not waited for any more. */
    must(writev(device, parts, 2) == header.len || errno == ENOENT);
}

static uint64_t node_of(const char *name)
{
    for (uint64_t node = 2; node < NODES; node++) {
        if (!names[node][0])
            strncpy(names[node], name, sizeof names[node] - 1);
        if (!strcmp(names[node], name))
            return node;
    }
    must(!"a node is left");
    return 0;
}

static void set_name(uint64_t node, const char *name)
{
    strncpy(names[node], name, sizeof names[node] - 1);
}

static int attributes(uint64_t node, int open_file, struct fuse_attr *to)
{
    struct stat stat;
    const char *name = node == 1 ? "." : names[node];
    if (open_file >= 0 ? fstat(open_file, &stat) : fstatat(back, name, &stat, AT_SYMLINK_NOFOLLOW))
        return -errno;
    *to = (struct fuse_attr){.ino = node, .size = stat.st_size, .mode = stat.st_mode, .nlink = 1};
    return 0;
}

static int entry(const char *name, struct fuse_entry_out *to)
{
    *to = (struct fuse_entry_out){.entry_valid = seconds, .attr_valid = seconds};
    to->nodeid = node_of(name);
    return attributes(to->nodeid, -1, &to->attr);
}

static int renamed(const char *old)
{
    const char *new = old + strlen(old) + 1;
    if (renameat(back, old, back, new))
        return -errno;
    uint64_t moved = node_of(old), replaced = node_of(new);
    set_name(replaced, "(gone)");
    set_name(moved, new);
    return 0;
}

/* Answers one request; 0 when there will be no more. */
static int serve_one(void)
{
    ssize_t size = read(device, request, sizeof request);
    if (size < 0)
        return errno == EINTR || errno == ENOENT || errno == EAGAIN;
    struct fuse_in_header *header = (void *)request;
    void *in = header + 1;
    uint64_t unique = header->unique;
    static char data[LARGEST];
    int result = 0;
    switch (header->opcode) {
    case FUSE_INIT: {
        struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = 31};
        out.max_write = LARGEST;
        answer(unique, 0, &out, sizeof out);
        return 1;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
        return 1;
    case FUSE_LOOKUP: {
        struct fuse_entry_out out;
        result = entry(in, &out);
        answer(unique, result, &out, sizeof out);
        return 1;
    }
    case FUSE_GETATTR: {
        struct fuse_getattr_in *ask = in;
        struct fuse_attr_out out = {.attr_valid = seconds};
        int open_file = ask->getattr_flags & FUSE_GETATTR_FH ? (int)ask->fh : -1;
        result = attributes(header->nodeid, open_file, &out.attr);
        answer(unique, result, &out, sizeof out);
        return 1;
    }
    case FUSE_SETATTR: {
        struct fuse_setattr_in *ask = in;
        struct fuse_attr_out out = {.attr_valid = seconds};
        if (ask->valid & FATTR_SIZE) {
            int file = openat(back, names[header->nodeid], O_WRONLY);
            result = file < 0 || ftruncate(file, ask->size) ? -errno : 0;
            close(file);
        }
        if (!result)
            result = attributes(header->nodeid, -1, &out.attr);
        answer(unique, result, &out, sizeof out);
        return 1;
    }
    case FUSE_OPEN: {
        struct fuse_open_in *ask = in;
        int file = openat(back, names[header->nodeid], ask->flags & O_ACCMODE);
        struct fuse_open_out out = {.fh = file};
        answer(unique, file < 0 ? -errno : 0, &out, sizeof out);
        return 1;
    }
    case FUSE_CREATE: {
        struct fuse_create_in *ask = in;
        struct {
            struct fuse_entry_out entry;
            struct fuse_open_out open;
        } out = {0};
        int file = openat(back, (char *)(ask + 1), O_CREAT | O_RDWR, ask->mode & 0777);
        result = file < 0 ? -errno : entry((char *)(ask + 1), &out.entry);
        out.open.fh = file;
        answer(unique, result, &out, sizeof out);
        return 1;
    }
    case FUSE_READ: {
        struct fuse_read_in *ask = in;
        ssize_t count = pread(ask->fh, data, ask->size < sizeof data ? ask->size : sizeof data, ask->offset);
        answer(unique, count < 0 ? -errno : 0, data, count);
        return 1;
    }
    case FUSE_WRITE: {
        struct fuse_write_in *ask = in;
        ssize_t count = pwrite(ask->fh, ask + 1, ask->size, ask->offset);
        struct fuse_write_out out = {.size = count};
        answer(unique, count < 0 ? -errno : 0, &out, sizeof out);
        return 1;
    }
    case FUSE_RELEASE:
        close(((struct fuse_release_in *)in)->fh);
        break;
    case FUSE_UNLINK:
        result = unlinkat(back, in, 0) ? -errno : 0;
        break;
    case FUSE_RENAME:
        result = renamed((char *)in + sizeof(struct fuse_rename_in));
        break;
    case FUSE_RENAME2:
        result = renamed((char *)in + sizeof(struct fuse_rename2_in));
        break;
    case FUSE_FLUSH:
    case FUSE_DESTROY:
        break;
    default:
        result = -ENOSYS;
    }
    answer(unique, result, NULL, 0);
    return header->opcode != FUSE_DESTROY;
}

static void put(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    must(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text) && !close(file));
}

static void show(const char *path)
{
    char text[100];
    int file = open(path, O_RDONLY);
    ssize_t count = file < 0 ? 0 : read(file, text, sizeof text);
    must(count >= 0);
    printf("%s: %.*s\n", path, (int)count, file < 0 ? "" : text);
    close(file);
}

/* A program that is a served file, and so are the names in it. */
static int as_program(void)
{
    must(!unlink("mnt/for-the-program"));
    show("mnt/in");
    return 0;
}

static void use(void)
{
    put("mnt/made", "first ");
    put("mnt/made", "second");
    show("mnt/made");
    show("mnt/in");
    show("mnt/none");
    must(!rename("mnt/made", "mnt/renamed"));
    must(!truncate("mnt/renamed", 5));
    must(!chdir("mnt"));
    show("renamed");
    must(!unlink("renamed"));
    must(!chdir(".."));
    put("mnt/for-the-program", "x");
    fflush(stdout);
    pid_t child = fork();
    must(child >= 0);
    if (!child) {
        execl("mnt/tool", "mnt/tool", NULL);
        must(!"the program runs");
    }
    int status;
    must(waitpid(child, &status, 0) == child && status == 0);
    /* Its files can be used when it is mounted no more. */
    int file = open("mnt/in", O_RDWR);
    must(file >= 0 && !umount2("mnt", MNT_DETACH));
    char text[10];
    int other = dup(file);
    printf("detached: %zd\n", pread(other, text, sizeof text, 0));
    must(!fsync(other) && !close(file) && !close(other));
}

static void copy_self(const char *to)
{
    int from = open("/proc/self/exe", O_RDONLY), file = open(to, O_WRONLY | O_CREAT, 0755);
    ssize_t count;
    while ((count = read(from, request, sizeof request)) > 0)
        must(write(file, request, count) == count);
    must(!count && !close(from) && !close(file));
}

int main(int argc, char **argv)
{
    if (!strcmp(argv[0], "mnt/tool"))
        return as_program();
    must(argc >= 2 && !mkdir("back", 0755) && !mkdir("mnt", 0755));
    seconds = strtoull(argv[1], NULL, 10);
    put("back/in", "content");
    copy_self("back/tool");
    char options[100];
    must((device = open("/dev/fuse", O_RDWR)) >= 0);
    must((back = open("back", O_RDONLY | O_DIRECTORY)) >= 0);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
    if (argc > 2)
        must(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    must(!mount("served", "mnt", "fuse.served", 0, options));
    pid_t server = fork();
    must(server >= 0);
    if (!server) {
        while (serve_one()) {
        }
        return 0;
    }
    close(device);
    use();
    int status;
    must(waitpid(server, &status, 0) == server && status == 0);
    return 0;
}
