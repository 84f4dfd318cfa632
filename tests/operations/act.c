/* Does what its arguments say, one step after another, for tests that know what must come out.
 *
 * open SLOT NAME FLAGS  flags of: r w, c (create), t (truncate), a (append); prints the inode
 * dup SLOT NEW          read SLOT SIZE    pread SLOT OFFSET SIZE    write SLOT SIZE    pwrite SLOT OFFSET SIZE
 * send FROM TO SIZE     sendfile from a slot to another
 * size SLOT SIZE        close SLOT        rename OLD NEW            unlink NAME
 * fork … done           a child does the steps in between, and is waited for
 *
 * A step that fails ends it with 1 and a line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[1 << 16];
static int slots[64];

static void must(long done, const char *step) {
    if (done < 0) {
        perror(step);
        exit(1);
    }
}

int main(int count, char **words) {
    for (int at = 1; at < count;) {
        const char *step = words[at++];
#define NEXT words[at++]
#define NUMBER atol(NEXT)
#define SLOT slots[NUMBER]
        if (!strcmp(step, "open")) {
            int *slot = &SLOT;
            const char *name = NEXT, *flags = NEXT;
            int how = strchr(flags, 'r') ? strchr(flags, 'w') ? O_RDWR : O_RDONLY : O_WRONLY;
            how |= (strchr(flags, 'c') ? O_CREAT : 0) | (strchr(flags, 't') ? O_TRUNC : 0) | (strchr(flags, 'a') ? O_APPEND : 0);
            must(*slot = open(name, how, 0644), name);
            struct stat about;
            must(fstat(*slot, &about), name);
            printf("%lu\n", (unsigned long)about.st_ino);
            fflush(stdout);
        } else if (!strcmp(step, "dup")) {
            int old = SLOT;
            must(SLOT = dup(old), step);
        } else if (!strcmp(step, "read")) {
            int slot = SLOT;
            must(read(slot, buffer, NUMBER), step);
        } else if (!strcmp(step, "pread")) {
            int slot = SLOT;
            long offset = NUMBER;
            must(pread(slot, buffer, NUMBER, offset), step);
        } else if (!strcmp(step, "write")) {
            int slot = SLOT;
            must(write(slot, buffer, NUMBER), step);
        } else if (!strcmp(step, "pwrite")) {
            int slot = SLOT;
            long offset = NUMBER;
            must(pwrite(slot, buffer, NUMBER, offset), step);
        } else if (!strcmp(step, "send")) {
            int from = SLOT, to = SLOT;
            must(sendfile(to, from, NULL, NUMBER), step);
        } else if (!strcmp(step, "size")) {
            int slot = SLOT;
            must(ftruncate(slot, NUMBER), step);
        } else if (!strcmp(step, "close")) {
            must(close(SLOT), step);
        } else if (!strcmp(step, "rename")) {
            const char *old = NEXT;
            must(rename(old, NEXT), old);
        } else if (!strcmp(step, "unlink")) {
            must(unlink(NEXT), step);
        } else if (!strcmp(step, "fork")) {
            pid_t child = fork();
            must(child, step);
            if (child > 0) {
                int status;
                must(waitpid(child, &status, 0), step);
                if (status != 0) return 1;
                for (int depth = 1; depth > 0; at++) depth += !strcmp(words[at], "fork") - !strcmp(words[at], "done");
            }
        } else if (!strcmp(step, "done")) {
            return 0;
        }
    }
    return 0;
}
