/* waits MS THREADS: uses MS milliseconds of CPU time in each of so many threads, all on one processor, and prints its process number and how long
 * they waited for that, in nanoseconds, as the kernel reports it of each. With 0 threads the first one does it. It ends when its input does. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long used_ms;

static void *work(void *waited)
{
	struct timespec used;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < used_ms);
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%*s %lld", (long long *)waited) != 1)
		exit(2);
	fclose(file);
	return 0;
}

int main(int count, char **arguments)
{
	if (count != 3)
		return 1;
	used_ms = atol(arguments[1]);
	int threads = atoi(arguments[2]);
	cpu_set_t set;
	if (threads > 8 || sched_getaffinity(0, sizeof(set), &set))
		return 1;
	int first = 0;
	while (!CPU_ISSET(first, &set))
		first++;
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return 1;
	pthread_t all[8];
	long long waited[8] = {0}, sum = 0;
	if (!threads)
		work(&sum);
	for (int n = 0; n < threads; n++)
		if (pthread_create(&all[n], 0, work, &waited[n]))
			return 1;
	for (int n = 0; n < threads; n++) {
		pthread_join(all[n], 0);
		sum += waited[n];
	}
	printf("%d %lld\n", (int)getpid(), sum);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
