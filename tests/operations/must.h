/* What a test's program needs and does not get ends it with exit code 2. */
#ifndef MUST_H
#define MUST_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, strerror(errno));  \
            _exit(2);                                                                              \
        }                                                                                          \
    } while (0)

#endif
