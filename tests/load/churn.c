/* churn FILES DIR THREADS: each thread makes FILES files in DIR, writes 34 bytes into each, reads them, closes and removes it.
 * churn --32-bit FILE: opens, writes 10 bytes, closes and removes FILE by calls of 32-bit programs (int 0x80), and writes to a pipe. Ends with 77 where the kernel has none. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int files;
static const char *dir;

static void *churn(void *number)
{
	char path[4096], bytes[34] = {1};
	for (int i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "%s/%ld-%d", dir, (long)number, i);
		int file = open(path, O_CREAT | O_RDWR, 0600);
		if (file < 0 || write(file, bytes, 34) != 34 || lseek(file, 0, SEEK_SET) || read(file, bytes, 34) != 34 || close(file) || unlink(path))
			exit(1);
	}
	return 0;
}

#ifdef __x86_64__
static void none(int signal)
{
	(void)signal;
	_exit(77);
}

static int call(int number, int a, int b, int c)
{
	int result;
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static int calls(const char *path)
{
	signal(SIGSEGV, none);
	char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int ends[2];
	if (low == MAP_FAILED || pipe(ends))
		return 1;
	strcpy(low, path);
	int name = (int)(long)low, file = call(5, name, O_CREAT | O_RDWR, 0600);
	if (file == -38)
		return 77;
	/* Not counted: a pipe is no file that is recorded, and getpid(2) is about none. */
	call(4, ends[1], name, 1);
	call(20, 0, 0, 0);
	return file < 0 || call(4, file, name, 10) != 10 || call(6, file, 0, 0) || call(10, name, 0, 0);
}
#else
static int calls(const char *path)
{
	(void)path;
	return 77;
}
#endif

int main(int count, char **arguments)
{
	if (count == 3 && !strcmp(arguments[1], "--32-bit"))
		return calls(arguments[2]);
	if (count != 4)
		return 2;
	pthread_t threads[64];
	int most = atoi(arguments[3]);
	files = atoi(arguments[1]);
	dir = arguments[2];
	for (long i = 0; i < most; i++)
		pthread_create(&threads[i], 0, churn, (void *)i);
	for (int i = 0; i < most; i++)
		pthread_join(threads[i], 0);
	return 0;
}
