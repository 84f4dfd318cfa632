#!/usr/bin/env bash
# Ends what slurm-up.sh started in DIR, also after a bring-up that was killed half way, and leaves the logs.
# In: DIR. Out: nothing. Refuses: not root, a directory that is not a lab. Ending an ended lab is no error.
# A process is ended only when it still is the one that was started: same pid and start time, or the lab's own
# environment entry.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
lab_need_root
export PATH=$PATH:/usr/sbin:/sbin
lab_dir "${1-}"
[ -e "$LAB" ] || exit 0
[ -e "$LAB/.flowmine-lab" ] || lab_die "$LAB is not a lab"
export SLURM_CONF=$LAB/etc/slurm.conf
rc=0
# Jobs first, while slurmctld can still tell every slurmd; bounded, since the sweep below gets what is left.
if lab_alive slurmctld && jobs=$(timeout 5 squeue -h -a -o %A 2>/dev/null) && [ -n "$jobs" ]; then
  # shellcheck disable=SC2046,SC2086 # job ids are numbers
  timeout 10 scancel --quiet $jobs 2>/dev/null || true
  for ((n = 50; n > 0; n--)); do
    jobs=$(timeout 5 squeue -h -a -t running,completing,suspended,stopped -o %A 2>/dev/null) || break
    [ -n "$jobs" ] || break
    sleep 0.1
  done
fi
for f in "$DAEMONS"/slurmd-*; do
  [ ! -e "$f" ] || lab_stop "${f##*/}" 10 || rc=1
done
for name in slurmctld slurmdbd mariadbd munged; do lab_stop "$name" 10 || rc=1; done
# sshd keeps running: it has its own down script, and its sessions are not ours.
lab_end_strays 3 || rc=1
if [ -e "$LAB/etc/cgroup.conf" ] && lab_can_cgroup; then
  # Slurm leaves the empty node cgroups behind.
  find /sys/fs/cgroup/{freezer,memory,cpuacct,cpuset,devices}/slurm_n* -depth -type d -exec rmdir {} + 2>/dev/null || true
fi
if ! lab_any_alive; then lab_unregister || rc=1; fi
exit "$rc"
