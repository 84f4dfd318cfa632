/*
 * What programs see of locks: locks CASE [DIRECTORY], in an empty directory (a case of two file
 * systems takes the other one). Each case prints what it sees, and must print the same on each file
 * system. Exit code 2 when a case could not be set up.
 *
 *   locks hold KIND FILE     locks the first ten bytes of a file (posix, ofd) or the file (flock),
 *                            prints `held` and holds the lock until its input ends
 *   locks try KIND FILE      prints whether that lock can be had
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

enum kind { POSIX, OFD, FLOCK };
static const char *const names[] = {"posix", "ofd", "flock"};

static int open_file(const char *name) {
    int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(file >= 0);
    return file;
}

/* A lock of bytes, a length of 0 for all from the first on. */
static int range(enum kind kind, int file, int wait, short type, off_t first, off_t length) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = length};
    if (kind == FLOCK) {
        int operation = type == F_UNLCK ? LOCK_UN : type == F_RDLCK ? LOCK_SH : LOCK_EX;
        return flock(file, operation | (wait ? 0 : LOCK_NB));
    }
    if (kind == OFD) return fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    return fcntl(file, wait ? F_SETLKW : F_SETLK, &lock);
}

static int whole(enum kind kind, int file, short type) {
    return range(kind, file, 0, type, 0, 0);
}

static const char *result(int returned) {
    /* Both are said of a lock that another has. */
    return returned == 0 ? "done" : strerror(errno == EACCES ? EAGAIN : errno);
}

static void print(const char *what, int returned) {
    printf("%s: %s\n", what, result(returned));
    fflush(stdout);
}

/* Another process tries a lock. */
static const char *other(const char *name, enum kind kind, short type, off_t first, off_t length) {
    int status;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        int file = open_file(name);
        _exit(range(kind, file, 0, type, first, length) == 0 ? 0 : errno);
    }
    must(waitpid(child, &status, 0) == child && WIFEXITED(status));
    errno = WEXITSTATUS(status);
    return result(errno == 0 ? 0 : -1);
}

static void print_other(const char *what, const char *name, enum kind kind, off_t first, off_t length) {
    const char *reads = other(name, kind, F_RDLCK, first, length);
    printf("%s: another reads: %s, ", what, reads);
    printf("writes: %s\n", other(name, kind, F_WRLCK, first, length));
    fflush(stdout);
}

static void ended(pid_t child, int code) {
    int status;
    must(waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) != code) printf("a child ends with %d\n", WEXITSTATUS(status));
}

static void sleep_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0) {}
}

/* The last descriptor of an open file is closed: its lock is gone when close(2) returns. */
static int last_close(void) {
    for (enum kind kind = OFD; kind <= FLOCK; kind++) {
        int refused = 0;
        for (int i = 0; i < 300; i++) {
            int one = open_file("file"), two = open_file("file");
            must(whole(kind, one, F_WRLCK) == 0);
            must(whole(kind, two, F_WRLCK) != 0 && errno == EAGAIN);
            must(close(one) == 0);
            refused += whole(kind, two, F_WRLCK) != 0;
            must(close(two) == 0);
        }
        printf("%s: %d of 300 locks stay after the last close\n", names[kind], refused);
        int one = open_file("file"), same = dup(one), two = open_file("file");
        must(whole(kind, one, F_WRLCK) == 0);
        must(close(one) == 0);
        print("after a close of two", whole(kind, two, F_WRLCK));
        pid_t child = fork();
        if (child == 0) {
            sleep_ms(150);
            _exit(0);
        }
        must(close(same) == 0);
        print("while a child has it", whole(kind, two, F_WRLCK));
        ended(child, 0);
        print("when the child is gone", whole(kind, two, F_WRLCK));
        char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, two, 0);
        must(map != MAP_FAILED && close(two) == 0);
        int three = open_file("file");
        print("while it is mapped", whole(kind, three, F_WRLCK));
        must(munmap(map, 4096) == 0);
        print("when it is not mapped any more", whole(kind, three, F_WRLCK));
        close(three);
    }
    return 0;
}

/* Any descriptor that a process closes ends its POSIX locks on the file, and so does its end. */
static int process_end(void) {
    int one = open_file("file"), two = open_file("file");
    must(whole(POSIX, one, F_WRLCK) == 0);
    print_other("held", "file", POSIX, 0, 0);
    must(close(two) == 0);
    print_other("another descriptor was closed", "file", POSIX, 0, 0);
    for (int way = 0; way < 3; way++) {
        int go[2], done[2];
        char byte;
        must(pipe2(go, O_CLOEXEC) == 0 && pipe2(done, O_CLOEXEC) == 0);
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            int file = open_file("file");
            must(whole(POSIX, file, F_WRLCK) == 0 && write(done[1], "x", 1) == 1);
            must(read(go[0], &byte, 1) == 1);
            /* The descriptor is closed on exec. */
            if (way == 0) execlp("sleep", "sleep", "0.3", NULL);
            if (way == 1) raise(SIGKILL);
            _exit(0);
        }
        must(close(done[1]) == 0 && read(done[0], &byte, 1) == 1);
        print_other("a child has it", "file", POSIX, 0, 0);
        must(write(go[1], "x", 1) == 1);
        /* With the exec, or with its end, its end of the pipe goes. */
        must(read(done[0], &byte, 1) == 0);
        sleep_ms(50);
        print_other(way == 0 ? "it has become another program" : way == 1 ? "it was killed" : "it has ended", "file", POSIX, 0, 0);
        must(waitpid(child, NULL, 0) == child);
        close(go[0]), close(go[1]), close(done[0]);
    }
    must(whole(POSIX, one, F_WRLCK) == 0);
    pid_t child = fork();
    if (child == 0) {
        print("a child has no lock of its parent", whole(POSIX, one, F_WRLCK));
        must(close(one) == 0);
        _exit(0);
    }
    ended(child, 0);
    print_other("the child has closed it", "file", POSIX, 0, 0);
    return 0;
}

static void print_blocker(const char *what, int file, int command, short type, off_t first, off_t length, pid_t holder) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = length};
    must(fcntl(file, command, &lock) == 0);
    if (lock.l_type == F_UNLCK) printf("%s: nobody\n", what);
    else printf("%s: type %d from %ld, length %ld, %s\n", what, lock.l_type, (long)lock.l_start, (long)lock.l_len,
                holder == 0 ? "" : lock.l_pid == holder ? "the holder" : "somebody else");
    fflush(stdout);
}

static int who_has_it(void) {
    int file = open_file("file"), same = open_file("file");
    pid_t me = getpid();
    must(range(POSIX, file, 0, F_WRLCK, 10, 10) == 0 && range(POSIX, file, 0, F_RDLCK, 30, 0) == 0);
    print_blocker("one's own", file, F_GETLK, F_WRLCK, 0, 0, me);
    pid_t child = fork();
    if (child == 0) {
        int mine = open_file("file");
        print_blocker("to read all", mine, F_GETLK, F_RDLCK, 0, 0, me);
        print_blocker("to write all", mine, F_GETLK, F_WRLCK, 0, 0, me);
        print_blocker("to read a part", mine, F_GETLK, F_RDLCK, 30, 5, me);
        print_blocker("to write a part", mine, F_GETLK, F_WRLCK, 100, 5, me);
        print_blocker("to write between", mine, F_GETLK, F_WRLCK, 20, 10, me);
        print_blocker("with an open file", mine, F_OFD_GETLK, F_WRLCK, 0, 0, 0);
        _exit(0);
    }
    ended(child, 0);
    print_blocker("the same process, another open file", same, F_OFD_GETLK, F_WRLCK, 0, 15, 0);
    return 0;
}

/* Locks split, merge and change their kind. */
static int parts(void) {
    for (enum kind kind = POSIX; kind <= OFD; kind++) {
        int file = open_file("file");
        must(range(kind, file, 0, F_WRLCK, 0, 100) == 0);
        must(range(kind, file, 0, F_UNLCK, 40, 20) == 0);
        print_other("before the hole", "file", kind, 0, 40);
        print_other("in the hole", "file", kind, 40, 20);
        print_other("over its edge", "file", kind, 59, 2);
        must(range(kind, file, 0, F_RDLCK, 30, 40) == 0);
        print_other("read", "file", kind, 30, 40);
        print_other("still written", "file", kind, 29, 1);
        must(range(kind, file, 0, F_WRLCK, 30, 40) == 0);
        print_other("written again", "file", kind, 50, 1);
        must(range(kind, file, 0, F_UNLCK, 1, 0) == 0);
        print_other("all but the first", "file", kind, 1, 0);
        print_other("the first", "file", kind, 0, 1);
        print("far out", range(kind, file, 0, F_WRLCK, 0x7ffffffffffffffeL, 0));
        print_other("far out", "file", kind, 0x7fffffffffffff00L, 0);
        must(close(file) == 0);
        /* Two read; neither may write, and what one gives up the other keeps. */
        int one = open_file("file"), two = open_file("file");
        must(range(OFD, one, 0, F_RDLCK, 0, 10) == 0 && range(OFD, two, 0, F_RDLCK, 5, 10) == 0);
        print("one of two writes", range(OFD, one, 0, F_WRLCK, 0, 10));
        print("where it is alone", range(OFD, one, 0, F_WRLCK, 0, 5));
        print("gives up", range(OFD, one, 0, F_UNLCK, 0, 0));
        print_other("what the other has", "file", kind, 5, 10);
        print_other("what it has not", "file", kind, 0, 5);
        print("the other writes", range(OFD, two, 0, F_WRLCK, 0, 0));
        close(one), close(two);
        int reader = open("file", O_RDONLY);
        print("a reader reads", range(kind, reader, 0, F_RDLCK, 0, 0));
        print("a reader writes", range(kind, reader, 0, F_WRLCK, 0, 0));
        int writer = open("file", O_WRONLY);
        print("a writer reads", range(kind, writer, 0, F_RDLCK, 0, 0));
        print("nonsense", range(kind, reader, 0, F_RDLCK, -5, 0));
        close(reader);
        print("a writer writes", range(kind, writer, 0, F_WRLCK, 0, 0));
        close(writer);
    }
    return 0;
}

static int conversion(void) {
    int one = open_file("file"), two = open_file("file"), three = open_file("file");
    print("one reads", flock(one, LOCK_SH | LOCK_NB));
    print("two reads", flock(two, LOCK_SH | LOCK_NB));
    print("one writes", flock(one, LOCK_EX | LOCK_NB));
    must(flock(two, LOCK_UN) == 0);
    print("three writes", flock(three, LOCK_EX | LOCK_NB));
    print("three reads again", flock(three, LOCK_SH | LOCK_NB));
    print("one reads too", flock(one, LOCK_SH | LOCK_NB));
    print("POSIX locks are others", whole(POSIX, two, F_WRLCK));
    return 0;
}

static volatile sig_atomic_t caught;
static void count(int signal) {
    (void)signal;
    caught++;
}

/* Who waits goes on when the lock goes, and ends by a signal. */
static int waiting(void) {
    for (enum kind kind = POSIX; kind <= FLOCK; kind++) {
        int file = open_file("file"), ends[2];
        must(pipe(ends) == 0 && whole(kind, file, F_WRLCK) == 0);
        pid_t child = fork();
        if (child == 0) {
            int mine = open_file("file");
            must(write(ends[1], "x", 1) == 1);
            must(range(kind, mine, 1, F_WRLCK, 0, 0) == 0 && write(ends[1], "y", 1) == 1);
            _exit(0);
        }
        char byte;
        must(read(ends[0], &byte, 1) == 1);
        sleep_ms(100);
        print("while it waits", waitpid(child, NULL, WNOHANG));
        must(whole(kind, file, F_UNLCK) == 0);
        must(read(ends[0], &byte, 1) == 1 && byte == 'y');
        ended(child, 0);
        must(whole(kind, file, F_WRLCK) == 0);
        for (int again = 0; again < 2; again++) {
            child = fork();
            if (child == 0) {
                struct sigaction action = {.sa_handler = count, .sa_flags = again ? SA_RESTART : 0};
                must(sigaction(SIGALRM, &action, NULL) == 0);
                struct itimerval often = {{0, 30000}, {0, 30000}};
                int mine = open_file("file");
                must(setitimer(ITIMER_REAL, &often, NULL) == 0);
                int returned = range(kind, mine, 1, F_WRLCK, 0, 0);
                int error = errno;
                struct itimerval never = {{0, 0}, {0, 0}};
                must(setitimer(ITIMER_REAL, &never, NULL) == 0);
                errno = error;
                print(again ? "begun again" : "interrupted", returned);
                _exit(caught == 0);
            }
            if (again) {
                sleep_ms(200);
                must(whole(kind, file, F_UNLCK) == 0);
            }
            ended(child, 0);
        }
        must(whole(kind, file, F_WRLCK) == 0);
        child = fork();
        if (child == 0) {
            range(kind, open_file("file"), 1, F_WRLCK, 0, 0);
            _exit(1);
        }
        sleep_ms(100);
        int status;
        must(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        must(whole(kind, file, F_UNLCK) == 0);
        print_other("who was killed has nothing", "file", kind, 0, 0);
        close(file);
    }
    return 0;
}

/* Each of a circle has a byte and waits for the next one's. */
static void circle(const char *what, const char *const files[], int members, enum kind kind, short first) {
    int ready[2], go[2], ends[2];
    must(pipe(ready) == 0 && pipe(go) == 0 && pipe(ends) == 0);
    for (int member = 0; member < members; member++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            int mine = open_file(files[member]), next = open_file(files[(member + 1) % members]);
            off_t place = first == F_RDLCK ? 0 : 10 * member, others = first == F_RDLCK ? 0 : 10 * ((member + 1) % members);
            must(range(kind, mine, 0, first, place, 1) == 0 && write(ready[1], "x", 1) == 1);
            char byte;
            must(read(go[0], &byte, 1) == 1);
            sleep_ms(30 * member);
            alarm(2);
            struct sigaction action = {.sa_handler = count};
            must(sigaction(SIGALRM, &action, NULL) == 0);
            int returned = range(kind, next, 1, F_WRLCK, others, 1);
            byte = returned == 0 ? 'd' : errno == EDEADLK ? 'E' : errno == EINTR ? 'i' : '?';
            must(write(ends[1], &byte, 1) == 1);
            /* Its locks go with its end. */
            _exit(0);
        }
    }
    char byte, all[16] = {0};
    for (int member = 0; member < members; member++) must(read(ready[0], &byte, 1) == 1);
    for (int member = 0; member < members; member++) must(write(go[1], "x", 1) == 1);
    for (int member = 0; member < members; member++) must(read(ends[0], &all[member], 1) == 1);
    for (int member = 0; member < members; member++) must(wait(NULL) > 0);
    int deadlocks = 0, done = 0, hung = 0;
    for (int member = 0; member < members; member++) {
        deadlocks += all[member] == 'E';
        done += all[member] == 'd';
        hung += all[member] == 'i';
    }
    printf("%s: %d of %d got EDEADLK, %d the lock, %d waited in vain\n", what, deadlocks, members, done, hung);
    fflush(stdout);
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]), close(ends[0]), close(ends[1]);
}

static int deadlocks(void) {
    const char *const one[] = {"file", "file", "file", "file", "file", "file"};
    const char *const several[] = {"a", "b", "c", "d", "e", "f"};
    circle("two", one, 2, POSIX, F_WRLCK);
    circle("five", one, 5, POSIX, F_WRLCK);
    circle("two files", several, 2, POSIX, F_WRLCK);
    circle("five files", several, 5, POSIX, F_WRLCK);
    circle("two open files", one, 2, OFD, F_WRLCK);
    /* One waits for what another has by an open file: no circle. */
    int file = open_file("file");
    must(range(POSIX, file, 0, F_WRLCK, 0, 1) == 0);
    pid_t child = fork();
    if (child == 0) {
        int mine = open_file("file");
        must(range(POSIX, mine, 0, F_WRLCK, 5, 1) == 0);
        print("a line", range(POSIX, mine, 1, F_WRLCK, 0, 1));
        _exit(0);
    }
    sleep_ms(100);
    print("its other end", range(POSIX, file, 0, F_WRLCK, 7, 1));
    must(range(POSIX, file, 0, F_UNLCK, 0, 0) == 0);
    ended(child, 0);
    return 0;
}

/* Both read and both want to write. */
static int upgrades(void) {
    const char *const one[] = {"file", "file"};
    circle("two readers", one, 2, POSIX, F_RDLCK);
    return 0;
}

/* Over two file systems, or two overlays. */
static const char *elsewhere;
static int two_places(void) {
    char there[4096];
    snprintf(there, sizeof there, "%s/file", elsewhere);
    const char *const files[] = {"file", there};
    circle("two places", files, 2, POSIX, F_WRLCK);
    return 0;
}

/* Processes that count beside each other. */
static int counter(void) {
    for (enum kind kind = POSIX; kind <= FLOCK; kind++) {
        int file = open_file("counter");
        must(ftruncate(file, 0) == 0 && pwrite(file, "0\n", 2, 0) == 2);
        for (int process = 0; process < 8; process++) {
            if (fork() != 0) continue;
            int mine = open_file("counter");
            for (int i = 0; i < 50; i++) {
                char text[32] = {0};
                must(range(kind, mine, 1, F_WRLCK, 0, 0) == 0);
                must(pread(mine, text, sizeof text - 1, 0) > 0);
                int length = snprintf(text, sizeof text, "%ld\n", atol(text) + 1);
                must(pwrite(mine, text, length, 0) == length);
                must(whole(kind, mine, F_UNLCK) == 0);
            }
            _exit(0);
        }
        for (int process = 0; process < 8; process++) {
            int status;
            must(wait(&status) > 0 && status == 0);
        }
        char text[32] = {0};
        must(pread(file, text, sizeof text - 1, 0) > 0);
        printf("%s: %ld\n", names[kind], atol(text));
        must(close(file) == 0);
    }
    return 0;
}

static int leases(void) {
    int file = open_file("file");
    print("a lease", fcntl(file, F_SETLEASE, F_WRLCK));
    printf("it is %d\n", fcntl(file, F_GETLEASE));
    print("it ends", fcntl(file, F_SETLEASE, F_UNLCK));
    int two = open_file("file");
    print("with two open files", fcntl(file, F_SETLEASE, F_WRLCK));
    close(two);
    return 0;
}

/* A program that is locked for reading can still be executed. */
static int program(void) {
    must(system("cp /bin/true program") == 0);
    int file = open("program", O_RDONLY);
    must(file >= 0);
    print("a lock for reading", whole(POSIX, file, F_RDLCK));
    printf("the program ends with %d\n", WEXITSTATUS(system("./program")));
    return 0;
}

static enum kind kind_of(const char *name) {
    for (enum kind kind = POSIX; kind <= FLOCK; kind++)
        if (strcmp(names[kind], name) == 0) return kind;
    fprintf(stderr, "locks: no kind of lock is called %s\n", name);
    _exit(2);
}

static int hold(enum kind kind, const char *name) {
    int file = open_file(name);
    must(range(kind, file, 0, F_WRLCK, 0, 10) == 0);
    printf("held by %d\n", getpid());
    fflush(stdout);
    char byte;
    while (read(0, &byte, 1) > 0) {}
    return 0;
}

static int try(enum kind kind, const char *name) {
    int file = open_file(name);
    print("to write", range(kind, file, 0, F_WRLCK, 0, 10));
    if (kind == FLOCK) return 0;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    must(fcntl(file, F_GETLK, &lock) == 0);
    printf("by %d, length %ld\n", lock.l_type == F_UNLCK ? 0 : lock.l_pid, (long)lock.l_len);
    print("what is not locked", range(kind, file, 0, F_WRLCK, 10, 10));
    return 0;
}

int main(int argc, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {
        {"last_close", last_close}, {"process_end", process_end}, {"who_has_it", who_has_it}, {"parts", parts},
        {"conversion", conversion}, {"waiting", waiting}, {"deadlocks", deadlocks}, {"upgrades", upgrades},
        {"two_places", two_places}, {"counter", counter}, {"leases", leases}, {"program", program},
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 4 && strcmp(arguments[1], "hold") == 0) return hold(kind_of(arguments[2]), arguments[3]);
    if (argc == 4 && strcmp(arguments[1], "try") == 0) return try(kind_of(arguments[2]), arguments[3]);
    elsewhere = argc == 3 ? arguments[2] : ".";
    for (size_t i = 0; argc >= 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, arguments[1]) == 0) return cases[i].run();
    }
    fprintf(stderr, "usage: locks CASE [DIRECTORY]\n");
    return 2;
}
