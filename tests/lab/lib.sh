# shellcheck shell=bash
# What every lab script shares: checking DIR, starting a daemon and remembering it, waiting with a bound,
# ending exactly what was started, test users with a reference count, free ports.
#
# A lab lives in one directory:
#   DIR/.flowmine-lab   marker; a directory without it is never emptied
#   DIR/env.sh          what a client needs (SLURM_CONF)
#   DIR/etc, log, run, spool, state, mysql, home, ssh
#   DIR/run/daemons/N   one line a daemon: pid, start time in clock ticks since boot, program
# Outside DIR there is only LAB_REGISTRY: which labs exist, their ports, and the test users made for them.

LAB_REGISTRY=/var/lib/flowmine-lab
LAB_USERS=(fm-alice fm-bob fm-carol fm-watch)
LAB_GROUPS=(fm-physics fm-biology)

lab_die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }
lab_note() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# Root is needed to run daemons as other users and jobs as the test users.
lab_need_root() { [ "$(id -u)" = 0 ] || lab_die "the lab needs root (daemons and jobs run as several users); run it as root, for example with sudo"; }

# lab_need PROGRAM PACKAGE
lab_need() { command -v "$1" >/dev/null || lab_die "$1 is missing: install the Debian package $2"; }

# Sets LAB to the absolute DIR. slurm.conf has no quoting, munge and slurmstepd sockets have 107 bytes at most.
lab_dir() {
  [ -n "${1-}" ] || lab_die "which directory? usage: ${0##*/} DIR"
  LAB=$(realpath -m -- "$1")
  case $LAB in
    /) lab_die "refusing / as a lab directory";;
    *[!A-Za-z0-9/._-]*) lab_die "$LAB: slurm.conf cannot quote, use a path of letters, digits and . _ - only";;
  esac
  [ "${#LAB}" -le 64 ] || lab_die "$LAB: ${#LAB} characters, sockets below it would get too long; use at most 64"
  DAEMONS=$LAB/run/daemons
}

# An empty lab directory in LAB that every user can enter.
lab_create() {
  if [ -e "$LAB" ] && [ ! -e "$LAB/.flowmine-lab" ] && [ -n "$(ls -A -- "$LAB")" ]; then
    lab_die "$LAB exists, is not empty and is not a lab: give another directory"
  fi
  if lab_any_alive; then lab_die "a lab is running in $LAB: end it with slurm-down.sh and sshd-down.sh first"; fi
  mkdir -p -- "$LAB"; : > "$LAB/.flowmine-lab"
  (cd "$LAB" && rm -rf -- etc log run spool state mysql home ssh apart env.sh)
  mkdir -p "$LAB"/{etc,log,run,spool,state,home} "$DAEMONS"
  chmod 755 "$LAB" "$LAB"/{etc,log,run,spool,state,home}
  local d=$LAB mode
  while d=$(dirname "$d"); [ "$d" != / ]; do
    mode=$(stat -c %a "$d")
    case $mode in *[1357]) ;; *) lab_die "$d has mode $mode: the slurm user and the test users cannot enter $LAB";; esac
  done
}

# The start time of a process in clock ticks since boot: with the pid it names one process, however pids are reused.
lab_start_ticks() {
  local stat
  { read -r stat < "/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086 # split into fields; field 22 of stat is the 20th after the name
  set -- $stat
  [ "$1" != Z ] || return 1
  printf '%s\n' "${20}"
}

# lab_start NAME COMMAND...: runs a daemon in the foreground mode of that daemon, apart from our terminal,
# and remembers it. Every process of a lab carries FLOWMINE_LAB_PROCESS, so that nothing started by a lab whose
# bring-up was killed between fork and bookkeeping is ever missed.
lab_start() {
  local name=$1 pid; shift
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TZ=UTC LANG=C.UTF-8 \
    SLURM_CONF="$LAB/etc/slurm.conf" FLOWMINE_LAB_PROCESS="$LAB" setsid "$@" </dev/null >"$LAB/log/$name.out" 2>&1 9>&- &
  pid=$!
  printf '%s %s %s\n' "$pid" "$(lab_start_ticks "$pid" || echo 0)" "$1" > "$DAEMONS/$name.new"
  mv "$DAEMONS/$name.new" "$DAEMONS/$name"
}

# True while the remembered process itself lives (same pid and same start time).
lab_alive() {
  local pid ticks
  [ -s "$DAEMONS/$1" ] || return 1
  read -r pid ticks _ < "$DAEMONS/$1"
  [ "$(lab_start_ticks "$pid" || echo gone)" = "$ticks" ]
}

lab_pid() { cut -d' ' -f1 "$DAEMONS/$1"; }

lab_any_alive() {
  local f
  for f in "$DAEMONS"/*; do [ -e "$f" ] && lab_alive "${f##*/}" && return 0; done
  return 1
}

# lab_tail FILE...: the end of each log that exists, to stderr.
lab_tail() {
  local f
  for f in "$@"; do
    [ -s "$f" ] || continue
    printf -- '--- last lines of %s\n' "$f" >&2; tail -n 15 -- "$f" >&2
  done
}

# lab_wait WHAT SECONDS DAEMON LOGS COMMAND...: until COMMAND succeeds; fails early when DAEMON has died.
# LOGS is a list of files separated by spaces (lab paths have none).
lab_wait() {
  local what=$1 seconds=$2 daemon=$3 logs=$4 end; shift 4
  end=$((${EPOCHREALTIME/./} + seconds * 1000000))
  while ! "$@" >"$LAB/log/wait.out" 2>&1; do
    if [ "$daemon" != - ] && ! lab_alive "$daemon"; then
      # shellcheck disable=SC2086
      lab_tail $logs "$LAB/log/$daemon.out"; lab_die "$daemon ended while waiting for $what"
    fi
    if [ "${EPOCHREALTIME/./}" -ge "$end" ]; then
      # shellcheck disable=SC2086
      lab_tail $logs "$LAB/log/$daemon.out" "$LAB/log/wait.out"; lab_die "no $what after $seconds s"
    fi
    sleep 0.05
  done
}

# lab_stop NAME SECONDS: TERM, after SECONDS KILL, waits until it is gone. Silent when it is gone already.
lab_stop() {
  local name=$1 seconds=$2 pid signal n
  lab_alive "$name" || { rm -f "$DAEMONS/$name"; return 0; }
  pid=$(lab_pid "$name")
  for signal in TERM KILL; do
    kill -s "$signal" "$pid" 2>/dev/null || true
    for ((n = seconds * 20; n > 0; n--)); do
      lab_alive "$name" || { rm -f "$DAEMONS/$name"; return 0; }
      sleep 0.05
    done
    lab_note "$name (pid $pid) did not end within $seconds s of SIG$signal"
  done
  return 1
}

# "pid start-time" of every process below PID, while PID lives (sshd's sessions).
lab_descendants() {
  local child ticks
  # shellcheck disable=SC2013 # one line of words
  for child in $(cat "/proc/$1/task"/*/children 2>/dev/null); do
    ticks=$(lab_start_ticks "$child") || continue
    printf '%s %s\n' "$child" "$ticks"
    lab_descendants "$child"
  done
}

# The pids of this lab that no daemon file names: slurmstepd and job processes, and daemons whose bring-up was
# killed before it could write down their pid. Known by exact environment entries and open files, never by name:
# what a lab starts has FLOWMINE_LAB_PROCESS; a job has our SLURM_CONF and a job id; slurmstepd, which wipes its
# environment, has its log in our directory.
lab_strays() {
  local keep=" $$ $BASHPID " name pid
  # Daemons that still live are not stray, nor are the sessions of sshd.
  for name in "$DAEMONS"/*; do
    name=${name##*/}; lab_alive "$name" || continue
    keep+="$(lab_pid "$name") "
    case $name in sshd | sshd-jump) keep+="$(lab_descendants "$(lab_pid "$name")" | cut -d' ' -f1 | tr '\n' ' ') ";; esac
  done
  {
    lab_pids_with "FLOWMINE_LAB_PROCESS=$LAB" -x
    comm -12 <(lab_pids_with "SLURM_CONF=$LAB/etc/slurm.conf" -x | sort) <(lab_pids_with SLURM_JOB_ID= | sort)
    # shellcheck disable=SC2038 # /proc paths have no spaces
    find /proc/[0-9]*/exe -lname '*/slurmstepd' 2>/dev/null | cut -d/ -f3 \
      | xargs -r -I '{}' find '/proc/{}/fd' \( -lname "$LAB/log/*" -o -lname "$LAB/spool/*" \) 2>/dev/null | cut -d/ -f3
  } | sort -un | while read -r pid; do
    case $keep in *" $pid "*) ;; *) printf '%s\n' "$pid";; esac
  done
}
# The pids of processes with ENTRY in their environment: `-x` for the whole entry, else its beginning or any part.
lab_pids_with() { grep -l -s -z -F "${@:2}" -e "$1" /proc/[0-9]*/environ | cut -d/ -f3 || true; }

# Ends the strays: TERM, then KILL after SECONDS.
lab_end_strays() {
  local seconds=$1 signal pid n pids
  for signal in CONT TERM KILL; do
    mapfile -t pids < <(lab_strays)
    [ "${#pids[@]}" -gt 0 ] || return 0
    for pid in "${pids[@]}"; do kill -s "$signal" "$pid" 2>/dev/null || true; done
    [ "$signal" != CONT ] || continue
    for ((n = seconds * 10; n > 0; n--)); do
      [ -n "$(lab_strays)" ] || return 0
      sleep 0.1
    done
  done
  lab_note "still alive: $(lab_strays | tr '\n' ' ')"; return 1
}

# Slurm 22.05 with cgroup/v1 wants these hierarchies; its cgroup/v2 refuses hybrid set-ups.
lab_can_cgroup() {
  local h
  for h in freezer memory cpuacct; do
    [ -e "/sys/fs/cgroup/$h/tasks" ] && [ -w "/sys/fs/cgroup/$h/tasks" ] || return 1
  done
}
lab_cgroup_procs() { find /sys/fs/cgroup/freezer/slurm_n* -name tasks -exec cat {} + 2>/dev/null; }

# Holds the registry's lock (descriptor 9) while COMMAND runs in this shell.
lab_locked() {
  mkdir -p "$LAB_REGISTRY/labs"; chmod 755 "$LAB_REGISTRY"
  exec 9>"$LAB_REGISTRY/lock"
  flock -w 60 9 || lab_die "another lab script holds $LAB_REGISTRY/lock for a minute"
  local rc=0; "$@" || rc=$?
  exec 9>&-
  return "$rc"
}

lab_registry_name() { local n=${LAB//_/__}; printf '%s\n' "${n//\//_-}"; }

# Enters this lab into the registry (first line DIR, second line its first port) and makes the users it needs.
# Labs whose directory is gone are dropped: they ended without slurm-down.
lab_register_locked() {
  local f dir user group
  for f in "$LAB_REGISTRY"/labs/*; do
    [ -e "$f" ] || continue
    read -r dir < "$f" || true
    [ -e "$dir/.flowmine-lab" ] || rm -f "$f"
  done
  LAB_PORT=$(lab_free_ports) || lab_die "no 16 free ports in a row between 20000 and 32000"
  printf '%s\n%s\n' "$LAB" "$LAB_PORT" > "$LAB_REGISTRY/labs/$(lab_registry_name)"
  for group in "${LAB_GROUPS[@]}"; do
    getent group "$group" >/dev/null && continue
    # Written down first: being killed in between must not leave a user that nobody removes.
    printf 'group %s\n' "$group" >> "$LAB_REGISTRY/created"; groupadd "$group"
  done
  for user in "${LAB_USERS[@]}"; do
    getent passwd "$user" >/dev/null && continue
    printf 'user %s\n' "$user" >> "$LAB_REGISTRY/created"
    # -M: two labs share a user but not a home, so each lab makes its own below DIR/home and sets HOME.
    useradd -M -U -d "$LAB/home/$user" -s /bin/bash -c 'flowmine test lab' "$user"
    # useradd leaves "!", a locked account, with which sshd without PAM refuses keys too.
    usermod -p '*' "$user"
  done
  usermod -a -G fm-physics,fm-biology fm-alice; usermod -a -G fm-physics fm-bob; usermod -a -G fm-biology fm-carol
}
lab_register() {
  lab_locked lab_register_locked
  local user
  for user in "${LAB_USERS[@]}"; do install -d -m 755 -o "$user" -g "$user" "$LAB/home/$user"; done
}

# 16 ports in a row that nobody listens on and no other lab has taken, below the ephemeral range.
lab_free_ports() {
  local taken base port f tries ok
  taken=" $(awk 'FNR > 1 { split($2, a, ":"); printf "%d ", strtonum_hex(a[2]) }
    function strtonum_hex(h,  i, n) { n = 0; for (i = 1; i <= length(h); i++) n = n * 16 + index("0123456789ABCDEF", substr(h, i, 1)) - 1; return n }' \
    /proc/net/tcp /proc/net/tcp6 2>/dev/null) "
  for f in "$LAB_REGISTRY"/labs/*; do
    [ -e "$f" ] || continue
    port=$(sed -n 2p "$f"); [ -n "$port" ] || continue
    for ((base = port; base < port + 16; base++)); do taken+="$base "; done
  done
  for ((tries = 0; tries < 200; tries++)); do
    base=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) ok=1
    for ((port = base; port < base + 16; port++)); do
      case $taken in *" $port "*) ok=0; break;; esac
    done
    [ "$ok" = 0 ] || { printf '%s\n' "$base"; return 0; }
  done
  return 1
}

# Ends every process of a user that the labs made: nobody else has reason to run as that user.
lab_end_user() {
  local uid signal n pids
  uid=$(id -u "$1")
  for signal in TERM KILL; do
    for ((n = 0; n < 20; n++)); do
      mapfile -t pids < <(awk -v uid="$uid" '/^State:/ { dead = /Z/ } /^Uid:/ && $2 == uid && !dead { split(FILENAME, part, "/"); print part[3] }' /proc/[0-9]*/status 2>/dev/null)
      [ "${#pids[@]}" -gt 0 ] || return 0
      [ "$n" != 0 ] || kill -s "$signal" "${pids[@]}" 2>/dev/null || true
      sleep 0.1
    done
  done
}

# Leaves the registry; the last lab removes the users and groups that labs made.
lab_unregister_locked() {
  local f dir others=0 what name
  rm -f "$LAB_REGISTRY/labs/$(lab_registry_name)"
  for f in "$LAB_REGISTRY"/labs/*; do
    [ -e "$f" ] || continue
    read -r dir < "$f" || true
    if [ -e "$dir/.flowmine-lab" ]; then others=1; else rm -f "$f"; fi
  done
  [ "$others" = 0 ] || return 0
  [ -s "$LAB_REGISTRY/created" ] || return 0
  local kept=()
  while read -r what name; do
    case $what in
      user) if getent passwd "$name" >/dev/null && lab_end_user "$name" && ! userdel "$name" 2>"$LAB/log/userdel.out"; then
          lab_note "could not remove user $name: $(cat "$LAB/log/userdel.out")"; kept+=("user $name")
        fi;;
    esac
  done < "$LAB_REGISTRY/created"
  while read -r what name; do
    [ "$what" = group ] || continue
    if getent group "$name" >/dev/null; then groupdel "$name" || kept+=("group $name"); fi
  done < "$LAB_REGISTRY/created"
  if [ "${#kept[@]}" -gt 0 ]; then printf '%s\n' "${kept[@]}" > "$LAB_REGISTRY/created"; return 1; fi
  rm -f "$LAB_REGISTRY/created"
}
lab_unregister() { lab_locked lab_unregister_locked; }

# lab_as USER GROUP COMMAND...: as a test user with GROUP as primary group, in the user's lab home, with a clean
# environment. GROUP is what Slurm records as the job's group.
lab_as() {
  local user=$1 group=$2; shift 2
  (cd "$LAB/home/$user" && exec setpriv --reuid="$user" --regid="$group" --init-groups \
    env -i PATH=/usr/local/bin:/usr/bin:/bin HOME="$LAB/home/$user" USER="$user" LOGNAME="$user" SHELL=/bin/bash \
    LANG=C.UTF-8 SLURM_CONF="$LAB/etc/slurm.conf" "$@")
}
