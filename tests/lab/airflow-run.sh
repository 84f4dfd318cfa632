#!/usr/bin/env bash
# Airflow up, its DAG run to the end, Airflow down: one command that `flowmine trace` can run.
# In: as airflow-up.sh. Out: likewise. Fails when the DAG run has not ended within four minutes.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
lab_dir "${1-}"
trap '"$here/airflow-down.sh" "$LAB"' EXIT
trap 'exit 130' INT TERM
"$here/airflow-up.sh" "$@"
# The scheduler says this once, after the last task.
ended() { grep -q 'DagRun Finished: dag_id=known_work' "$LAB/log/scheduler.out"; }
lab_wait "end of the DAG run" 240 scheduler "$LAB/log/dag-processor.out" ended
