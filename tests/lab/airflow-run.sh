#!/usr/bin/env bash
# Airflow up, its DAG run to the end, Airflow down: one command that `flowmine trace` can run.
# In and out: as airflow-up.sh.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
lab_dir "${1-}"
trap '"$here/airflow-down.sh" "$LAB"' EXIT
trap 'exit 130' INT TERM
"$here/airflow-up.sh" "$@"
"$here/airflow-wait.sh" "$LAB"
