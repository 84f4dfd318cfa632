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
for name in scheduler dag-processor api-server; do lab_stop "$name" 15 || rc=1; done
lab_end_strays 5 || rc=1
exit "$rc"
