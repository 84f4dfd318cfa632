#!/usr/bin/env bash
# A stand-in for Nextflow, which cannot be had where this was made: runs tasks in work directories of Nextflow's documented layout
# (work/ab/cdef…/.command.run and so on, started as its local executor does) and writes a log in the form of its .nextflow.log. What it makes has
# been compared with real logs and with the templates of Nextflow's sources, not with a run of Nextflow. Nothing of Nextflow is in it.
#
# In: PLAN, in an order in which the tasks can run, lines of NAME, INPUTS, OUTPUTS, `box` or `-`, COMMAND, separated by tabs. A task runs when those whose outputs
# are its inputs have ended; three at once; one that fails is tried again, twice. Inputs are staged as links: the outputs of other tasks, files of
# another task's work directory (`split/.command.sh`), files and folders of the current directory. What has `box` runs in a container: FLOW_BOX is the
# command that runs the words after it in one, in the current directory.
# Out: work/, .nextflow.log. Exit code 1 when a task failed for good.
set -euo pipefail
export LC_ALL=C TZ=UTC
base=$PWD
declare -A dir=() maker=() state=() attempt=() name_of=() hash=()
names=()

log() { # THREAD LEVEL CLASS MESSAGE
  local ms=${EPOCHREALTIME#*.}
  printf '%(%b-%d %H:%M:%S)T.%s [%s] %-5s %s - %s\n' "${EPOCHREALTIME%.*}" "${ms:0:3}" "$@" >> .nextflow.log
}

# The link for INPUT of another task or of the run, as a line of the script.
stage() {
  local input=$1 target=$base/$1 of=${1%%/*}
  if [ -n "${maker[$input]-}" ]; then
    target=${dir[${maker[$input]}]}/$input
  elif [[ $input == */.command.* ]]; then
    target=${dir[$of]}/${input#*/}
  fi
  [[ $input != */* ]] || printf '    mkdir -p %s\n' "${input%/*}"
  printf '    ln -s %s %s\n' "$target" "$input"
}

write_scripts() { # NAME INPUTS OUTPUTS BOX COMMAND
  local name=$1 work=${dir[$1]} input output trace='/bin/bash '${dir[$1]}'/.command.run nxf_trace'
  local launch=$trace
  [ "$4" != box ] || launch="$FLOW_BOX /bin/bash -c '$trace'"
  printf '#!/bin/bash -ue\n%s\n' "$5" > "$work/.command.sh"
  {
    cat <<RUN
#!/bin/bash
# NEXTFLOW TASK: $name
set -e
set -u
on_exit() {
    local status=\${nxf_main_ret:-\$?}
    printf -- \$status > $work/.exitcode
    exit \$status
}
nxf_stage() {
    true
RUN
    for input in $2; do stage "$input"; done
    for output in $3; do [[ $output != */* ]] || printf '    mkdir -p %s\n' "${output%/*}"; done
    cat <<RUN
}
nxf_trace() {
    local status=0 began=\$(date +%s%3N)
    touch .command.trace
    /bin/bash -ue $work/.command.sh &
    wait \$! || status=\$?
    printf 'nextflow.trace/v2\nrealtime=%s\n' \$((\$(date +%s%3N) - began)) > .command.trace
    exit \$status
}
nxf_launch() {
    $launch
}
nxf_main() {
    trap on_exit EXIT
    touch $work/.command.begin
    export NXF_TASK_WORKDIR="\$PWD"
    nxf_stage
    set +e
    (set -o pipefail; nxf_launch 2> >(tee .command.err >&2) | tee .command.out) &
    wait \$! || nxf_main_ret=\$?
}
\${1:-nxf_main}
RUN
  } > "$work/.command.run"
}

submit() { # NAME INPUTS OUTPUTS BOX COMMAND
  local name=$1 again=Submitted
  attempt[$name]=$((${attempt[$name]-0} + 1))
  [ "${attempt[$name]}" = 1 ] || again=Re-submitted
  hash[$name]=$(printf '%s' "$session $name ${attempt[$name]}" | md5sum | cut -c 1-32)
  dir[$name]=$base/work/${hash[$name]:0:2}/${hash[$name]:2}
  mkdir -p "${dir[$name]}"
  write_scripts "$@"
  log 'Task submitter' DEBUG n.executor.local.LocalTaskHandler 'Launch cmd line: /bin/bash -ue .command.run'
  (cd "${dir[$name]}" && exec /bin/bash -ue .command.run > .command.log 2>&1 < /dev/null) &
  name_of[$!]=$name
  state[$name]=running
  log 'Task submitter' INFO nextflow.Session "[${hash[$name]:0:2}/${hash[$name]:2:6}] $again process > $name"
}

ended() { # NAME EXIT_CODE
  local name=$1 code=$2 short=${hash[$1]:0:2}/${hash[$1]:2:6}
  local number
  for number in "${!names[@]}"; do [ "${names[$number]}" != "$name" ] || break; done
  log 'Task monitor' DEBUG n.processor.TaskPollingMonitor \
    "Task completed > TaskHandler[id: $((number + 1)); name: $name; status: COMPLETED; exit: $code; error: -; workDir: ${dir[$name]}]"
  if [ "$code" = 0 ]; then
    state[$name]=done
  elif [ "${attempt[$name]}" -lt 3 ]; then
    state[$name]=waiting
    log 'Task monitor' INFO nextflow.processor.TaskProcessor \
      "[$short] NOTE: Process \`$name\` terminated with an error exit status ($code) -- Execution is retried (${attempt[$name]})"
  else
    log 'Task monitor' ERROR nextflow.processor.TaskProcessor "Error executing process > '$name'"
    exit 1
  fi
}

ready() { # INPUTS
  local input
  for input in $1; do [ -z "${maker[$input]-}" ] || [ "${state[${maker[$input]}]}" = done ] || return 1; done
}

session=$(cat /proc/sys/kernel/random/uuid)
rm -f .nextflow.log
log main DEBUG nextflow.cli.Launcher '$> nextflow run flow.nf'
log main INFO nextflow.cli.CmdRun 'N E X T F L O W  ~  version 23.10.0'
log main DEBUG nextflow.Session "Session UUID: $session"
log main DEBUG nextflow.Session 'Run name: stand_in'
log main DEBUG nextflow.cli.CmdRun "
  Version: 23.10.0 build 5889
  Created: 15-10-2023 15:07 UTC
  System: Linux"
log main DEBUG nextflow.Session "Work-dir: $base/work [ext2/ext3]"
log main DEBUG n.processor.LocalPollingMonitor "Creating local task monitor for executor 'local' > cpus=3; memory=4 GB; capacity=3; pollInterval=100ms; dumpInterval=5m"

while IFS=$'\t' read -r name inputs outputs _; do
  names+=("$name")
  state[$name]=waiting
  for output in $outputs; do maker[$output]=$name; done
done < "$1"

while :; do
  left=0
  while IFS=$'\t' read -r name inputs outputs box command; do
    [ "${state[$name]}" = done ] || left=1
    [ "${state[$name]}" = waiting ] && [ "${#name_of[@]}" -lt 3 ] && ready "$inputs" || continue
    submit "$name" "$inputs" "$outputs" "$box" "$command"
  done < "$1"
  [ "$left" = 1 ] || break
  code=0
  wait -n -p pid "${!name_of[@]}" || code=$?
  name=${name_of[$pid]}
  unset "name_of[$pid]"
  ended "$name" "$code"
done
log main DEBUG nextflow.script.ScriptRunner '> Execution complete -- Goodbye'
