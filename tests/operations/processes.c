/*
 * Programs that make processes, threads and filters in unusual ways: processes CASE, in an empty
 * directory. Each case prints what it sees, and must print the same whether it is traced or not. A
 * file `by-…` has five bytes, written by a process that a tracer could miss. Exit code 2 when the
 * case could not be set up.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

/* The path of this program: the first thread's link in /proc goes with the first thread. */
static char self[4096];

/* Writes the five bytes; the error number if it cannot. */
static int leave(const char *name) {
    int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (file < 0) return errno;
    ssize_t written = write(file, "hello", 5);
    int error = written == 5 ? 0 : errno;
    return close(file) == 0 ? error : errno;
}

static void print_end(const char *what, pid_t child) {
    int status = 0;
    must(waitpid(child, &status, __WALL) == child);
    if (WIFEXITED(status)) printf("%s exits with %d (%s)\n", what, WEXITSTATUS(status), strerror(WEXITSTATUS(status)));
    else printf("%s ends by signal %d\n", what, WTERMSIG(status));
    fflush(stdout);
}

/* A system call whose first register is seen after it. */
static long call(long number, unsigned long *first, unsigned long second) {
#if defined(__x86_64__)
    long result;
    register unsigned long r10 __asm__("r10") = 0;
    register unsigned long r8 __asm__("r8") = 0;
    unsigned long rdi = *first;
    __asm__ volatile("syscall" : "=a"(result), "+D"(rdi) : "a"(number), "S"(second), "d"(0L), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
    *first = rdi;
    return result;
#else
    long result = syscall(number, *first, second, 0L, 0L, 0L);
    return result < 0 ? -errno : result;
#endif
}

static int by_clone(void) {
    unsigned long flags = CLONE_UNTRACED | SIGCHLD, first = flags;
    pid_t child = call(SYS_clone, &first, 0);
    must(child >= 0);
    if (child == 0) _exit(first == flags ? leave("by-clone") : 99);
    printf("the register is %s\n", first == flags ? "kept" : "changed");
    print_end("the child", child);
    return 0;
}

static struct clone_args structure = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};

static void by_structure(struct clone_args *arguments, const char *name) {
    unsigned long first = (unsigned long)arguments;
    pid_t child = call(SYS_clone3, &first, sizeof *arguments);
    must(child >= 0);
    int kept = first == (unsigned long)arguments && arguments->flags == CLONE_UNTRACED;
    if (child == 0) _exit(kept ? leave(name) : 99);
    printf("register and structure are %s\n", kept ? "kept" : "changed");
    print_end("the child", child);
}

static int by_clone3(void) {
    by_structure(&structure, "by-clone3");
    struct clone_args *constant = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(constant != MAP_FAILED);
    *constant = structure;
    must(mprotect(constant, 4096, PROT_READ) == 0);
    by_structure(constant, "by-constant");
    /* At the end of the memory that can be read. */
    char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(two != MAP_FAILED && mprotect(two + 4096, 4096, PROT_NONE) == 0);
    struct clone_args *last = (struct clone_args *)(two + 4096 - sizeof *last);
    *last = structure;
    by_structure(last, "by-last");
    unsigned long first = (unsigned long)&structure;
    printf("a structure that is too small: %ld\n", call(SYS_clone3, &first, 8));
    first = (unsigned long)&structure;
    printf("a structure that is too large: %ld\n", call(SYS_clone3, &first, 100000));
    first = 8;
    printf("a structure that is not there: %ld\n", call(SYS_clone3, &first, sizeof structure));
    return 0;
}

/* The stack ends where the call is made. */
static int no_stack(void) {
#if defined(__x86_64__)
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(pages != MAP_FAILED && mprotect(pages, 4096, PROT_NONE) == 0);
    unsigned long first = (unsigned long)&structure;
    long result;
    __asm__ volatile("mov %%rsp, %%rbx\n mov %3, %%rsp\n syscall\n mov %%rbx, %%rsp"
                     : "=a"(result), "+D"(first)
                     : "a"((long)SYS_clone3), "r"(pages + 4096 + 32), "S"(sizeof structure)
                     : "rbx", "rcx", "r11", "memory");
    must(result >= 0);
    int kept = first == (unsigned long)&structure && structure.flags == CLONE_UNTRACED;
    if (result == 0) _exit(kept ? leave("by-no-stack") : 99);
    printf("register and structure are %s\n", kept ? "kept" : "changed");
    print_end("the child", result);
#endif
    return 0;
}

static char stack[1 << 16] __attribute__((aligned(16)));

static int small_thread(void *name) {
    return leave(name);
}

static int as_thread(void) {
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_UNTRACED;
    must(clone(small_thread, stack + sizeof stack, flags, "by-thread") > 0);
    struct stat left;
    for (int i = 0; i < 2000 && (stat("by-thread", &left) != 0 || left.st_size != 5); i++) usleep(1000);
    must(stat("by-thread", &left) == 0);
    printf("the thread has written %ld\n", (long)left.st_size);
    usleep(20000);
    return 0;
}

static int becomes_program(void *nothing) {
    (void)nothing;
    execl(self, "processes", "leaves", "by-program", NULL);
    return 98;
}

static int as_vfork(void) {
    int flags = CLONE_VM | CLONE_VFORK | CLONE_UNTRACED | SIGCHLD;
    pid_t child = clone(becomes_program, stack + sizeof stack, flags, NULL);
    must(child > 0);
    print_end("the program", child);
    return 0;
}

static int with_tracer_flag(void) {
    unsigned long first = CLONE_UNTRACED | CLONE_PTRACE | SIGCHLD;
    pid_t child = call(SYS_clone, &first, 0);
    must(child >= 0);
    if (child == 0) _exit(leave("by-both"));
    print_end("the child", child);
    return 0;
}

static void nothing_to_do(int signal) {
    (void)signal;
}

/* A signal that arrives in the middle makes the call begin again. */
static int begun_again(void) {
    struct sigaction action = {.sa_handler = nothing_to_do, .sa_flags = SA_RESTART};
    must(sigaction(SIGALRM, &action, NULL) == 0);
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    must(setitimer(ITIMER_REAL, &often, NULL) == 0);
    int good = 0;
    for (int i = 0; i < 200; i++) {
        unsigned long first = i % 2 ? CLONE_UNTRACED | SIGCHLD : (unsigned long)&structure, before = first;
        pid_t child = i % 2 ? call(SYS_clone, &first, 0) : call(SYS_clone3, &first, sizeof structure);
        must(child >= 0);
        if (child == 0) _exit(first == before ? open("/dev/null", O_RDONLY) < 0 : 99);
        int status, end;
        while ((end = waitpid(child, &status, 0)) < 0 && errno == EINTR) {}
        good += end == child && status == 0 && first == before;
    }
    must(setitimer(ITIMER_REAL, &never, NULL) == 0);
    printf("%d of 200 children are good\n", good);
    return 0;
}

static void *clones(void *good) {
    for (int i = 0; i < 50; i++) {
        pid_t child = syscall(SYS_clone3, &structure, sizeof structure);
        if (child == 0) _exit(open("/dev/null", O_RDONLY) < 0);
        int status = -1;
        if (child > 0 && waitpid(child, &status, 0) == child && status == 0) ++*(int *)good;
    }
    return NULL;
}

/* Threads that use one structure at the same time. */
static int at_once(void) {
    pthread_t threads[4];
    int good[4] = {0};
    for (int i = 0; i < 4; i++) must(pthread_create(&threads[i], NULL, clones, &good[i]) == 0);
    for (int i = 0; i < 4; i++) must(pthread_join(threads[i], NULL) == 0);
    printf("%d of 200 children are good\n", good[0] + good[1] + good[2] + good[3]);
    return 0;
}

/* clone(2) as 32-bit programs make it. */
static int foreign(void) {
#if defined(__x86_64__)
    pid_t child = fork();
    if (child == 0) {
        long made;
        __asm__ volatile("int $0x80" : "=a"(made) : "a"(120L), "b"((long)(CLONE_UNTRACED | SIGCHLD)), "c"(0L), "d"(0L), "S"(0L), "D"(0L) : "r8", "r9", "r10", "r11", "memory");
        if (made == 0) _exit(leave("by-foreign"));
        must(made > 0);
        print_end("the child", made);
        _exit(0);
    }
    print_end("the caller", child);
#endif
    return 0;
}

static int in_namespaces(void) {
    unsigned long first = CLONE_UNTRACED | CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD;
    pid_t child = call(SYS_clone, &first, 0);
    if (child < 0) {
        printf("no namespaces: %s\n", strerror(-child));
        return 0;
    }
    if (child == 0) _exit(getpid() == 1 ? leave("by-namespace") : 99);
    print_end("the child", child);
    return 0;
}

/* The child has the same parent as its maker. */
static int as_brother(void) {
    int ends[2];
    must(pipe(ends) == 0);
    unsigned long first = CLONE_UNTRACED | CLONE_PARENT | SIGCHLD;
    pid_t child = call(SYS_clone, &first, 0);
    must(child >= 0);
    if (child == 0) _exit(leave("by-brother"));
    close(ends[1]);
    char byte;
    must(read(ends[0], &byte, 1) == 0);
    printf("the brother is gone\n");
    return 0;
}

static void *execs(void *nothing) {
    (void)nothing;
    execl(self, "processes", "leaves", "by-executing-thread", NULL);
    _exit(98);
}

static void *sleeps(void *nothing) {
    for (;;) pause();
    return nothing;
}

/* Another thread than the first becomes a program, while the first and others run or are gone. */
static int thread_executes(void) {
    for (int first_ends = 0; first_ends < 2; first_ends++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            pthread_t thread;
            for (int i = 0; i < 3; i++) must(pthread_create(&thread, NULL, sleeps, NULL) == 0);
            must(pthread_create(&thread, NULL, execs, NULL) == 0);
            if (first_ends) pthread_exit(NULL);
            pthread_join(thread, NULL);
            _exit(97);
        }
        print_end("the program", child);
    }
    return 0;
}

static void makes_one(int borrows) {
    pid_t child = borrows ? vfork() : fork();
    if (child == 0) _exit(0);
}

static int short_ones(void) {
    int good = 0;
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            makes_one(i % 2);
            _exit(i % 3 == 0);
        }
        int status;
        good += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == (i % 3 == 0);
    }
    printf("%d of 300 children are good\n", good);
    return 0;
}

/* A program of nobody's with the set-user-id bit. */
static int other_user(void) {
    char command[9000];
    snprintf(command, sizeof command, "cp '%s' program && chown 65534:65534 program 2> /dev/null && chmod 6755 program", self);
    if (system(command) != 0) {
        printf("files cannot be given away\n");
        return 0;
    }
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        execl("./program", "program", "user", NULL);
        _exit(98);
    }
    print_end("the program", child);
    return 0;
}

static int user(void) {
    printf("users %d %d, groups %d %d\n", getuid(), geteuid(), getgid(), getegid());
    return 0;
}

#define RULE(number, action)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)

static int filter(struct sock_filter *rules, size_t count, unsigned flags) {
    struct sock_fprog program = {count, rules};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void print_trap(int signal, siginfo_t *info, void *context) {
    (void)context;
    char text[100];
    int length = snprintf(text, sizeof text, "signal %d for call %d\n", signal, info->si_syscall == SYS_getuid);
    (void)!write(1, text, length);
}

static void print_result(const char *what, long result) {
    printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
    fflush(stdout);
}

/* Filters of the program's own: what they ask for happens, whoever else looks. */
static int own_filter(void) {
    struct sigaction action = {.sa_sigaction = print_trap, .sa_flags = SA_SIGINFO};
    must(sigaction(SIGSYS, &action, NULL) == 0);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        RULE(SYS_getppid, SECCOMP_RET_TRACE),
        RULE(SYS_getpgid, SECCOMP_RET_TRACE | 7),
        RULE(SYS_truncate, SECCOMP_RET_TRACE | 1),
        RULE(SYS_mkdirat, SECCOMP_RET_ERRNO | EDOM),
        RULE(SYS_getuid, SECCOMP_RET_TRAP),
        RULE(SYS_sync, SECCOMP_RET_LOG),
        RULE(SYS_getegid, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    must(leave("by-filtered") == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        must(filter(rules, sizeof rules / sizeof *rules, 0) == 0);
        print_result("a call for a tracer", syscall(SYS_getppid));
        print_result("one with a number", syscall(SYS_getpgid, 0));
        print_result("one that is recorded", syscall(SYS_truncate, "by-filtered", 1L));
        print_result("a call with an error", mkdirat(AT_FDCWD, "made", 0755));
        syscall(SYS_getuid);
        syscall(SYS_getegid);
        _exit(97);
    }
    print_end("the filtered", child);
    return 0;
}

static int listener;

static void *answers(void *nothing) {
    (void)nothing;
    for (;;) {
        struct seccomp_notif asked = {0};
        struct seccomp_notif_resp answer = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return NULL;
        answer.id = asked.id;
        if (asked.data.nr == SYS_getppid) answer.val = 4242;
        else answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void)!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/* Calls that a supervisor answers. */
static int supervised(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        RULE(SYS_getppid, SECCOMP_RET_USER_NOTIF),
        RULE(SYS_mkdirat, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    listener = filter(rules, sizeof rules / sizeof *rules, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    must(listener >= 0);
    pthread_t thread;
    must(pthread_create(&thread, NULL, answers, NULL) == 0);
    printf("the supervisor answers %ld\n", syscall(SYS_getppid));
    print_result("and lets a call go on", mkdirat(AT_FDCWD, "made", 0755));
    return 0;
}

/* Whether a program can trace its own child. */
static int traces(void) {
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno);
    print_end("who asks to be traced", child);
    return 0;
}

int main(int argc, char **arguments) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {
        {"by_clone", by_clone}, {"by_clone3", by_clone3}, {"no_stack", no_stack}, {"as_thread", as_thread},
        {"as_vfork", as_vfork}, {"with_tracer_flag", with_tracer_flag}, {"begun_again", begun_again},
        {"at_once", at_once}, {"foreign", foreign}, {"in_namespaces", in_namespaces}, {"as_brother", as_brother},
        {"thread_executes", thread_executes}, {"short_ones", short_ones}, {"other_user", other_user}, {"user", user},
        {"own_filter", own_filter}, {"supervised", supervised}, {"traces", traces},
    };
    must(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    if (argc == 3 && strcmp(arguments[1], "leaves") == 0) return leave(arguments[2]);
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, arguments[1]) == 0) return cases[i].run();
    }
    fprintf(stderr, "usage: processes CASE\n");
    return 2;
}
