/*
 * set_user_id NAME=VALUE COMMAND: changes all its user ids to the effective one, sets a variable and
 * becomes a shell with the command. Installed set-user-id, it forges a claim in another's name.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int arguments_count, char **arguments)
{
	uid_t user = geteuid();
	if (arguments_count != 3) {
		fprintf(stderr, "usage: set_user_id NAME=VALUE COMMAND\n");
		return 2;
	}
	if (setresuid(user, user, user) || putenv(arguments[1])) {
		perror("set_user_id");
		return 1;
	}
	execl("/bin/sh", "sh", "-c", arguments[2], (char *)0);
	perror("/bin/sh");
	return 1;
}
