#!/usr/bin/env bash
# Starts Airflow in DIR: its LocalExecutor, a metadata database of its own, on loopback, without examples, with the DAG of airflow/known_work.py,
# which begins to run at once. All it starts are its own children, so that `flowmine trace -- airflow-run.sh …` sees them.
# In: DIR, the virtual environment in which Airflow is installed, and `postgres` when its database shall not be SQLite. Out:
#   DIR/airflow          runs `airflow` with this set-up
#   DIR/home             AIRFLOW_HOME: airflow.db, logs/
#   DIR/database         its URL
#   DIR/work/truth       what the tasks did, by themselves: see airflow/work.sh
#   DIR/log              what the daemons print; scheduler.out is the scheduler's log
# Airflow 3 needs an API server, a DAG processor and a scheduler; Airflow 2 a scheduler, and for its LocalExecutor another database than SQLite.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
lab_dir "${1-}"
venv=$(realpath -- "${2:?which virtual environment? usage: ${0##*/} DIR VENV [postgres]}")
[ -x "$venv/bin/airflow" ] || lab_die "$venv has no airflow"
version=$("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("apache-airflow"))')
executor=LocalExecutor
case $version,${3-} in 2.*,) executor=SequentialExecutor;; esac
began=${EPOCHREALTIME/./}
lab_create
clean_up() {
  local rc=$?
  [ "$rc" = 0 ] || "$here/airflow-down.sh" "$LAB" || true
  exit "$rc"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

port=$(lab_free_ports) || lab_die "no free port"
rm -rf -- "$LAB/work" "$LAB/postgres"
mkdir -p "$LAB/home/dags" "$LAB/work"
cp "$here/airflow/known_work.py" "$LAB/home/dags/"
database=sqlite:///$LAB/home/airflow.db
if [ "${3-}" = postgres ]; then
  sql_port=$((port + 1))
  od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > "$LAB/etc/postgres-password"
  database=postgresql+psycopg2://airflow:$(cat "$LAB/etc/postgres-password")@127.0.0.1:$sql_port/postgres
  lab_start postgres "$here/postgres-start.sh" "$LAB" "$sql_port"
  lab_wait "answer from PostgreSQL" 60 postgres "" "$venv/bin/python" -c 'import sys, psycopg2; psycopg2.connect(sys.argv[1])' "${database/+psycopg2/}"
fi
printf '%s\n' "$database" > "$LAB/database"
chmod 600 "$LAB/database"
secret=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
# The API server's first answer to a task took longer than the 5 s that a task waits for it, on a machine that was busy.
{
  printf '#!/bin/bash\n'
  for setting in HOME="$LAB/home" AIRFLOW_HOME="$LAB/home" FLOWMINE_AIRFLOW_DATA="$LAB/work" FLOWMINE_AIRFLOW_WORK="$here/airflow/work.sh" \
    AIRFLOW__CORE__LOAD_EXAMPLES=False AIRFLOW__CORE__DAGS_FOLDER="$LAB/home/dags" AIRFLOW__CORE__EXECUTOR=$executor \
    AIRFLOW__CORE__PARALLELISM=4 AIRFLOW__DATABASE__SQL_ALCHEMY_CONN="$database" \
    AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS=True AIRFLOW__CORE__EXECUTION_API_SERVER_URL="http://127.0.0.1:$port/execution/" \
    AIRFLOW__API__HOST=127.0.0.1 AIRFLOW__API__PORT="$port" AIRFLOW__API__WORKERS=1 AIRFLOW__API__SECRET_KEY="$secret" \
    AIRFLOW__API_AUTH__JWT_SECRET="$secret$secret" AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC=1 AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT=60 AIRFLOW__USAGE_DATA_COLLECTION__ENABLED=False \
    PYTHONDONTWRITEBYTECODE=1 PATH="$venv/bin:$PATH" FLOWMINE_LAB_PROCESS="$LAB"; do
    printf 'export %q\n' "$setting"
  done
  # By its working directory airflow-down.sh knows what belongs to the lab: a title that a process sets overwrites its environment.
  printf 'cd %q && exec %q "$@"\n' "$LAB/home" "$venv/bin/airflow"
} > "$LAB/airflow"
chmod 700 "$LAB/airflow"

"$LAB/airflow" db migrate > "$LAB/log/migrate.out" 2>&1 || { lab_tail "$LAB/log/migrate.out"; lab_die "airflow db migrate failed"; }
case $version in
  2.*) lab_start scheduler "$LAB/airflow" scheduler --skip-serve-logs ;;
  *)
    lab_start api-server "$LAB/airflow" api-server --host 127.0.0.1 --port "$port"
    lab_start dag-processor "$LAB/airflow" dag-processor
    answers() { "$venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "http://127.0.0.1:$port/api/v2/monitor/health"; }
    lab_wait "answer from Airflow" 120 api-server "$LAB/log/api-server.out" answers
    lab_start scheduler "$LAB/airflow" scheduler --skip-serve-logs ;;
esac
trap - EXIT
lab_note "Airflow $version in $LAB after $(((${EPOCHREALTIME/./} - began) / 1000)) ms"
