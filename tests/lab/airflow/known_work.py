"""A DAG whose tasks read and write known numbers of bytes: see work.sh, which also writes down the truth."""
import os

import pendulum

try:
    from airflow.sdk import DAG, task
except ImportError:  # Airflow 2
    from airflow import DAG
    from airflow.decorators import task
try:
    from airflow.providers.standard.operators.bash import BashOperator
except ImportError:
    from airflow.operators.bash import BashOperator

WORK = f"bash {os.environ['FLOWMINE_AIRFLOW_WORK']}"

with DAG(
    "known_work",
    schedule="@once",
    start_date=pendulum.datetime(2024, 1, 1, tz="UTC"),
    is_paused_upon_creation=False,
    default_args={"retries": 0, "retry_delay": pendulum.duration(seconds=1)},
):
    # The blank at the end keeps Airflow from taking the command for the name of a template file.
    make = BashOperator(task_id="make", bash_command=f"{WORK} write make/data 1000000 ")
    # The same file three times, each time another part of it.
    part = BashOperator.partial(task_id="part").expand(
        bash_command=[f"{WORK} read make/data {size} write part/{size} {size} " for size in (4096, 65536, 333333)]
    )
    flaky = BashOperator(task_id="flaky", retries=1, bash_command=f"{WORK} write flaky/data 8192 fail-first ")

    @task.branch
    def choose():
        return "join"

    not_taken = BashOperator(task_id="not_taken", bash_command=f"{WORK} write not_taken/data 1 ")
    join = BashOperator(
        task_id="join",
        trigger_rule="none_failed_min_one_success",
        bash_command=f"{WORK} read part/4096 4096 read part/65536 65536 read part/333333 333333 write join/data 100001 ",
    )
    skips_itself = BashOperator(task_id="skips_itself", bash_command=f"{WORK} write skips_itself/data 512 exit 99 ")
    breaks = BashOperator(task_id="breaks", bash_command=f"{WORK} write breaks/data 2048 exit 3 ")
    never_runs = BashOperator(task_id="never_runs", bash_command=f"{WORK} write never_runs/data 1 ")

    make >> [part, flaky] >> choose() >> [join, not_taken]
    join >> skips_itself
    make >> breaks >> never_runs
