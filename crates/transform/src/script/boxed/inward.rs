//! The way into a sandbox, and what is noted of it for the way out.

/// Names as lines. No path that `find` prints has two slashes in a row: a line that begins with two
/// begins a name, and a line feed in a name becomes `//n`. A slash at the end keeps blanks there.
pub(super) const LINES: &str = r#"fm_nl='
'
fm_join() {
  LC_ALL=C awk '/^\/\// { if (NR > 1) print line; line = substr($0, 3); next } { line = line "//n" $0 } END { if (NR > 0) print line }'
}
# Lines of names and of what is below them, each after what `stat` prints for a format.
fm_lines() {
  fm_x=$1
  shift
  LC_ALL=C find "$@" -exec stat -c "//$fm_x %n/" -- {} + 2>/dev/null | fm_join
}
# `fm_f` is the name in a line.
fm_decode() {
  fm_f=${1%/}
  case $fm_f in
    *//*) fm_f=$(printf '%s\n' "$fm_f" | LC_ALL=C awk '{ gsub("//n", "\n"); printf "%s.", $0 }') && fm_f=${fm_f%.} ;;
  esac
}
fm_encode() {
  fm_e=$1/
  case $1 in
    *"$fm_nl"*) fm_e=$(printf '%s/.\n' "$1" | LC_ALL=C awk 'NR > 1 { printf "//n" } { printf "%s", $0 }') && fm_e=${fm_e%.} ;;
  esac
}
# Of the lines after the line `//` those that are before it too (1), or are not (0).
fm_known() {
  LC_ALL=C awk -v known="$1" '$0 == "//" { after = 1; next } !after { was[$0]; next } ($0 in was) == known'
}
"#;

/// A directory for the task, with room, and its files: hard links where that can be, so that
/// containers see them, copies otherwise.
pub(super) const IN: &str = r#"fm_box='' fm_boxed='' fm_kept='' fm_older='' fm_came='' fm_inside='' fm_modes_in='' fm_dirs=$fm_nl
fm_sandbox_make() {
  if [ "$fm_disk_mb" -gt 0 ]; then
    fm_free=$(df -Pk . | LC_ALL=C awk 'NR == 2 { print $4 }')
    if [ -n "$fm_free" ] && [ "$((fm_free / 1024))" -lt "$fm_disk_mb" ]; then
      fm_say "the task needs $fm_disk_mb MB, and $((fm_free / 1024)) MB are free"
      return 1
    fi
  fi
  fm_private "$fm_home/$fm_box_name" || return 1
  fm_box=$fm_new
  cd "$fm_box" || return 1
}
# The place of a directory without links, with a slash at its end.
fm_real() { (cd -P -- "$1" 2>/dev/null && printf '%s/' "$PWD"); }
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
    case $(fm_real "$fm_box") in "$(fm_real "$fm_from")"*)
      fm_say "the input $1 is a link to a directory that holds the sandbox"
      return 1
      ;;
    esac
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
  if fm_mounted "$1"; then
    fm_say "a file system is mounted in $1, which stays: unmount it before you remove the sandbox"
    return 1
  fi
  rm -rf -- "$1" 2>/dev/null && return 0
  LC_ALL=C find "$1" -xdev -type d ! -perm -700 -exec chmod u+rwx -- {} \;
  rm -rf -- "$1"
}
"#;

/// Directories on the way to outputs, and links to directories there and in the place of outputs.
/// The task finds such a link as without the sandbox. A link on the way that leads to a place below
/// the directory of the workflow leads to that place of the sandbox. What any other leads to is
/// hidden: one directory for each place elsewhere, and beside a link in the place of an output. So
/// it is known on the way out whether the task wrote through the link or replaced it.
pub(super) const WAY: &str = r#"fm_placed='' fm_linked='' fm_hiding='' fm_places='' fm_away='' fm_away_n=0 fm_links_left='' fm_behind_was='' fm_maps=''
fm_through=$fm_nl fm_targets=$fm_nl fm_idle=$fm_nl fm_followed=$fm_nl
# shellcheck disable=SC3013
fm_one() { [ "$1" -ef "$2" ]; }
# A link is followed where it was made by this user or by root.
fm_ours() { [ -n "$(LC_ALL=C find "$1" -prune \( -user 0 -o -user "$(id -u)" \))" ]; }
fm_text() { fm_l=$(readlink -- "$1" && printf .) && fm_l=${fm_l%??}; }
# `fm_r` is the place of the workflow, `fm_q` that of a directory in it, `fm_y` its name below the workflow.
fm_below() {
  fm_r=$(fm_real "$fm_home") && fm_q=$(fm_real "$fm_home/$1") || return 1
  case $fm_q in "$fm_r"*) fm_y=${fm_q#"$fm_r"} ;; *) return 1 ;; esac
}
fm_leads_to() { [ "$(fm_real "./$1")" = "$2" ]; }
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
    case $1 in way*)
      if ! fm_is_output "$2"; then
        if fm_below "$2"; then fm_l=$fm_y; else fm_away_from "$2" || return 1; fi
        fm_place_link "$1" "$2" "$fm_l"
        return "$?"
      fi
      ;;
    esac
    fm_q=$(fm_real "$fm_home/$2") && fm_apart "$2" "$fm_q" || return 1
    fm_places=$fm_places$fm_q_e$fm_nl
    fm_encode "./$2"
    fm_hiding=$fm_hiding$fm_e$fm_nl
    mkdir -p -- "$fm_h" || return 1
  else
    case $1 in
      way*)
        # The plain task would find it too, and what it makes in its place could not come out.
        fm_say "the link $2 on the way to an output does not lead to a directory: a sandbox cannot hold it"
        return 1
        ;;
      both*) [ -f "$fm_home/$2" ] || return 0 ;;
      *) return 0 ;;
    esac
    fm_bring "$2" "$fm_h" || return 1
  fi
  ln -s -- "$fm_behind.$1" "./$2" || return 1
  fm_placed="$fm_placed $1=$(stat -c %i.%Z -- "$fm_home/$2") "
}
# The link leads to a place in the sandbox, the third argument, that stands for the one of the workflow's link.
fm_place_link() {
  mkdir -p -- "./$3" && fm_text "$fm_home/$2" && ln -s -- "$fm_l" "./$2" || return 1
  fm_p=$(fm_real .)
  if ! fm_leads_to "$2" "$fm_p$3"; then
    rm -f -- "./$2" && ln -s -- "$fm_box/${3%/}" "./$2" && fm_leads_to "$2" "$fm_p$3" || return 1
  fi
  fm_placed="$fm_placed $1=$(stat -c %i.%Z -- "$fm_home/$2") "
  fm_linked="$fm_linked $1=$(stat -c %i.%Z -- "./$2") "
}
# `fm_l` is the directory that stands for the place `fm_q` elsewhere.
fm_away_from() {
  fm_encode "$fm_q"
  fm_q_e=${fm_e%/} fm_l=''
  while read -r fm_n fm_f; do
    if [ -z "$fm_n" ]; then continue; fi
    case $fm_q_e in "$fm_f"*)
      fm_decode "x/${fm_q_e#"$fm_f"}/"
      fm_l=$fm_behind.$fm_n/${fm_f#x/}
      ;;
    esac
  done <<EOF
$fm_away
EOF
  [ -z "$fm_l" ] || return 0
  fm_apart "$1" "$fm_q" || return 1
  fm_away_n=$((fm_away_n + 1))
  fm_away="$fm_away${fm_nl}away$fm_away_n $fm_q_e" fm_l=$fm_behind.away$fm_away_n/
}
# Places that are hidden are apart: what the task writes to one does not appear in another.
fm_apart() {
  fm_encode "$2"
  fm_q_e=${fm_e%/}
  while read -r fm_f; do
    if [ -z "$fm_f" ]; then continue; fi
    case $fm_q_e in "$fm_f"*) fm_f=$fm_q_e ;; esac
    case $fm_f in "$fm_q_e"*)
      fm_say "the link $1 leads to the place of another link: a sandbox cannot hold both"
      return 1
      ;;
    esac
  done <<EOF
$fm_places
$(printf '%s\n' "$fm_away" | LC_ALL=C sed 's/^[^ ]* //')
EOF
}
# When all is brought: nothing that is hidden is here by another name too.
fm_place_apart() {
  fm_p=$(fm_real .)
  while read -r fm_f; do
    if [ -z "$fm_f" ]; then continue; fi
    fm_decode "$fm_f"
    fm_below "$fm_f" || continue
    if [ -z "$fm_y" ] || [ -e "./${fm_y%/}" ]; then
      fm_say "the link ${fm_f#./} in the place of an output leads to ${fm_y:-.}, which the task has by its own name too: a sandbox cannot hold both"
      return 1
    fi
  done <<EOF
$fm_hiding
EOF
}
# A link that came with a directory, in the place of an output or on the way to one, leads where it leads in the workflow: to the
# sandbox for a place below the workflow, to the place itself for any other.
fm_follow_all() {
  for fm_o; do fm_follow "${fm_o#./}" || return 1; done
}
fm_follow() {
  if [ ! -L "./$1" ] || ! fm_brought "$1" || [ ! -d "$fm_home/$1" ]; then return 0; fi
  fm_p=$(fm_real .)
  if fm_below "$1"; then
    ! fm_leads_to "$1" "$fm_p$fm_y" || return 0
    mkdir -p -- "./$fm_y" || return 1
    ! fm_leads_to "$1" "$fm_p$fm_y" || return 0
    fm_x=$fm_box/$fm_y fm_q=$fm_p$fm_y
  else
    fm_x=$fm_q
    fm_apart "$1" "$fm_q" || return 1
    ! fm_leads_to "$1" "$fm_q" || return 0
  fi
  while :; do case $fm_x in ?*/) fm_x=${fm_x%/} ;; *) break ;; esac; done
  if ! rm -f -- "./$1" || ! ln -s -- "$fm_x" "./$1" || ! fm_leads_to "$1" "$fm_q"; then
    fm_say "the link $1 cannot lead where it leads in the workflow"
    return 1
  fi
  fm_followed=$fm_followed$1$fm_nl
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
  case $fm_linked in *" $1="*)
    if [ -L "./$2" ]; then
      case $fm_linked in *" $1=$(stat -c %i.%Z -- "./$2") "*)
        [ -z "$fm_x" ] || fm_through=$fm_through$fm_home/$2$fm_nl
        return 0
        ;;
      esac
    fi
    if [ -z "$fm_x" ]; then return 0; fi
    if ! fm_below "$2" && fm_changed . | LC_ALL=C grep -qF -e "/$fm_behind.away"; then
      fm_keep "what the task wrote through the link $2 before it removed it is in the sandbox"
    else
      rm -f -- "$fm_home/$2"
    fi
    return 0
    ;;
  esac
  if [ -L "./$2" ] && [ -e "$fm_h" ] && [ "$(readlink -- "./$2")" = "$fm_behind.$1" ]; then
    [ -n "$(fm_changed "$fm_h")" ] || fm_idle=$fm_idle$2$fm_nl
    fm_targets=$fm_targets$fm_home/$2=$(fm_target "$fm_home/$2")$fm_nl
    fm_p=$(fm_real "$fm_h")
    if ! rm -f -- "./$2" || ! mv -- "$fm_h" "./$2"; then fm_keep "the output $2 could not be brought back"; fi
    fm_map "$fm_p" "$(fm_real "./$2")"
    fm_encode "./$2"
    [ -z "$fm_x" ] || fm_through=$fm_through$fm_home/$2$fm_nl fm_links_left="$fm_links_left${fm_nl}link $fm_e"
  elif [ -e "$fm_h" ] && ! fm_one "$fm_h" "$fm_home/$2" && [ -n "$(fm_changed "$fm_h")" ]; then
    fm_keep "what the task wrote through the link $2 before it removed it is in the sandbox"
  elif [ -n "$fm_x" ]; then
    rm -f -- "$fm_home/$2"
  fi
}
# Directories that the task closed below the first place are below the second now.
fm_map() {
  if [ -z "$fm_closed" ] || [ -z "$1" ] || [ -z "$2" ] || [ "$1" = "$2" ]; then return 0; fi
  fm_encode "./${1#"$fm_box_itself"/}"
  fm_maps=$fm_maps${fm_nl}map\ ${fm_e%/}
  fm_encode "./${2#"$fm_box_itself"/}"
  fm_maps=$fm_maps//=${fm_e%/}
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
fm_leads() {
  [ -L "./$1" ] || return 1
  fm_p=$(fm_real "./$1") && fm_q=$(fm_real "$fm_home/$1") && fm_r=$(fm_real "$fm_home") || return 1
  [ "$fm_p" = "$fm_q" ] || [ "${fm_p#"$fm_box_itself"/}" = "${fm_q#"$fm_r"}" ]
}
# A link of the task's on the way to an output is a link in the workflow too, where its name is free.
fm_carry_all() {
  for fm_o; do fm_carry "${fm_o#./}" || fm_keep "the link ${fm_o#./} on the way to an output could not be brought back"; done
}
fm_carry() {
  if [ ! -L "./$1" ] || [ ! -d "./$1" ] || [ -L "$fm_home/$1" ] || fm_in_output "$1" || ! fm_reached "$fm_home/$1"; then return 0; fi
  if [ -e "$fm_home/$1" ]; then
    if [ ! -d "$fm_home/$1" ] || fm_one "./$1" "$fm_home/$1" || ! rmdir -- "$fm_home/$1" 2>/dev/null; then return 0; fi
  fi
  case $1 in */*) fm_directories "$fm_home/${1%/*}" || return 1 ;; esac
  fm_text "./$1" && fm_p=$(fm_real "./$1") || return 1
  case $fm_p in
    "$fm_box_itself"/*"$fm_behind".*)
      # To another link that the task found.
      case $fm_l in /* | *"${fm_box##*/}"*) return 1 ;; esac
      ;;
    "$fm_box_itself"/*)
      fm_p=${fm_p#"$fm_box_itself"/}
      if [ -n "$fm_p" ]; then
        fm_reached "$fm_home/$fm_p" && fm_directories "$fm_home/${fm_p%/}" || return 1
      fi
      case $fm_l in /* | *"${fm_box##*/}"*) fm_l=$fm_home/${fm_p%/} ;; esac
      ;;
    *)
      case $fm_l in /*) ;; *) return 1 ;; esac
      ;;
  esac
  ln -s -- "$fm_l" "$fm_home/$1" || return 1
  if [ ! -d "$fm_home/$1" ]; then
    rm -f -- "$fm_home/$1"
    return 1
  fi
  fm_through=$fm_through$fm_home/$1$fm_nl
}
# Makes the directories on the way to an output. `fm_fresh` lists them: each has the mode that it has here.
fm_directories() {
  fm_d=$fm_home fm_t=${1#"$fm_home"}/
  fm_t=${fm_t#/}
  while [ -n "$fm_t" ]; do
    fm_d=$fm_d/${fm_t%%/*} fm_t=${fm_t#*/}
    if [ ! -d "$fm_d" ]; then
      mkdir -- "$fm_d" || return 1
      fm_encode "./${fm_d#"$fm_home"/}"
      fm_fresh=$fm_fresh$fm_e$fm_nl
    fi
  done
}
fm_fresh_modes() {
  [ -n "$fm_fresh" ] || return 0
  printf %s "$fm_fresh" | LC_ALL=C sort -r | while read -r fm_f; do
    fm_mode=$(printf '%s\n' "$fm_closed" | fm_own=$fm_f LC_ALL=C awk '{ name = $0; sub(/^[^ ]* /, "", name) } name == ENVIRON["fm_own"] { print $1; exit }')
    fm_decode "$fm_f"
    if [ -L "$fm_f" ] || [ ! -d "$fm_f" ]; then continue; fi
    [ -n "$fm_mode" ] || fm_mode=$(stat -c %a -- "$fm_f" 2>/dev/null) || continue
    [ "$(stat -c %a -- "$fm_home/$fm_f")" = "$fm_mode" ] || chmod -- "$fm_mode" "$fm_home/$fm_f" || exit 1
  done || fm_keep 'the modes of directories on the way to outputs could not be set'
}
"#;

/// Absolute links of directories that came in lead to the sandbox where they lead to what is in it.
pub(super) const INNER_LINKS: &str = r#"fm_inner_text='box=$1 home=$2 real=$3
shift 3
for f; do
  text=$(readlink -- "$f" && printf .) && text=${text%??} || continue
  case $text in
    "$home" | "$real") to= ;;
    "$home"/*) to=${text#"$home"/} ;;
    "$real"/*) to=${text#"$real"/} ;;
    *) continue ;;
  esac
  [ ! -e "./$to" ] || { rm -f -- "$f" && ln -s -- "$box${to:+/$to}" "$f"; } || exit
done'
fm_inner_links() {
  [ "$fm_dirs" != "$fm_nl" ] || return 0
  fm_r=$(fm_real "$fm_home") || return 1
  env LC_ALL=C "fm_inner_text=$fm_inner_text" find . -type l -exec sh -c 'eval "$fm_inner_text"' sh "$fm_box" "$fm_home" "${fm_r%/}" {} +
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
  [ -z "$fm_placed" ] || fm_behind_was=$(fm_lines '%i %z' . | LC_ALL=C grep -F -e "/$fm_behind.")
  [ -z "$fm_inside$fm_placed" ] || fm_tick
}
fm_notice_inside() {
  fm_n=''
  for fm_f; do if [ -d "$fm_f" ] || [ -L "$fm_f" ]; then fm_n=1; fi; done
  [ -z "$fm_n" ] || fm_inside=$(fm_lines '%i %z' -H "$@") fm_modes_in=$(fm_lines %a -H "$@" -type d)
}
"#;
