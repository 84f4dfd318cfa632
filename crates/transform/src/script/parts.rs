//! The parts of a script that are the same for all tasks. Short ones: there are as many scripts as
//! tasks times layers.
//!
//! Each `return` has its status: without one it is, in what a trap calls, that before the trap.

/// What layers share. The first on a system (a container is another) finds it out and hands it down
/// in `FLOWMINE_LAYERS`, which the task does not see: the option of `env` that lets a command take
/// INT and QUIT, as a shell's background jobs do not, where INT was not ignored before; and what to
/// add to the time since the system's start, in hundredths of a second, for that since 1970. So
/// that the layers below start no process for either.
pub(super) const SETUP: &str = r#"fm_say() { printf '%s\n' "flowmine transform: $1" >&2; }
fm_home=$PWD fm_phase=setup fm_failed='' fm_signal='' fm_ended='' fm_child='' fm_left='' fm_told=' ' fm_witness=''
fm_code=0 fm_command=0 fm_woke='' fm_sig_code=0 fm_key='' fm_with='' fm_base='' fm_refused='' fm_got='' fm_had='' fm_busy='' fm_wide='' fm_later=''
if true <&0; then exec 9<&0; else exec 9</dev/null; fi 2>/dev/null
{ read -r fm_key </proc/self/mountinfo; } 2>/dev/null
fm_ticks() {
  { read -r fm_t fm_y </proc/uptime; } 2>/dev/null && fm_t=$((${fm_t%.*} * 100 + 1${fm_t#*.} - 100))
}
fm_time() {
  if [ -n "$fm_base" ] && fm_ticks; then fm_t=$((fm_base + fm_t)); else fm_t=$(date +%s)00; fi
  fm_t=${fm_t%??}.${fm_t#"${fm_t%??}"}
}
fm_probe() {
  fm_with=--default-signal=INT,QUIT
  while read -r fm_x fm_t; do
    case $fm_x$fm_t in SigIgn:*[2367abef]) fm_with='' ;; esac
    [ "$fm_x" != SigIgn: ] || break
  done </proc/self/status
  fm_x=$(LC_ALL=C env $fm_with date +%s.%N) || { fm_with='' fm_x=$(date +%s.%N); }
  fm_ticks || return 0
  fm_n=${fm_x#*.}
  case $fm_n in [0-9][0-9]*) fm_n=${fm_n%"${fm_n#??}"} ;; *) fm_n=00 ;; esac
  fm_base=$((${fm_x%%.*} * 100 + 1$fm_n - 100 - fm_t))
}
case ${FLOWMINE_LAYERS-} in
  "$fm_key|"*) fm_base=${FLOWMINE_LAYERS##*|} fm_with=${FLOWMINE_LAYERS%|*} fm_with=${fm_with##*|} ;;
  *) fm_probe 2>/dev/null ;;
esac
fm_time
fm_begun=$fm_t
"#;

/// `fm_note`: adds to the record, which is a plain file of the user who runs the script. A link is
/// not followed, and `noclobber` makes the file with `O_EXCL`. Between the test and the append only
/// those can change what has the name who may rename other users' files in the directory.
pub(super) const NOTE: &str = r#"fm_note() {
  [ -z "$fm_refused" ] || return 1
  set -C
  # shellcheck disable=SC3067
  if [ -f "$fm_home/$fm_record" ] && [ ! -L "$fm_home/$fm_record" ] && [ -O "$fm_home/$fm_record" ]; then
    printf '%s\n' "$1" >>"$fm_home/$fm_record"
  elif [ ! -e "$fm_home/$fm_record" ] && [ ! -L "$fm_home/$fm_record" ]; then
    printf '%s\n' "$1" >"$fm_home/$fm_record"
  else
    fm_say "$fm_record is no plain file of this user: remove it"
    false
  fi
  fm_x=$?
  set +C
  return "$fm_x"
}
"#;

/// `fm_private`: a directory of this run alone, under a name that nobody knew before. Nothing that
/// is there already is used.
pub(super) const PRIVATE: &str = r#"fm_private() {
  fm_new=$(mktemp -d "$1.XXXXXXXXXX" 2>/dev/null) && return 0
  fm_n=0
  until mkdir -m 700 "$1.$$.$fm_n" 2>/dev/null; do
    fm_n=$((fm_n + 1))
    [ "$fm_n" -lt 10 ] || {
      fm_say "no directory can be made in ${1%/*}"
      return 1
    }
  done
  fm_new=$1.$$.$fm_n
}
"#;

/// `fm_mounted`: whether a file system is mounted at a directory, or below it. What is behind such a
/// mount is not of this run, and a bind mount has the device of what it is in. The kernel writes
/// some bytes of a place in octal. Without `/proc` nothing is known of mounts.
pub(super) const MOUNTED: &str = r##"fm_mounted_text='fm_m=$(cd -P -- "${1%/*}" && printf "%s/." "${PWD%/}") || exit
fm_m=${fm_m%.}${1##*/}
fm_m=$fm_m LC_ALL=C awk '\''BEGIN { top = ENVIRON["fm_m"] }
  {
    n = split($5, part, /\\/)
    place = part[1]
    for (i = 2; i <= n; i++) {
      code = substr(part[i], 1, 3)
      place = place (code == "040" ? " " : code == "011" ? "\t" : code == "012" ? "\n" : code == "134" ? "\\" : "#") substr(part[i], 4)
    }
    if (place == top || index(place, top "/") == 1) { found = 1; exit }
  }
  END { exit !found }'\'' /proc/self/mountinfo 2>/dev/null'
fm_mounted() { (set -- "$1" && eval "$fm_mounted_text"); }
"##;

/// Who the descendants of a process are, and signals. A shell cannot ask whether a signal came to it
/// alone. So each layer has a witness in its process group, which blocks the signals: one that also
/// waits for the witness went to the group, or to all processes one after the other, and the command
/// has it already. The kernel tells the youngest process of a group first.
///
/// The witness ends at most ten seconds after a layer that KILL ended. PIPE ends it, of which bash
/// reports nothing. Without `--block-signal` it is a shell that ends by the signal, and `wait` reports
/// by which one; PROF ends it.
///
/// Signals are served one after the other, in the trap: between a test and `wait` it could come
/// unseen. Where `env` cannot reset INT and QUIT all below ignores them, and gets TERM.
pub(super) const SIGNALS: &str = r#"fm_parents() {
  # In `stat` a process can write whole lines by its name; in `status` the kernel escapes them. Linux before 4.1 has no NSpgid.
  cat /proc/[0-9]*/status 2>/dev/null | LC_ALL=C awk '/^Name:/ { p = "" } /^State:/ { s = $2 } /^Pid:/ { p = $2 } /^PPid:/ { up = $2 }
    /^NSpgid:/ && p != "" { some = 1; if (s !~ /[ZX]/) print p, up, $2 }
    END { exit !some }' || ps -A -o pid= -o ppid= -o pgid=
}
fm_tree() {
  fm_parents | LC_ALL=C awk -v roots=" $* " '{ up[$1] = $2 } END { for (p in up) { q = p; n = 0
    while (q in up && n++ < 10000) { q = up[q]; if (index(roots, " " q " ")) { printf "%s ", p; break } } } }'
}
fm_children() { fm_parents | LC_ALL=C awk -v of="$fm_child" '$2 == of { printf "%s ", $1 }'; }
# Of processes those of our process group (==), or of others (!=).
fm_group() {
  fm_parents | LC_ALL=C awk -v self="$$" -v all=" $2 " '{ group[$1] = $3 }
    END { for (p in group) if (index(all, " " p " ") && group[p] '"$1"' group[self]) printf "%s ", p }'
}
# Not every `sleep` knows parts of a second.
fm_nap() {
  sleep "$1" 2>/dev/null
  [ "$?" != 1 ] || sleep 1
}
fm_idle='trap "kill \$!; exit" PROF; while kill -0 "$1"; do sleep 10 & wait "$!"; done'
fm_witness_begin() {
  fm_witness=''
  [ -r /proc/self/status ] || return 0
  if [ -n "$fm_with" ]; then
    env -u FLOWMINE_LAYER -u FLOWMINE_LAYERS --default-signal=PIPE --block-signal=HUP,INT,QUIT,TERM,USR1,USR2 \
      tail -f "--pid=$$" -s 10 /dev/null </dev/null >/dev/null 2>&1 9<&- &
  else
    env -u FLOWMINE_LAYER -u FLOWMINE_LAYERS sh -c "$fm_idle" sh "$$" </dev/null >/dev/null 2>&1 9<&- &
  fi
  fm_witness=$!
}
fm_witness_end() {
  [ -n "$fm_witness" ] || return 0
  if [ -n "$fm_with" ]; then set -- PIPE; else set -- PROF; fi
  kill -s "$1" "$fm_witness" 2>/dev/null
  wait "$fm_witness" 2>/dev/null
  fm_witness=''
}
# Whether the signal came to the witness too. There it stays, so that the next one needs a new witness:
# it begins after the trap, as in a trap a child of bash may go on with the `wait` in which the signal came.
fm_hit() {
  [ -n "$fm_witness" ] || return 1
  fm_i=0 fm_x=''
  while [ -z "$fm_x" ]; do
    fm_n='' fm_y=0
    {
      while read -r fm_x fm_y; do
        case $fm_x in
          State:) fm_n=$fm_y ;;
          ShdPnd:) break ;;
        esac
      done <"/proc/$fm_witness/status"
    } 2>/dev/null
    fm_x=''
    if [ "$((0x$fm_y & 1 << ($2 - 129)))" != 0 ]; then break; fi
    case $fm_n in
      '' | [ZX]*)
        wait "$fm_witness" 2>/dev/null
        fm_x=$?
        fm_witness=''
        [ "$fm_x" = "$2" ] || return 1
        ;;
      [RD]*)
        # It begins, or ends by the signal.
        fm_i=$((fm_i + 1))
        [ "$fm_i" -lt 20 ] || return 1
        fm_nap 0.05
        ;;
      *) return 1 ;;
    esac
  done
  [ -n "$fm_x" ] || kill -s PIPE "$fm_witness" 2>/dev/null
  fm_witness=''
}
# To whom the signal came. Alone within three seconds after all: `timeout` and the layer above pass on what this layer has already.
fm_ask() {
  fm_how=alone fm_x=''
  eval "fm_last=\${fm_last_$1-}"
  if fm_hit "$1" "$2"; then
    fm_how=all
    ! fm_ticks || eval "fm_last_$1=\$fm_t"
  elif [ -n "$fm_last" ] && fm_ticks && [ "$((fm_t - fm_last))" -lt 300 ]; then
    fm_how=again
  fi
}
fm_on() {
  case $fm_with$1 in INT | QUIT) set -- TERM 143 ;; esac
  fm_woke=1 fm_had="$fm_had $1:$2"
  case $1 in HUP | INT | QUIT | TERM) fm_signal=$1 fm_sig_code=$2 ;; esac
  [ -n "$fm_child" ] || return 0
  fm_got="$fm_got $1:$2"
  while [ -n "$fm_got" ] && [ -z "$fm_busy" ]; do
    fm_busy=1
    # Who tells all processes one by one needs a moment for it.
    fm_nap 0.05
    fm_now=$fm_got
    fm_got=${fm_got#"$fm_now"}
    for fm_s in $fm_all; do
      case "$fm_now " in *" $fm_s "*) fm_take "${fm_s%:*}" "${fm_s#*:}" ;; esac
    done
    fm_busy=''
  done
}
fm_all='HUP:129 INT:130 QUIT:131 USR1:138 USR2:140 TERM:143'
for fm_x in $fm_all; do trap "fm_on ${fm_x%:*} ${fm_x#*:}" "${fm_x%:*}"; done
trap 'fm_woke=1 fm_wide=URG' URG
"#;

/// The plain task's script tells the shell of the task. INT goes to all its processes, as from a
/// terminal: a shell that waits for a command leaves INT to that.
pub(super) const PASS_TO_TASK: &str = r#"fm_task() {
  if [ -z "${BASH_VERSION-}" ]; then
    printf %s "$fm_child"
    return
  fi
  fm_n=0 fm_to=''
  until [ -n "$fm_to" ] || [ "$fm_n" -gt 3 ]; do
    fm_to=$(fm_children)
    [ -n "$fm_to" ] || fm_nap 0.05
    fm_n=$((fm_n + 1))
  done
  printf %s "$fm_to"
}
# shellcheck disable=SC2046
fm_take() {
  fm_left="$(fm_task) $(fm_tree $(fm_task))$fm_left"
  fm_ask "$1" "$2"
  [ "$fm_how" != all ] || fm_told=" $fm_left$fm_told"
  if [ "$fm_how" != alone ]; then
    fm_wide=''
    return 0
  fi
  case $fm_wide$1 in
    URG*) ;;
    *) fm_pass "$1" "$(fm_task)" ;;
  esac
  case $fm_wide$1 in
    INT) fm_pass INT "${fm_left#"$(fm_task) "}" ;;
    URG*) fm_pass "$1" "$(fm_group '==' "$fm_left")" ;;
  esac
  fm_wide=''
}
"#;

/// What the shell of a layer's command does at a signal: when the process that it waits for has
/// ended, it ends too with the status of that process. So nothing begins after a signal that asks for
/// an end, such as another attempt. USR1 and USR2 end it where they ended what it waited for.
pub(super) const TAKES: &str = r#"trap 'exit "$?"' HUP INT QUIT TERM; trap 'case $? in 138 | 140) exit "$?" ;; esac' USR1 USR2
"#;

/// A layer above tells the script of the layer below and the shell between them. Other programs
/// there, such as `timeout`, would tell it a second time. A program that has no such script below
/// it, as that of a container, is told itself.
///
/// `fm_marked` finds what runs between this layer and the next by `FLOWMINE_LAYER`, which each layer
/// sets for that, also where parents have ended. The next layer's script is the one that has its
/// file open. Where it has a group of its own, as below `timeout`, a signal to our group did not
/// reach it. It gets URG before, which does no harm: the task's script then tells all processes of
/// the task in its group.
pub(super) const PASS_TO_LAYER: &str = r#"fm_marked() {
  for fm_p in $(
    unset FLOWMINE_LAYER
    LC_ALL=C grep -lszF "FLOWMINE_LAYER=$$.$fm_begun" /proc/[0-9]*/environ
  ); do
    fm_p=${fm_p#/proc/} fm_p=${fm_p%/environ}
    [ "$fm_p" = "$fm_child" ] || printf '%s ' "$fm_p"
  done
}
# Of processes those that run the script below, without their own subshells.
# shellcheck disable=SC3013
fm_next() {
  fm_y=' '
  for fm_p; do
    for fm_f in "/proc/$fm_p/fd/"*; do
      if [ "$fm_f" -ef "./$fm_below" ]; then
        fm_y="$fm_y$fm_p "
        break
      fi
    done
  done
  [ "$fm_y" = ' ' ] || fm_parents | LC_ALL=C awk -v all="$fm_y" 'index(all, " " $1 " ") && !index(all, " " $2 " ") { printf "%s ", $1 }'
}
fm_wide_pass() {
  if [ -n "$fm_wide" ]; then
    fm_pass URG "$2"
    fm_nap 0.05
  fi
  fm_pass "$1" "$2"
  fm_wide=''
}
# shellcheck disable=SC2046
fm_take() {
  fm_between=$(fm_marked)
  fm_left="$fm_between$(fm_tree "$fm_child" $fm_between)$fm_left"
  fm_ask "$1" "$2"
  fm_to=$(fm_next "$fm_child" $fm_between)
  case $fm_how in
    all)
      fm_told=" $fm_left$fm_told"
      [ -z "$fm_to" ] || fm_to=$(fm_group '!=' "$fm_to")
      [ -z "$fm_to" ] || fm_wide=URG
      fm_wide_pass "$1" "$fm_to"
      ;;
    alone)
      if ! { tr '\000' ' ' <"/proc/$fm_child/cmdline" | LC_ALL=C grep -qF "' HUP INT QUIT TERM"; } 2>/dev/null; then
        # The command needs no shell, or has replaced it.
        fm_wide_pass "$1" "${fm_to:-$fm_child}"
        return 0
      fi
      fm_pass "$1" "$fm_child"
      # What the shell begins at this moment is told when it is there.
      fm_tries=0
      until [ -n "$fm_to" ] || [ "$fm_tries" -gt 3 ]; do
        fm_to=$(fm_next $(fm_marked))
        [ -n "$fm_to" ] || fm_to=$(fm_children)
        [ -n "$fm_to" ] || fm_nap 0.05
        fm_tries=$((fm_tries + 1))
      done
      fm_wide_pass "$1" "$fm_to"
      ;;
  esac
  fm_wide=''
}
"#;

/// Runs a command as a child that has our input, to its end. A `wait` that a signal interrupts has a
/// status above 128 too: then the child is waited for again. The shell knows it no longer (127) if
/// that status was its own.
///
/// A signal that comes at the moment when the child ends can make bash lose the child's status. So
/// the task of a script that bash runs has a shell of its own, which ends a moment after a signal.
/// What runs above ends later anyway.
pub(super) const RUN: &str = r#"fm_pass() {
  for fm_p in $2; do kill -s "$1" "$fm_p" 2>/dev/null; done
  fm_told="$fm_told$2 "
}
fm_roots() {
  fm_parents | LC_ALL=C awk -v left="$fm_left" 'BEGIN { n = split(left, l, " "); for (i = 1; i <= n; i++) ours[l[i]] = 1 }
    $1 in ours { up[$1] = $2 }
    END { for (p in up) if (!(up[p] in up)) printf "%s ", p }'
}
# What is left is told from above: a layer ends what is below it itself. USR1 and USR2 count where the command ended by them.
fm_sweep() {
  fm_s=$fm_signal
  for fm_x in $fm_had; do [ "$fm_code" != "${fm_x#*:}" ] || fm_s=${fm_x%:*}; done
  [ -n "$fm_s" ] || fm_left=''
  fm_n=0
  while [ -n "$fm_left" ]; do
    fm_top=$(fm_roots)
    [ -n "$fm_top" ] || break
    for fm_p in $fm_top; do
      case $fm_told in
        *" $fm_p "*) ;;
        *) kill -s "$fm_s" "$fm_p" 2>/dev/null ;;
      esac
      fm_told="$fm_told$fm_p "
    done
    fm_n=$((fm_n + 1))
    if [ "$fm_n" -gt 100 ]; then
      for fm_p in $fm_left; do kill -s KILL "$fm_p" 2>/dev/null; done
      break
    fi
    fm_nap 0.1
  done
  fm_left='' fm_told=' '
}
fm_run() {
  fm_code=$fm_sig_code
  [ -z "$fm_signal" ] || return 0
  [ -n "$fm_witness" ] || fm_witness_begin
  if [ -n "$fm_later" ]; then
    (
      fm_n=''
      trap fm_n=1 HUP TERM USR1 USR2
      [ -z "$fm_with" ] || trap fm_n=1 INT QUIT
      ${fm_with:+env} $fm_with "$@" 9<&-
      fm_x=$?
      [ -z "$fm_n" ] || fm_nap 0.2
      exit "$fm_x"
    ) <&9 &
  else
    ${fm_with:+env} $fm_with "$@" <&9 9<&- &
  fi
  fm_child=$!
  # One that came meanwhile: whether the command has it is not known.
  [ -z "$fm_signal" ] || [ -n "$fm_got" ] || fm_pass "$fm_signal" "$fm_child"
  fm_was=''
  while :; do
    fm_woke=''
    wait "$fm_child"
    fm_code=$?
    [ "$fm_code" != 127 ] || fm_code=${fm_was:-127}
    if [ "$fm_code" -le 128 ] || [ -z "$fm_woke" ] || [ "$fm_code" = "$fm_was" ]; then break; fi
    fm_i=0
    until [ -n "$fm_witness" ] || [ "$fm_i" -ge 5 ]; do
      # After an interrupted `wait` a child of bash may end in it ("No record of process").
      fm_witness_begin 2>/dev/null
      fm_nap 0.05
      kill -0 "$fm_witness" 2>/dev/null || fm_witness=''
      fm_i=$((fm_i + 1))
    done
    fm_was=''
    kill -0 "$fm_child" 2>/dev/null && continue
    # bash would wait for the witness too if it has lost the status.
    fm_was=$fm_code
    fm_witness_end
  done
  fm_child=''
  fm_sweep
}
"#;

/// Commands after all. What they do to `EXIT` counts when they came to their end; a fault of theirs
/// is no fault of the task.
///
/// Where its directory could not be made the layer has not begun, and nothing of it runs.
pub(super) const AFTER: &str = r#"fm_after() {
  [ -n "$fm_own" ] || return 0
  fm_inside sh -c "trap : USR1 USR2; $fm_post_text" sh "$fm_code" "$fm_failed" "$fm_own"
  fm_new=''
  [ ! -f "$fm_own/.exit" ] || read -r fm_new <"$fm_own/.exit"
  case $fm_new in
    '' | *[!0-9]* | ????*)
      fm_code=$fm_command
      [ -n "$fm_failed" ] || fm_failed=post
      ;;
    *) fm_code=$fm_new ;;
  esac
}
"#;

/// The end of a layer, whatever led to it; `after`, `private` and `sandbox` say whether the layer
/// has such.
pub(super) fn end(out: &mut String, after: bool, private: bool, sandbox: bool) {
    let parts = [
        (true, POST_BEGINS),
        (after, "  fm_after\n  [ -z \"$fm_signal\" ] || fm_code=$fm_sig_code\n"),
        (private, OWN_REMOVED),
        // Nothing is left to pass a signal on to, and one to the group would end `cp` and `mv`.
        (sandbox, "  trap '' HUP INT QUIT TERM USR1 USR2\n  fm_sandbox_out\n"),
        (true, POST_ENDS),
    ];
    parts.iter().filter(|(there, _)| *there).for_each(|(_, text)| out.push_str(text));
}

const OWN_REMOVED: &str = r#"  if [ -n "$fm_own" ]; then
    if fm_mounted "$fm_own"; then
      fm_say "a file system is mounted in $fm_own, which stays: unmount it before you remove the directory"
    else
      rm -rf -- "$fm_own"
    fi
  fi
"#;

const POST_BEGINS: &str = r#"fm_post() {
  fm_command=$?
  # shellcheck disable=SC3028
  [ "${BASHPID:-$$}" = "$$" ] || return "$fm_command"
  trap - EXIT
  fm_code=$fm_command fm_signal=''
  [ "$fm_command" = 0 ] || fm_failed=$fm_phase
"#;

const POST_ENDS: &str = r#"  fm_witness_end
  for fm_x in $fm_had; do [ "$fm_code" != "${fm_x#*:}" ] || fm_ended=${fm_x%:*}; done
  fm_time
  fm_write_record
  if [ -n "$fm_ended" ]; then
    trap - "$fm_ended"
    kill -s "$fm_ended" $$
  fi
  exit "$fm_code"
}
trap fm_post EXIT
"#;

/// What the outermost layer tests before anything runs. The scripts of the layers below, its
/// arguments, are complete plain files of the owner of its own, the first argument. A record that is
/// there is a plain file with one name.
pub(super) const CHECKS: &str = r#"# shellcheck disable=SC2012
fm_owner() { ls -ldn "$1" | { read -r fm_x fm_y fm_t fm_n && printf %s "$fm_t"; }; }
fm_check() {
  fm_self=$1
  shift
  for fm_f; do
    # shellcheck disable=SC3067
    if [ -L "$fm_f" ] || [ ! -f "$fm_f" ] || [ ! -s "$fm_f" ]; then
      fm_say "$fm_f is no complete script: transform the workflow again"
      return 1
    elif [ -O "$fm_self" ] && [ -O "$fm_f" ]; then
      :
    elif [ "$(fm_owner "$fm_self")" != "$(fm_owner "$fm_f")" ]; then
      fm_say "$fm_f does not belong to the owner of $fm_self: another user made it"
      return 1
    fi
  done
  if [ -e "$fm_home/$fm_record" ] && [ -z "$(LC_ALL=C find "$fm_home/$fm_record" -prune -type f -links 1)" ]; then
    fm_say "$fm_record is no plain file with one name: remove it"
    fm_refused=1
    return 1
  fi
}
"#;

/// The first line of an attempt, by the outermost layer: by its process, on its host, in its Slurm
/// job, what belongs to the task is known.
pub(super) const BEGIN: &str = r#"fm_host=null fm_job=null
{ read -r fm_x </proc/sys/kernel/hostname; } 2>/dev/null || fm_x=$(uname -n)
case $fm_x in '' | *[!A-Za-z0-9._-]*) ;; *) fm_host=\"$fm_x\" ;; esac
case ${SLURM_JOB_ID-} in '' | *[!0-9]*) ;; *) fm_job=\"$SLURM_JOB_ID\" ;; esac
"#;
