//! The parts of a script that are the same for all tasks.

/// State, and who the descendants of a process are. A signal is remembered and passed on; the shell is in `wait` when it comes, so that
/// it is handled at once and not after the command.
pub(super) const SIGNALS: &str = r#"fm_home=$PWD fm_phase=setup fm_failed='' fm_signal='' fm_ended='' fm_child='' fm_left='' fm_dog=''
fm_code=0 fm_command=0 fm_woke=0 fm_sig_code=0
if (: <&0) 2>/dev/null; then exec 3<&0; else exec 3</dev/null; fi
fm_parents() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) (.*) [^ZX] \([0-9]*\) .*/\1 \2/p'
  else
    ps -A -o pid= -o ppid=
  fi
}
fm_tree() {
  fm_parents | awk -v root="$1" '{ up[$1] = $2 } END { for (p in up) { q = p; n = 0
    while (q in up && q != root && n++ < 10000) q = up[q]
    if (q == root && p != root) printf "%s ", p } }'
}
fm_on() {
  fm_woke=1
  case $1 in
    USR1 | USR2) [ -z "$fm_child" ] || kill -s "$1" "$fm_child" 2>/dev/null ;;
    *)
      # Once is enough: a second signal would look for processes that have lost their parents since.
      if [ -z "$fm_signal" ]; then
        fm_signal=$1 fm_sig_code=$2
        [ -z "$fm_child" ] || fm_pass
      fi
      ;;
  esac
}
trap 'fm_on HUP 129' HUP
trap 'fm_on INT 130' INT
trap 'fm_on QUIT 131' QUIT
trap 'fm_on TERM 143' TERM
trap 'fm_on USR1 0' USR1
trap 'fm_on USR2 0' USR2
"#;

/// In the plain task's script a signal goes to all its processes, as a terminal or a batch system sends it.
pub(super) const PASS_TO_ALL: &str = r#"fm_pass() {
  fm_left=$(fm_tree "$fm_child")
  for fm_p in "$fm_child" $fm_left; do kill -s "$fm_signal" "$fm_p" 2>/dev/null; done
  fm_watch
}
"#;

/// Above, it goes to the command alone, which passes it on: what is below has its own `post`.
pub(super) const PASS_TO_LAYER: &str = r#"fm_pass() {
  fm_left=$(fm_tree "$fm_child")
  kill -s "$fm_signal" "$fm_child" 2>/dev/null
  fm_watch
}
"#;

/// Runs a command as a child that takes INT and QUIT (a shell's background jobs ignore them) and has our input.
pub(super) const RUN: &str = r#"fm_watch() {
  [ -z "$fm_dog" ] || return 0
  (
    # Only when the time is over, not when the sleep was ended.
    sleep 10 || exit 0
    for fm_p in "$fm_child" $fm_left; do kill -s KILL "$fm_p"; done
  ) </dev/null >/dev/null 2>&1 3<&- &
  fm_dog=$!
}
fm_roots() {
  fm_parents | awk -v left="$fm_left" 'BEGIN { n = split(left, l, " "); for (i = 1; i <= n; i++) ours[l[i]] = 1 }
    $1 in ours { up[$1] = $2 }
    END { for (p in up) if (!(up[p] in up)) printf "%s ", p }'
}
fm_sweep() {
  if [ -n "$fm_dog" ]; then
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
  if env --default-signal=INT true 2>/dev/null; then
    env --default-signal=INT,QUIT "$@" <&3 3<&- &
  else
    "$@" <&3 3<&- &
  fi
  fm_child=$!
  [ -z "$fm_signal" ] || fm_pass
  while :; do
    fm_woke=0
    wait "$fm_child"
    fm_code=$?
    if [ "$fm_woke" = 0 ] || ! kill -0 "$fm_child" 2>/dev/null; then break; fi
  done
  fm_child=''
  [ -z "$fm_signal" ] || fm_sweep
}
"#;

/// Commands after all. What they do to `EXIT` counts when they came to their end; a fault of theirs is no fault of the task.
pub(super) const AFTER: &str = r#"fm_after() {
  fm_run sh -c "$fm_post_text" sh "$fm_code" "$fm_failed" "$fm_mark"
  fm_new=''
  if [ -e "$fm_mark" ]; then read -r fm_new <"$fm_mark"; fi
  rm -f -- "$fm_mark"
  case $fm_new in
    '' | *[!0-9]* | ????*)
      fm_code=$fm_command
      [ -n "$fm_failed" ] || fm_failed=post
      ;;
    *) fm_code=$fm_new ;;
  esac
}
"#;

/// The end of a layer, whatever led to it.
pub(super) const POST: &str = r#"fm_post() {
  fm_command=$?
  trap - EXIT
  fm_code=$fm_command fm_ended=$fm_signal fm_ended_code=$fm_sig_code fm_signal=''
  if [ "$fm_command" != 0 ]; then fm_failed=$fm_phase; fi
  fm_after
  if [ -n "$fm_signal" ]; then fm_ended=$fm_signal fm_ended_code=$fm_sig_code fm_code=$fm_sig_code; fi
  fm_sandbox_out
  fm_write_record
  if [ -n "$fm_ended" ] && [ "$fm_code" = "$fm_ended_code" ]; then
    trap - "$fm_ended"
    kill -s "$fm_ended" $$
  fi
  exit "$fm_code"
}
trap fm_post EXIT
"#;

/// A directory for the task, with room, and its files: hard links where that can be, so that containers see them, copies otherwise.
pub(super) const SANDBOX: &str = r#"fm_box=''
fm_sandbox_make() {
  if [ "$fm_disk_mb" -gt 0 ]; then
    fm_free=$(df -Pk . | awk 'NR == 2 { print $4 }')
    if [ -n "$fm_free" ] && [ "$((fm_free / 1024))" -lt "$fm_disk_mb" ]; then
      printf '%s\n' "flowmine transform: the task needs $fm_disk_mb MB, and $((fm_free / 1024)) MB are free" >&2
      return 1
    fi
  fi
  fm_n=0
  until mkdir "$fm_home/$fm_box_name.$fm_n" 2>/dev/null; do
    fm_n=$((fm_n + 1))
    [ "$fm_n" -lt 100 ] || return 1
  done
  fm_box=$fm_home/$fm_box_name.$fm_n
  cd "$fm_box" || return
  fm_mark=$fm_box/.mark
}
fm_bring() {
  case $1 in /*) fm_from=$1 ;; *) fm_from=$fm_home/$1 ;; esac
  case $2 in */*) mkdir -p -- "./${2%/*}" || return ;; esac
  if [ -d "$fm_from" ]; then
    mkdir -p -- "./$2" && cp -Rp -- "$fm_from/." "./$2"
  elif [ -e "$fm_from" ]; then
    ln -L -- "$fm_from" "./$2" 2>/dev/null || cp -p -- "$fm_from" "./$2"
  else
    printf '%s\n' "flowmine transform: the input $1 is not there" >&2
    return 1
  fi
}
fm_give() {
  if [ ! -e "./$1" ] && [ ! -L "./$1" ]; then return 0; fi
  case $2 in /*) fm_to=$2 ;; *) fm_to=$fm_home/$2 ;; esac
  # An input that the task has changed where it lies is the output already.
  # shellcheck disable=SC3013
  if [ "./$1" -ef "$fm_to" ]; then
    rm -rf -- "./$1"
  elif [ -d "./$1" ] && [ -d "$fm_to" ]; then
    cp -Rp -- "./$1/." "$fm_to"
  else
    mv -f -- "./$1" "$fm_to"
  fi || {
    printf '%s\n' "flowmine transform: the output $2 could not be brought back" >&2
    [ "$fm_code" != 0 ] || fm_code=125 fm_failed=sandbox
  }
}
"#;
