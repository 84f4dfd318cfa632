#!/usr/bin/env bash
# Ends what airflow-up.sh started in DIR, also after a bring-up that was killed half way, and leaves all files.
# In: DIR. Refuses: a directory that is not a lab. Ending an ended lab is no error.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
lab_dir "${1-}"
[ -e "$LAB" ] || exit 0
[ -e "$LAB/.flowmine-lab" ] || lab_die "$LAB is not a lab"
rc=0
# The scheduler first: it waits for its tasks, which talk to the API server.
for name in scheduler dag-processor api-server postgres; do lab_stop "$name" 15 || rc=1; done
# Their children that outlived them, and what runs in tasks.
# shellcheck disable=SC2038 # /proc paths have no spaces
here() { find /proc/[0-9]*/cwd -lname "$LAB/home" 2>/dev/null | cut -d/ -f3; }
for signal in TERM KILL; do
  for pid in $(here); do [ "$pid" = $$ ] || kill -s "$signal" "$pid" 2>/dev/null || true; done
  for ((n = 50; n > 0; n--)); do [ -n "$(here)" ] || break; sleep 0.1; done
done
lab_end_strays 5 || rc=1
exit "$rc"
