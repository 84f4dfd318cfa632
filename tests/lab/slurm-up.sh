#!/usr/bin/env bash
# Starts a real Slurm inside one directory: munged, slurmctld, slurmd per node, with --accounting MariaDB and slurmdbd.
# Touches neither /etc/slurm nor a system munge; several labs can run at once.
# In: DIR and options. Out: DIR/env.sh to source. Refuses: not root, a directory that is not a lab, a running lab.
# Debian packages: slurm-wlm munge, for --accounting slurmdbd slurm-wlm-mysql-plugin mariadb-server.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"

usage() {
  cat <<'USAGE'
usage: slurm-up.sh DIR [--accounting] [--cgroup] [--nodes N] [--min-job-age SECONDS]
  --accounting       slurmdbd and MariaDB; accounts physics, biology, thesis with the test users in several of them
  --nodes N          number of slurmd (default 4)
  --cgroup           one cgroup (v1) per job, memory limits enforced: OUT_OF_MEMORY; only one such lab at a time
  --min-job-age S    how long slurmctld remembers a finished job (default 300; purging runs about once a minute)
USAGE
}

dir='' accounting=0 cgroup=0 nodes=4 min_job_age=300
while [ $# -gt 0 ]; do
  case $1 in
    --accounting) accounting=1;;
    --cgroup) cgroup=1;;
    --nodes) nodes=${2?--nodes needs a number}; shift;;
    --min-job-age) min_job_age=${2?--min-job-age needs seconds}; shift;;
    -h|--help) usage; exit 0;;
    -*) usage >&2; lab_die "unknown option $1";;
    *) [ -z "$dir" ] || lab_die "one directory only, got $dir and $1"; dir=$1;;
  esac
  shift
done
case $nodes in ''|*[!0-9]*|0) lab_die "--nodes $nodes: a number from 1 to 8";; esac
[ "$nodes" -le 8 ] || lab_die "--nodes $nodes: at most 8"
case $min_job_age in ''|*[!0-9]*) lab_die "--min-job-age $min_job_age: whole seconds";; esac
[ "$min_job_age" -ge 2 ] || lab_die "--min-job-age $min_job_age: Slurm wants at least 2 (0 would keep jobs for ever)"

lab_need_root
export PATH=$PATH:/usr/sbin:/sbin
lab_need munged munge; lab_need slurmctld slurmctld; lab_need slurmd slurmd; lab_need squeue slurm-client
if [ "$accounting" = 1 ]; then lab_need slurmdbd slurmdbd; lab_need mariadbd mariadb-server; lab_need mariadb-install-db mariadb-server; fi
lab_dir "$dir"
if [ "$cgroup" = 1 ]; then
  lab_can_cgroup || lab_die "--cgroup: no writable cgroup v1 hierarchies freezer, memory and cpuacct below /sys/fs/cgroup"
  if [ -n "$(lab_cgroup_procs)" ]; then lab_die "--cgroup: another lab's jobs are in /sys/fs/cgroup/freezer/slurm_n*: cgroup names are per node, not per lab"; fi
fi
began=${EPOCHREALTIME/./}
lab_create
lab_register
# A bring-up that fails leaves its logs but no process: the trap runs for every error below.
clean_up() {
  local rc=$?
  [ "$rc" = 0 ] || "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/slurm-down.sh" "$LAB" || true
  exit "$rc"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

host=$(hostname)
ctld_port=$LAB_PORT dbd_port=$((LAB_PORT + 1)) sql_port=$((LAB_PORT + 2)) slurmd_port=$((LAB_PORT + 4))
socket=$LAB/run/munge/socket
export SLURM_CONF=$LAB/etc/slurm.conf
chown slurm: "$LAB/state" "$LAB/log"
install -d -m 755 -o slurm -g slurm "$LAB/run/slurm"

# --- MariaDB first: making its tables takes longest, so it works while we go on
if [ "$accounting" = 1 ]; then
  install -d -m 700 -o mysql -g mysql "$LAB/mysql"
  lab_start mariadbd "$(command -v bash)" "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/mariadb-start.sh" "$LAB" "$sql_port"
fi

# --- munge, with its own key
install -d -m 755 -o munge -g munge "$LAB/run/munge"
(umask 077; head -c 1024 /dev/urandom > "$LAB/etc/munge.key")
chown munge:munge "$LAB/etc/munge.key"
lab_start munged setpriv --reuid=munge --regid=munge --clear-groups munged -F --socket="$socket" \
  --key-file="$LAB/etc/munge.key" --pid-file="$LAB/run/munge/munged.pid" --log-file="$LAB/run/munge/munged.log" \
  --seed-file="$LAB/run/munge/munged.seed" --num-threads=4

# --- configuration
proctrack=proctrack/linuxproc task=task/none gather=jobacct_gather/linux
if [ "$cgroup" = 1 ]; then
  proctrack=proctrack/cgroup task=task/cgroup gather=jobacct_gather/cgroup
  printf '%s\n' CgroupPlugin=cgroup/v1 CgroupAutomount=no CgroupMountpoint=/sys/fs/cgroup ConstrainCores=no \
    ConstrainRAMSpace=yes ConstrainSwapSpace=no AllowedSwapSpace=0 > "$LAB/etc/cgroup.conf"
fi
{
  cat <<CONF
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$ctld_port
SlurmUser=slurm
AuthType=auth/munge
# cred_expire is also how long a requeued job waits before it may start again (120 s by default).
AuthInfo=socket=$socket,cred_expire=5
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
MpiDefault=none
ProctrackType=$proctrack
TaskPlugin=$task
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=64
SchedulerType=sched/backfill
# Start jobs at once: a lab has no users to be fair to.
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmdParameters=config_overrides
# A node set down by hand stays down until it is resumed.
ReturnToService=1
MinJobAge=$min_job_age
Licenses=tool:1
KillWait=2
# Patience for a machine that compiles at the same time.
MessageTimeout=30
BatchStartTimeout=60
SlurmdTimeout=300
JobAcctGatherType=$gather
JobAcctGatherFrequency=task=1
# The truth about ended jobs. A script gets its facts in environment variables, so no job name can forge a line,
# as it could in jobcomp/filetxt.
JobCompType=jobcomp/script
JobCompLoc=$LAB/etc/jobcomp.sh
StateSaveLocation=$LAB/state
SlurmdSpoolDir=$LAB/spool/%n
SlurmctldPidFile=$LAB/run/slurm/slurmctld.pid
SlurmdPidFile=$LAB/run/slurm/slurmd-%n.pid
SlurmctldLogFile=$LAB/log/slurmctld.log
SlurmdLogFile=$LAB/log/slurmd-%n.log
SlurmctldDebug=verbose
SlurmdDebug=info
LogTimeFormat=iso8601_ms
CONF
  if [ "$accounting" = 1 ]; then
    cat <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$dbd_port
# Not AuthInfo but this names the munge socket towards slurmdbd.
AccountingStoragePass=$socket
AccountingStorageEnforce=associations,limits,qos
AccountingStoreFlags=job_comment
CONF
  else
    printf 'AccountingStorageType=accounting_storage/none\n'
  fi
  for ((n = 1; n <= nodes; n++)); do
    printf 'NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=8 RealMemory=8000 State=UNKNOWN\n' "$n" "$host" "$((slurmd_port + n))"
  done
  # The last node is apart, so that failing it or pre-empting on it harms no other job.
  steady=n1; [ "$nodes" -le 2 ] || steady="n[1-$((nodes - 1))]"
  printf 'PartitionName=debug Nodes=%s Default=YES MaxTime=INFINITE State=UP\n' "$steady"
  printf 'PartitionName=short Nodes=n1 MaxTime=00:10:00 State=UP\n'
  printf 'PartitionName=wide Nodes=ALL MaxTime=INFINITE State=UP\n'
  printf 'PartitionName=scavenge Nodes=n%d PriorityTier=1 State=UP\n' "$nodes"
  printf 'PartitionName=urgent Nodes=n%d PriorityTier=100 PreemptMode=OFF State=UP\n' "$nodes"
} > "$LAB/etc/slurm.conf"
cat > "$LAB/etc/jobcomp.sh" <<JOBCOMP
#!/bin/sh
# slurmctld runs this for each job that ends (or is requeued): facts without any text of a user. Times: s since 1970.
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "\$JOBID" "\${ARRAYJOBID-}" "\${ARRAYTASKID-}" "\${HETJOBID-}" \\
  "\${HETJOBOFFSET-}" "\${SUBMIT-}" "\${START-}" "\${END-}" "\${JOBSTATE-}" "\${EXITCODE-}" "\${ACCOUNT-}" >> $LAB/log/jobcomp.tsv
JOBCOMP
chmod 755 "$LAB/etc/jobcomp.sh"
install -m 644 -o slurm -g slurm /dev/null "$LAB/log/jobcomp.tsv"
printf 'export SLURM_CONF=%s\nexport FLOWMINE_LAB=%s\n' "$SLURM_CONF" "$LAB" > "$LAB/env.sh"

lab_wait "answer from munged" 10 munged "$LAB/run/munge/munged.log" munge -n -S "$socket"

# --- slurmdbd
if [ "$accounting" = 1 ]; then
  sql() { mariadb --no-defaults -S "$LAB/mysql/socket" -uroot -N -e "$1"; }
  lab_wait "answer from MariaDB" 60 mariadbd "" sql 'select 1'
  password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  sql "create database slurm_acct_db; create user slurm@'127.0.0.1' identified by '$password'; grant all on slurm_acct_db.* to slurm@'127.0.0.1'"
  (umask 077; cat > "$LAB/etc/slurmdbd.conf") <<CONF
AuthType=auth/munge
AuthInfo=socket=$socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$dbd_port
CommunicationParameters=NoInAddrAny
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$sql_port
StorageUser=slurm
StoragePass=$password
StorageLoc=slurm_acct_db
LogFile=$LAB/log/slurmdbd.log
PidFile=$LAB/run/slurm/slurmdbd.pid
LogTimeFormat=iso8601_ms
CONF
  chown slurm: "$LAB/etc/slurmdbd.conf"
  lab_start slurmdbd slurmdbd -D
  lab_wait "answer from slurmdbd" 60 slurmdbd "$LAB/log/slurmdbd.log" sacctmgr -n show cluster
  sacctmgr -i -Q >"$LAB/log/sacctmgr.out" 2>&1 <<'ACCOUNTS' || { lab_tail "$LAB/log/sacctmgr.out"; lab_die "sacctmgr failed"; }
add cluster lab
add account physics,biology,thesis Description=lab Organization=lab
add user fm-alice Account=physics,thesis DefaultAccount=physics
add user fm-bob Account=physics,biology DefaultAccount=physics
add user fm-carol Account=biology,thesis DefaultAccount=biology
ACCOUNTS
  [ "$(sacctmgr -n -P show associations user=fm-alice,fm-bob,fm-carol format=user | wc -l)" = 6 ] \
    || { lab_tail "$LAB/log/sacctmgr.out"; lab_die "sacctmgr did not make the six associations"; }
fi

# --- slurmctld and the nodes
lab_start slurmctld slurmctld -D -c
lab_wait "answer from slurmctld" 30 slurmctld "$LAB/log/slurmctld.log" scontrol ping
for ((n = 1; n <= nodes; n++)); do
  mkdir -p "$LAB/spool/n$n"
  lab_start "slurmd-n$n" slurmd -D -N "n$n"
done
all_idle() { [ "$(sinfo -h -N -p wide -t idle -o %N | wc -l)" = "$nodes" ]; }
lab_wait "$nodes idle nodes" 30 slurmctld "$LAB/log/slurmctld.log $LAB/log/slurmd-n1.log" all_idle
trap - EXIT
ended=${EPOCHREALTIME/./}
lab_note "$nodes nodes in $LAB after $(((ended - began) / 1000)) ms; source $LAB/env.sh"
