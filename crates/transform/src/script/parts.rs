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
fm_home=$PWD fm_phase=setup fm_failed='' fm_signal='' fm_ended='' fm_child='' fm_left='' fm_dog='' fm_layer=''
fm_code=0 fm_command=0 fm_woke=0 fm_sig_code=0 fm_key='' fm_with='' fm_base='' fm_refused=''
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

/// Who the descendants of a process are. A signal is remembered and passed on; the shell is in
/// `wait` when it comes, so that it is handled at once and not after the command.
pub(super) const SIGNALS: &str = r#"fm_parents() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) [^ZX] \([0-9]*\) .*/\1 \2/p'
  else
    ps -A -o pid= -o ppid=
  fi
}
fm_tree() {
  fm_parents | awk -v roots=" $* " '{ up[$1] = $2 } END { for (p in up) { q = p; n = 0
    while (q in up && n++ < 10000) { q = up[q]; if (index(roots, " " q " ")) { printf "%s ", p; break } } } }'
}
fm_on() {
  fm_woke=1
  case $1 in
    USR?) [ -z "$fm_child" ] || kill -s "$1" "$fm_child" 2>/dev/null ;;
    *)
      # Once is enough: a second signal would look for processes that have lost their parents since.
      if [ -z "$fm_signal" ]; then
        fm_signal=$1 fm_sig_code=$2
        [ -z "$fm_child" ] || fm_pass
      fi
      ;;
  esac
}
for fm_x in 'HUP 129' 'INT 130' 'QUIT 131' 'TERM 143' 'USR1 0' 'USR2 0'; do trap "fm_on $fm_x" "${fm_x% *}"; done
trap 'fm_on INT 130' VTALRM
trap 'fm_on QUIT 131' PROF
"#;

/// In the plain task's script a signal goes to all its processes, as a terminal or a batch system
/// sends it.
pub(super) const PASS_TO_ALL: &str = r#"fm_pass() {
  fm_left=$(fm_tree "$fm_child")
  for fm_p in "$fm_child" $fm_left; do kill -s "$fm_signal" "$fm_p" 2>/dev/null; done
  fm_watch
}
"#;

/// In a layer above, the signal goes to the command alone, which passes it on, because the layer
/// below has its own `post`. A layer that is started without `env` ignores INT and QUIT as
/// background jobs do, and takes VTALRM and PROF for them.
///
/// A signal to a whole process group also ends the shell of the layer's command, possibly before
/// the trap runs. The processes that this shell started then have another parent. `fm_marked` finds
/// them by `FLOWMINE_LAYER`, which each layer sets for the processes between itself and the next.
pub(super) const PASS_TO_LAYER: &str = r#"fm_marked() {
  for fm_p in $(
    unset FLOWMINE_LAYER
    grep -lszF "FLOWMINE_LAYER=$$.$fm_begun" /proc/[0-9]*/environ
  ); do
    fm_p=${fm_p#/proc/} fm_p=${fm_p%/environ}
    [ "$fm_p" = "$fm_child" ] || printf '%s ' "$fm_p"
  done
}
fm_pass() {
  fm_left=$(fm_marked)
  # shellcheck disable=SC2086
  fm_left="$fm_left$(fm_tree "$fm_child" $fm_left)" fm_p=$fm_signal
  case $fm_layer$fm_signal in layerINT) fm_p=VTALRM ;; layerQUIT) fm_p=PROF ;; esac
  kill -s "$fm_p" "$fm_child" 2>/dev/null
  # A shell that waits for its command takes INT as meant for that: it goes to all, as from a terminal.
  [ "$fm_signal" != INT ] || for fm_p in $fm_left; do kill -s INT "$fm_p" 2>/dev/null; done
  fm_watch
}
"#;

/// Runs a command as a child that has our input.
pub(super) const RUN: &str = r#"fm_watch() {
  [ -z "$fm_dog" ] || return 0
  (
    # Only when the time is over, not when the sleep was ended.
    sleep 10 || exit 0
    for fm_p in "$fm_child" $fm_left; do kill -s KILL "$fm_p"; done
  ) </dev/null >/dev/null 2>&1 9<&- &
  fm_dog=$!
}
fm_roots() {
  fm_parents | awk -v left="$fm_left" 'BEGIN { n = split(left, l, " "); for (i = 1; i <= n; i++) ours[l[i]] = 1 }
    $1 in ours { up[$1] = $2 }
    END { for (p in up) if (!(up[p] in up)) printf "%s ", p }'
}
fm_sweep() {
  if [ -n "$fm_dog" ]; then
    # Stopped first, so that it starts nothing while it is looked at.
    kill -s STOP "$fm_dog" 2>/dev/null
    for fm_p in "$fm_dog" $(fm_tree "$fm_dog"); do kill -s KILL "$fm_p" 2>/dev/null; done
    wait "$fm_dog" 2>/dev/null
    fm_dog=''
  fi
  # What is left is told from above: a layer ends what is below it itself.
  fm_n=0 fm_told=' '
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
    sleep 0.1 2>/dev/null || sleep 1
  done
  fm_left=''
}
fm_run() {
  fm_code=$fm_sig_code
  [ -z "$fm_signal" ] || return 0
  if [ -n "$fm_layer" ]; then
    "$@" <&9 9<&- &
  else
    ${fm_with:+env} $fm_with "$@" <&9 9<&- &
  fi
  fm_child=$!
  [ -z "$fm_signal" ] || fm_pass
  while :; do
    fm_woke=0
    wait "$fm_child"
    fm_code=$?
    if [ "$fm_woke" = 0 ] || ! kill -0 "$fm_child" 2>/dev/null; then break; fi
  done
  # A layer that had not begun to take VTALRM and PROF ended by them.
  case $fm_layer$fm_signal$fm_code in layerINT154 | layerQUIT155) fm_code=$fm_sig_code ;; esac
  fm_child='' fm_layer=''
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
  fm_code=$fm_command fm_ended=$fm_signal fm_ended_code=$fm_sig_code fm_signal=''
  [ "$fm_command" = 0 ] || fm_failed=$fm_phase
"#;

const POST_ENDS: &str = r#"  fm_time
  fm_write_record
  if [ -n "$fm_ended" ] && [ "$fm_code" = "$fm_ended_code" ]; then
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
