#!/usr/bin/env bash
# Waits until the DAG run of a lab of airflow-up.sh has ended.
# In: DIR. Fails when it has not within four minutes, or when the scheduler has ended.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
lab_dir "${1-}"
# The scheduler says this once, after the last task.
ended() { grep -q 'DagRun Finished: dag_id=known_work' "$LAB/log/scheduler.out"; }
lab_wait "end of the DAG run" 240 scheduler "$LAB/log/dag-processor.out" ended
