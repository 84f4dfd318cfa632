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
fm_home=$PWD fm_phase=setup fm_failed='' fm_signal='' fm_ended='' fm_child='' fm_left='' fm_layer='' fm_done=''
fm_code=0 fm_command=0 fm_woke=0 fm_sig_code=0 fm_key='' fm_with='' fm_base='' fm_refused='' fm_witness='' fm_group=''
fm_queue='' fm_busy='' fm_others='' fm_told=' ' fm_found=''
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

/// Who the descendants of a process are, and signals. A shell cannot ask where a signal came from.
/// So each layer has a witness: a process of its group that nobody else knows. A signal that came to
/// the witness too went to the group, and the command has it already. The kernel tells the processes
/// of a group from the youngest to the eldest, so that the witness has its signal before the layer.
///
/// Signals are handled one after the other, each in full: a trap may run within another. Beside the
/// four that ask for an end these are the signals that end a process and that batch systems send,
/// with their numbers of Linux.
pub(super) const SIGNALS: &str = r#"fm_parents() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) [^ZX] \([0-9]*\) \([0-9]*\) .*/\1 \2 \3/p'
  else
    ps -A -o pid= -o ppid= -o pgid=
  fi
}
fm_tree() {
  fm_parents | awk -v roots=" $* " '{ up[$1] = $2 } END { for (p in up) { q = p; n = 0
    while (q in up && n++ < 10000) { q = up[q]; if (index(roots, " " q " ")) { printf "%s ", p; break } } } }'
}
# Not every `sleep` knows parts of a second.
fm_nap() {
  sleep "$1" 2>/dev/null
  [ "$?" != 1 ] || sleep 1
}
# It ends within seconds where this layer is killed. A background process ignores INT and QUIT unless `env` resets them. Its
# shell ends a moment later: bash may overlook a signal that comes with the end of a child, and handles it at the end of the next.
fm_witness_begin() {
  (
    fm_p='' fm_x=''
    for fm_n in $fm_all; do trap fm_woke=1 "${fm_n%:*}"; done
    trap fm_answer PROF
    (
      unset FLOWMINE_LAYER FLOWMINE_LAYERS
      ulimit -c 0
      [ -z "$fm_with" ] || exec env "$fm_with" tail -f -s 10 "--pid=$$" /dev/null
      exec sleep 1000000
    ) &
    fm_p=$!
    fm_wait "$fm_p"
    fm_x=$?
    fm_nap 0.2
    exit "$fm_x"
  ) </dev/null >/dev/null 2>&1 9<&- &
  fm_witness=$!
}
fm_answer() {
  [ -z "$fm_p" ] || kill -s KILL "$fm_p"
  [ -z "$fm_p" ] || [ -n "$fm_x" ] || { fm_wait "$fm_p"; fm_x=$?; }
  exit "${fm_x:-137}"
}
fm_witness_end() {
  [ -n "$fm_witness" ] || return 0
  kill -s PROF "$fm_witness" 2>/dev/null
  fm_wait "$fm_witness" 2>/dev/null
  set -- "$?"
  fm_witness=''
  return "$1"
}
# Whether a signal came to this process only. Who tells all processes one by one needs a moment for it, and a process that is
# to leave a core takes its signal when it runs, while KILL is the first of all.
fm_alone() {
  case $1 in QUIT | ABRT | XCPU) fm_nap 0.2 ;; *) fm_nap 0.05 ;; esac
  [ -n "$fm_witness" ] || return 0
  fm_witness_end
  set -- "$?" "$2"
  fm_witness_begin
  [ "$1" != "$2" ]
}
# Waits for a child to its end, whatever traps run meanwhile: one that ended at the same moment may be known no longer (127).
fm_wait() {
  set -- "$1" ''
  while :; do
    fm_woke=0
    wait "$1"
    set -- "$1" "$2" "$?"
    if [ "$3" = 127 ] && [ -n "$2" ]; then return "$2"; fi
    [ "$fm_woke" = 1 ] || return "$3"
    set -- "$1" "$3"
  done
}
fm_on() {
  fm_woke=1 fm_queue="$fm_queue $1:$2"
  while [ -n "$fm_queue" ] && [ -z "$fm_busy" ]; do
    fm_busy=1
    set -- "${fm_queue# }"
    set -- "${1%% *}"
    fm_queue=${fm_queue#" $1"}
    fm_take "${1%:*}" "${1#*:}"
    fm_busy='' fm_woke=1
  done
}
fm_take() {
  # Before the command each signal ends the layer, after it those that ask for an end.
  case $fm_done$1 in
    [!1]* | 1HUP | 1INT | 1QUIT | 1TERM | 1VTALRM | 1PROF) ;;
    *) return 0 ;;
  esac
  fm_group=1
  if [ -n "$fm_child" ] && fm_alone "$1" "$2"; then fm_group=''; fi
  case $1 in
    VTALRM) set -- INT 130 ;;
    PROF) set -- QUIT 131 ;;
  esac
  case $1 in
    HUP | INT | QUIT | TERM) fm_signal=$1 fm_sig_code=$2 ;;
    *) fm_others="$fm_others $1:$2 " ;;
  esac
  if [ -n "$fm_child" ]; then fm_pass "$1"; else fm_signal=$1 fm_sig_code=$2; fi
}
fm_all='HUP:129 INT:130 QUIT:131 ABRT:134 USR1:138 USR2:140 ALRM:142 TERM:143 XCPU:152 VTALRM:154 PROF:155'
for fm_x in $fm_all; do
  trap "fm_on ${fm_x%:*} ${fm_x#*:}" "${fm_x%:*}"
done
"#;

/// The plain task's script tells the shell of the task. What that leaves behind is told when it has
/// ended.
pub(super) const PASS_TO_TASK: &str = r#"fm_pass() {
  fm_left="$(fm_tree "$fm_child")$fm_left"
  if [ -n "$fm_group" ]; then fm_told=" $fm_left$fm_told"; else kill -s "$1" "$fm_child" 2>/dev/null; fi
}
fm_succeeded() { true; }
"#;

/// What the shell of a layer's command does at a signal: when the process that it waits for has
/// ended it ends too, with the status of that process. So nothing begins after a signal that asks
/// for an end, such as another attempt. Other signals end it where they ended what it waited for.
pub(super) const TAKES: &str = r#"trap 'exit "$?"' HUP INT QUIT TERM; trap 'case $? in 129 | 1[3-8]? | 19[012]) exit "$?" ;; esac' ABRT USR1 USR2 ALRM XCPU
"#;

/// A layer above tells the script of the layer below and the shell between them. Other programs
/// there, such as `timeout`, would tell it a second time. A program that has no such script below
/// it, as that of a container, is told itself.
///
/// `fm_marked` finds what runs between this layer and the next by `FLOWMINE_LAYER`, which each layer
/// sets for that, also where parents have ended. The next layer's script is the one that has its
/// file open. A layer that is started without `env` ignores INT and QUIT as background jobs do, and
/// takes VTALRM and PROF for them.
pub(super) const PASS_TO_LAYER: &str = r#"fm_marked() {
  for fm_p in $(
    unset FLOWMINE_LAYER
    grep -lszxF "FLOWMINE_LAYER=$$.$fm_begun" /proc/[0-9]*/environ
  ); do
    fm_p=${fm_p#/proc/} fm_p=${fm_p%/environ}
    [ "$fm_p" = "$fm_child" ] || printf '%s ' "$fm_p"
  done
}
# Of processes those that run the script below, without their own subshells.
# shellcheck disable=SC3013
fm_next() {
  for fm_p; do
    for fm_f in "/proc/$fm_p/fd/"*; do
      if [ "$fm_f" -ef "./$fm_below" ]; then
        printf '%s ' "$fm_p"
        break
      fi
    done
  done
}
fm_tops() { fm_parents | awk -v all=" $* " 'index(all, " " $1 " ") && !index(all, " " $2 " ") { printf "%s ", $1 }'; }
fm_children() { fm_parents | awk -v of="$fm_child" '$2 == of { printf "%s ", $1 }'; }
# What belongs to a process group of one of these processes, and not to ours: the youngest first, they themselves last.
fm_elsewhere() {
  fm_parents | sort -rn | awk -v self="$$" -v roots=" $* " '{ up[$1] = $2; group[$1] = $3; all[NR] = $1 } END { for (i = 1; i <= NR; i++) {
    p = q = all[i]; n = 0
    while (q in up && !index(roots, " " q " ") && n++ < 10000) q = up[q]
    if (!(q in up) || group[q] == group[self] || group[p] != group[q]) continue
    if (p == q) last = last " " p; else printf "%s ", p
  } print last }'
}
# shellcheck disable=SC2046
fm_pass() {
  set -- "$1" "$(fm_marked)"
  fm_left="$2$(fm_tree "$fm_child" $2)$fm_left"
  if [ -n "$fm_layer" ]; then
    case $fm_group$1 in
      1*) fm_told=" $fm_left$fm_told" ;;
      INT) kill -s VTALRM "$fm_child" 2>/dev/null ;;
      QUIT) kill -s PROF "$fm_child" 2>/dev/null ;;
      *) kill -s "$1" "$fm_child" 2>/dev/null ;;
    esac
    return 0
  fi
  fm_found=$(fm_tops $(fm_next $2))
  if [ -n "$fm_group" ]; then
    # A group of its own, as that of timeout, was not told.
    for fm_p in $(fm_elsewhere ${fm_found:-$(fm_children)}); do kill -s "$1" "$fm_p" 2>/dev/null; done
    fm_told=" $fm_left$fm_told"
  elif [ -r "/proc/$fm_child/cmdline" ] && ! grep -qszF "' HUP INT QUIT TERM" "/proc/$fm_child/cmdline"; then
    # The command has replaced its shell.
    for fm_p in ${fm_found:-$fm_child}; do kill -s "$1" "$fm_p" 2>/dev/null; done
  else
    kill -s "$1" "$fm_child" 2>/dev/null
    set -- "$1" 0
    # What the shell begins at this moment is told when it is there.
    until [ -n "$fm_found" ] || [ "$2" -gt 5 ]; do
      fm_found=$(fm_tops $(fm_next $(fm_marked)))
      [ -n "$fm_found" ] || fm_found=$(fm_children)
      [ -n "$fm_found" ] || fm_nap 0.05
      set -- "$1" "$(($2 + 1))"
    done
    for fm_p in $fm_found; do kill -s "$1" "$fm_p" 2>/dev/null; done
  fi
  fm_told=" $fm_found$fm_told"
}
# Whether status 0 of a command that a signal ended is that of the layer below.
fm_succeeded() {
  [ -n "$fm_done$fm_layer" ] || tail -n 1 "./$fm_record" 2>/dev/null | grep -q "\"level\":$fm_level,.*\"status\":0,"
}
"#;

/// Runs a command as a child that has our input.
pub(super) const RUN: &str = r#"fm_roots() {
  fm_parents | awk -v left="$fm_left" 'BEGIN { n = split(left, l, " "); for (i = 1; i <= n; i++) ours[l[i]] = 1 }
    $1 in ours { up[$1] = $2 }
    END { for (p in up) if (!(up[p] in up)) printf "%s ", p }'
}
fm_sweep() {
  # The layer below ends what is below it itself, and takes the time that its task takes.
  while [ -n "$fm_found" ] && fm_parents | awk -v all=" $fm_found " 'index(all, " " $1 " ") { found = 1 } END { exit !found }'; do
    fm_nap 0.1
  done
  # What is left is told from above.
  fm_n=0
  while [ -n "$fm_left" ]; do
    fm_top=$(fm_roots)
    [ -n "$fm_top" ] || break
    for fm_p in $fm_top; do
      case $fm_told in
        *" $fm_p "*) ;;
        *) kill -s "$fm_signal" "$fm_p" 2>/dev/null ;;
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
  fm_left=''
}
fm_run() {
  fm_code=$fm_sig_code
  [ -z "$fm_signal" ] || return 0
  [ -n "$fm_witness" ] || fm_witness_begin
  fm_others='' fm_told=' ' fm_found=''
  if [ -n "$fm_layer" ]; then
    "$@" <&9 9<&- &
  else
    ${fm_with:+env} $fm_with "$@" <&9 9<&- &
  fi
  fm_child=$!
  # The command had no time to take it.
  [ -z "$fm_signal" ] || { fm_group='' && fm_pass "$fm_signal"; }
  fm_wait "$fm_child"
  fm_code=$?
  # A layer that had not begun to take VTALRM and PROF ended by them.
  case $fm_layer$fm_signal$fm_code in layerINT154 | layerQUIT155) fm_code=$fm_sig_code ;; esac
  fm_child=''
  [ "$fm_code" != 0 ] || [ -z "$fm_signal" ] || fm_succeeded || fm_code=$fm_sig_code
  fm_layer=''
  case $fm_others in
    *":$fm_code "*)
      fm_p=${fm_others%":$fm_code "*}
      fm_signal=${fm_p##* } fm_sig_code=$fm_code
      ;;
  esac
  [ -z "$fm_signal" ] || fm_sweep
}
"#;

/// Commands after all. What they do to `EXIT` counts when they came to their end; a fault of theirs
/// is no fault of the task.
pub(super) const AFTER: &str = r#"fm_after() {
  fm_run sh -c "$fm_post_text" sh "$fm_code" "$fm_failed" "$fm_own"
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
        (after, "  fm_after\n  if [ -n \"$fm_signal\" ]; then fm_ended=$fm_signal fm_ended_code=$fm_sig_code fm_code=$fm_sig_code; fi\n"),
        (private, "  [ -z \"$fm_own\" ] || rm -rf -- \"$fm_own\"\n"),
        (sandbox, "  fm_sandbox_out\n"),
        (true, POST_ENDS),
    ];
    parts.iter().filter(|(there, _)| *there).for_each(|(_, text)| out.push_str(text));
}

const POST_BEGINS: &str = r#"fm_post() {
  fm_command=$?
  trap - EXIT
  fm_done=1
  fm_code=$fm_command fm_ended=$fm_signal fm_ended_code=$fm_sig_code fm_signal=''
  [ "$fm_command" = 0 ] || fm_failed=$fm_phase
"#;

const POST_ENDS: &str = r#"  fm_witness_end
  fm_time
  fm_write_record
  if [ -n "$fm_ended" ] && [ "$fm_code" = "$fm_ended_code" ]; then
    ulimit -c 0 2>/dev/null
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
  if [ -e "$fm_home/$fm_record" ] && [ -z "$(find "$fm_home/$fm_record" -prune -type f -links 1)" ]; then
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
