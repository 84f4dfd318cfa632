#!/usr/bin/env bash
# Ends the sshd that sshd-up.sh started in DIR and its sessions. In: DIR. Refuses: not root, not a lab.
# The last of sshd-down.sh and slurm-down.sh removes the test users.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
lab_need_root
export PATH=$PATH:/usr/sbin:/sbin
lab_dir "${1-}"
[ -e "$LAB" ] || exit 0
[ -e "$LAB/.flowmine-lab" ] || lab_die "$LAB is not a lab"
rc=0
sessions=()
for name in sshd-jump sshd; do
  if lab_alive "$name"; then mapfile -t -O "${#sessions[@]}" sessions < <(lab_descendants "$(lab_pid "$name")"); fi
  lab_stop "$name" 10 || rc=1
done
for session in "${sessions[@]}"; do
  read -r pid ticks <<< "$session"
  if [ "$(lab_start_ticks "$pid" || echo gone)" = "$ticks" ]; then kill -s TERM "$pid" 2>/dev/null || true; fi
done
if [ -s "$LAB/apart" ]; then
  # The other end of the pair goes with the namespace; a namespace that something still uses goes with that.
  space=$(cat "$LAB/apart")
  ip link del "$space" 2>/dev/null || true
  ip netns del "$space" 2>/dev/null || true
  rm -f "$LAB/apart"
fi
if ! lab_any_alive; then lab_end_strays 3 || rc=1; lab_unregister || rc=1; fi
exit "$rc"
