//! The way into a sandbox, and what is noted of it for the way out.

/// Names as lines. No path that `find` prints has two slashes in a row: a line that begins with two
/// begins a name, and a line feed in a name becomes `//n`. A slash at the end keeps blanks there.
pub(super) const LINES: &str = r#"fm_nl='
'
fm_join() {
  awk '/^\/\// { if (NR > 1) print line; line = substr($0, 3); next } { line = line "//n" $0 } END { if (NR > 0) print line }'
}
# Lines of names and of what is below them, each after what `stat` prints for a format.
fm_lines() {
  fm_x=$1
  shift
  find "$@" -exec stat -c "//$fm_x %n/" -- {} + 2>/dev/null | fm_join
}
# `fm_f` is the name in a line.
fm_decode() {
  fm_f=${1%/}
  case $fm_f in
    *//*) fm_f=$(printf '%s\n' "$fm_f" | awk '{ gsub("//n", "\n"); printf "%s.", $0 }') && fm_f=${fm_f%.} ;;
  esac
}
fm_encode() {
  fm_e=$1/
  case $1 in
    *"$fm_nl"*) fm_e=$(printf '%s/.\n' "$1" | awk 'NR > 1 { printf "//n" } { printf "%s", $0 }') && fm_e=${fm_e%.} ;;
  esac
}
# Of the lines after the line `//` those that are before it too (1), or are not (0).
fm_known() {
  awk -v known="$1" '$0 == "//" { after = 1; next } !after { was[$0]; next } ($0 in was) == known'
}
"#;

/// A directory for the task, with room, and its files: hard links where that can be, so that
/// containers see them, copies otherwise.
pub(super) const IN: &str = r#"fm_box='' fm_boxed='' fm_kept='' fm_older='' fm_came='' fm_inside='' fm_modes_in='' fm_dirs=$fm_nl
fm_sandbox_make() {
  if [ "$fm_disk_mb" -gt 0 ]; then
    fm_free=$(df -Pk . | awk 'NR == 2 { print $4 }')
    if [ -n "$fm_free" ] && [ "$((fm_free / 1024))" -lt "$fm_disk_mb" ]; then
      fm_say "the task needs $fm_disk_mb MB, and $((fm_free / 1024)) MB are free"
      return 1
    fi
  fi
  fm_private "$fm_home/$fm_box_name" || return 1
  fm_box=$fm_new
  cd "$fm_box" || return 1
}
fm_bring() {
  case $1 in /*) fm_from=$1 ;; *) fm_from=$fm_home/$1 ;; esac
  case $2 in */*) mkdir -p -- "./${2%/*}" || return 1 ;; esac
  if [ "$1" = "$2" ] && fm_brought "$2"; then
    # It came with the input above it.
    [ ! -e "./$2" ] || return 0
    if [ -L "./$2" ]; then
      fm_say "the input $1 is a link that leads out of the input above it"
      return 1
    fi
  fi
  if [ -d "$fm_from" ]; then
    fm_dirs=$fm_dirs$2$fm_nl
    mkdir -p -- "./$2" && cp -a -- "$fm_from/." "./$2"
  elif [ "$1" = "$2" ] && [ -e "./$2" ]; then
    # It came with another name.
    :
  elif [ -e "$fm_from" ]; then
    # A FIFO is never opened, and stays the one that it is.
    if ln -L -- "$fm_from" "./$2" 2>/dev/null || ln -- "$(readlink -f -- "$fm_from")" "./$2" 2>/dev/null; then :; else
      [ -f "$fm_from" ] && cp -p -- "$fm_from" "./$2"
    fi
  else
    fm_say "the input $1 is not there"
    return 1
  fi
}
# Files whose name is the same and has no directory: all with one program, and each that is left by itself.
fm_bring_all() {
  (cd "$fm_home" && exec ln -L -- "$@" "$fm_box") 2>/dev/null && return 0
  for fm_f; do
    # A directory may be here already, on the way to an output in it.
    if [ -e "./$fm_f" ] && [ ! -L "./$fm_f" ] && [ ! -d "./$fm_f" ]; then continue; fi
    fm_bring "$fm_f" "$fm_f" || return 1
  done
}
# Removes a sandbox, also where directories in it are closed to writing.
fm_box_remove() {
  rm -rf -- "$1" 2>/dev/null && return 0
  find "$1" -type d ! -perm -700 -exec chmod u+rwx -- {} \;
  rm -rf -- "$1"
}
"#;

/// Directories on the way to outputs, and links to directories there and in the place of outputs.
/// The task finds such a link as without the sandbox. What it leads to is hidden beside it. So it is
/// known on the way out whether the task wrote through the link or replaced it.
pub(super) const WAY: &str = r#"fm_placed='' fm_links_left='' fm_behind_was='' fm_through=$fm_nl fm_targets=$fm_nl fm_idle=$fm_nl
# shellcheck disable=SC3013
fm_one() { [ "$1" -ef "$2" ]; }
# A link is followed where it was made by this user or by root.
fm_ours() { [ -n "$(find "$1" -prune \( -user 0 -o -user "$(id -u)" \))" ]; }
fm_hidden() {
  case $2 in */*) fm_h=./${2%/*}/$fm_behind.$1 ;; *) fm_h=./$fm_behind.$1 ;; esac
}
# The kinds `way` of directories on the way to an output, `both` of outputs that are inputs, which may be links to files, `out` of
# other outputs.
fm_place_all() {
  fm_kind=$1 fm_c=0
  shift
  for fm_o; do
    fm_c=$((fm_c + 1))
    fm_place "$fm_kind$fm_c" "${fm_o#./}" || return 1
  done
}
fm_place() {
  if [ -L "./$2" ] || fm_brought "$2"; then return 0; fi
  if [ ! -L "$fm_home/$2" ]; then
    case $1 in way*) [ ! -d "$fm_home/$2" ] || mkdir -p -- "./$2" ;; esac
    return "$?"
  fi
  case $1 in way*) ;; *) fm_ours "$fm_home/$2" || return 0 ;; esac
  # What an earlier attempt left is no link of the user's, unless it is an input of this one.
  fm_encode "./$2"
  case $1$fm_nl$fm_older$fm_nl in both*) ;; *" $fm_e$fm_nl"*) return 0 ;; esac
  fm_hidden "$1" "$2"
  if [ -d "$fm_home/$2" ]; then
    mkdir -p -- "$fm_h" || return 1
  else
    case $1 in both*) [ -f "$fm_home/$2" ] || return 0 ;; *) return 0 ;; esac
    fm_bring "$2" "$fm_h" || return 1
  fi
  ln -s -- "$fm_behind.$1" "./$2" || return 1
  fm_placed="$fm_placed $1=$(stat -c %i.%Z -- "$fm_home/$2") "
}
# On the way out: what is behind a link that stayed comes to its place; a link that the task removed goes in the workflow too.
fm_settle_all() {
  fm_kind=$1 fm_c=0
  shift
  for fm_o; do
    fm_c=$((fm_c + 1))
    fm_settle "$fm_kind$fm_c" "${fm_o#./}"
  done
}
fm_settle() {
  case $fm_placed in *" $1="*) ;; *) return 0 ;; esac
  fm_reached "$fm_home/$2" || return 0
  fm_hidden "$1" "$2"
  fm_x=''
  if [ -L "$fm_home/$2" ]; then
    case $fm_placed in *" $1=$(stat -c %i.%Z -- "$fm_home/$2") "*) fm_x=1 ;; esac
  fi
  if [ -L "./$2" ] && [ -e "$fm_h" ] && [ "$(readlink -- "./$2")" = "$fm_behind.$1" ]; then
    [ -n "$(fm_changed "$fm_h")" ] || fm_idle=$fm_idle$2$fm_nl
    fm_targets=$fm_targets$fm_home/$2=$(fm_target "$fm_home/$2")$fm_nl
    if ! rm -f -- "./$2" || ! mv -- "$fm_h" "./$2"; then fm_keep "the output $2 could not be brought back"; fi
    fm_encode "./$2"
    [ -z "$fm_x" ] || fm_through=$fm_through$fm_home/$2$fm_nl fm_links_left="$fm_links_left${fm_nl}link $fm_e"
  elif [ -e "$fm_h" ] && ! fm_one "$fm_h" "$fm_home/$2" && [ -n "$(fm_changed "$fm_h")" ]; then
    fm_keep "what the task wrote through the link $2 before it removed it is in the sandbox"
  elif [ -n "$fm_x" ]; then
    rm -f -- "$fm_home/$2"
  fi
}
fm_target() { stat -L -c %i -- "$1" 2>/dev/null; }
fm_changed() { { printf '%s\n' "$fm_behind_was" // && fm_lines '%i %z' "$1"; } | fm_known 0; }
# Whether each link on the way to an output is one through which the task wrote, or came with a directory and leads here where it
# leads in the workflow.
fm_reached() {
  fm_w=$fm_home fm_y=${1#"$fm_home"/}
  while :; do
    case $fm_y in */*) fm_w=$fm_w/${fm_y%%/*} fm_y=${fm_y#*/} ;; *) return 0 ;; esac
    if [ -L "$fm_w" ]; then
      case $fm_through in *"$fm_nl$fm_w$fm_nl"*) ;; *) fm_brought "${fm_w#"$fm_home"/}" && fm_leads "${fm_w#"$fm_home"/}" || return 1 ;; esac
    fi
  done
}
fm_real() { (cd -P -- "$1" 2>/dev/null && printf '%s/' "$PWD"); }
fm_leads() {
  [ -L "./$1" ] || return 1
  fm_p=$(fm_real "./$1") && fm_q=$(fm_real "$fm_home/$1") && fm_r=$(fm_real "$fm_home") || return 1
  [ "${fm_p#"$fm_box_itself"/}" = "${fm_q#"$fm_r"}" ]
}
"#;

/// Files that the task leaves alone are not brought back: a change of one changes the time of its
/// inode, which no program sets, once the clock of the file system has gone on.
pub(super) const NOTED: &str = r#"fm_tick() {
  fm_n=0
  : >"./$fm_behind" && fm_x=$(stat -c %z -- "./$fm_behind")
  while [ "$(stat -c %z -- "./$fm_behind")" = "$fm_x" ]; do
    fm_n=$((fm_n + 1))
    if [ "$fm_n" -gt 2000 ]; then
      # Without a clock that goes nothing is known to be unchanged.
      fm_inside='' fm_behind_was=''
      break
    fi
    rm -f -- "./$fm_behind"
    : >"./$fm_behind"
  done
  rm -f -- "./$fm_behind"
}
fm_notice() {
  [ -z "$fm_placed" ] || fm_behind_was=$(fm_lines '%i %z' . | grep -F -e "/$fm_behind.")
  [ -z "$fm_inside$fm_placed" ] || fm_tick
}
fm_notice_inside() {
  fm_n=''
  for fm_f; do if [ -d "$fm_f" ] || [ -L "$fm_f" ]; then fm_n=1; fi; done
  [ -z "$fm_n" ] || fm_inside=$(fm_lines '%i %z' -H "$@") fm_modes_in=$(fm_lines %a -H "$@" -type d)
}
"#;
