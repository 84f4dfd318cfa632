//! The way out of a sandbox.

/// What cannot leave the sandbox keeps it, so that nothing is lost.
pub(super) const KEEP: &str = r#"fm_keep() {
  fm_say "$1"
  fm_kept=1
  [ "$fm_code" != 0 ] || fm_code=125 fm_failed=sandbox
}
"#;

/// Outputs leave the sandbox.
pub(super) const OUT: &str = r#"fm_closed='' fm_merged='' fm_fresh='' fm_there=$fm_nl
# Directories that the task has closed are opened; their modes are given back in the workflow.
fm_open() {
  [ -n "$(LC_ALL=C find . -type d ! -perm -700 2>/dev/null)" ] || return 0
  fm_closed=$(
    {
      LC_ALL=C find . -type d ! -perm -500 -exec stat -c '//%a %n/' -- {} \; -exec chmod u+rx -- {} \;
      LC_ALL=C find . -type d ! -perm -200 -exec stat -c '//%a %n/' -- {} +
    } | fm_join
  )
  LC_ALL=C find . -type d ! -perm -200 -exec chmod u+w -- {} +
}
# Links among the outputs, and in directories among them.
fm_links() {
  fm_n='' fm_absent=$fm_nl
  for fm_f; do
    shift
    if [ -L "$fm_f" ] || [ -d "$fm_f" ]; then fm_n=1; fi
    if [ -e "$fm_f" ] || [ -L "$fm_f" ]; then
      set -- "$@" "$fm_f"
      fm_f=${fm_f#./}
      fm_there=$fm_there${fm_f#./}$fm_nl
    else
      fm_absent=$fm_absent$fm_f$fm_nl
    fi
  done
  [ -n "$fm_n" ] || return 0
  # The program prints which directories it copied where.
  fm_copies=$(
    env LC_ALL=C "fm_links_text=$fm_links_text" "fm_dirs=$fm_dirs" "fm_followed=$fm_followed" "fm_absent=$fm_absent" "fm_own=$fm_behind$fm_nl$fm_record" fm_depth=0 fm_copy= fm_real= \
      LC_ALL=C find "$@" -type l -exec sh -c 'eval "$fm_links_text"' sh "$fm_box" "$fm_home" "$#" "$@" {} +
  )
  fm_x=$?
  fm_maps=$fm_maps$fm_nl$fm_copies
  return "$fm_x"
}
# The names of a directory come into another, and replace what has them there, unless both are directories. No link is
# followed, and nothing that is there is opened. Where the task could open directories for it, they are. `find` takes no
# program that holds its own braces.
fm_merge_text='to=$1 open=$2
shift 2
room() { [ -w "$1" ] || [ -z "$open" ] || chmod u+rwx -- "$1"; }
for d; do
  t=$to/$d
  if [ "$d" != . ] && { [ -L "$t" ] || [ ! -d "$t" ]; }; then
    room "${t%/*}" && rm -f -- "$t" && mkdir -- "$t" || exit
  fi
  [ -n "$(LC_ALL=C find "$d/." ! -name . -prune ! -type d)" ] || continue
  room "$t" && (
    cd -- "$d" && LC_ALL=C find . ! -name . -prune ! -type d -exec sh -c "to=\$1
      shift
      (cd -- \"\$to\" && for f; do
        if [ -d \"\$f\" ] && [ ! -L \"\$f\" ] && sh -c \"\$fm_mounted_text\" sh \"\$f\"; then exit 1; fi
      done && rm -rf -- \"\$@\") && \$fm_take -- \"\$@\" \"\$to/\"" sh "$t" {} +
  ) || exit
done'
fm_merge() {
  (
    cd -- "$1" && env LC_ALL=C "fm_merge_text=$fm_merge_text" "fm_mounted_text=$fm_mounted_text" "fm_take=$fm_take" \
      LC_ALL=C find . -type d -exec sh -c 'eval "$fm_merge_text"' sh "$2" "$3" {} +
  )
}
fm_move() {
  # Through a link to another place its content is not ours to take away.
  fm_take='mv -f'
  case $1 in ./*/*)
    fm_x=$(cd -P -- "${1%/*}" && printf '%s/' "$PWD") || return 1
    case $fm_x in "$fm_box_itself"/*) ;; *) fm_take='cp -a' ;; esac
    ;;
  esac
  case $2 in "$fm_home"/*/*) fm_directories "${2%/*}" || return 1 ;; esac
  # The same name of the same directory, which the task reached by a link.
  if [ "${1##*/}" = "${2##*/}" ] && fm_one "${1%/*}" "${2%/*}"; then return 0; fi
  fm_x=''
  if [ ! -L "$2" ]; then fm_x=1; else
    case $fm_through in *"$fm_nl$2$fm_nl"*) fm_x=1 ;; esac
    [ -z "$fm_x" ] || fm_stays "$2" || return 1
  fi
  if [ -n "$fm_x" ] && [ ! -L "$1" ] && fm_one "$1" "$2"; then
    # An input that the task has changed where it lies is the output already.
    return 0
  fi
  if [ ! -L "$1" ] && [ -d "$1" ] && [ -d "$2" ]; then
    if [ -n "$fm_x" ]; then
      fm_encode "$1"
      fm_x='' fm_merged=1
      case $fm_nl$fm_older$fm_nl$fm_came$fm_nl in *" $fm_e$fm_nl"*) fm_x=1 ;; esac
      fm_merge "$1" "$2" "$fm_x"
      return "$?"
    fi
    # A link that no longer is what the task found is replaced where an earlier attempt made it.
    [ -n "$fm_older$fm_came" ] && fm_stale "$1" "$2" || return 1
  elif [ ! -L "$2" ] && [ -e "$2" ] && { [ -d "$2" ] || { [ ! -L "$1" ] && [ -d "$1" ]; }; }; then
    # A file in the place of a directory, or the other way round, where what is there came in or an earlier attempt made it.
    [ -n "$fm_older$fm_came" ] && fm_stale "$1" "$2" || return 1
  elif [ -n "$fm_x" ] && [ -f "$2" ] && [ -f "$1" ] && [ ! -L "$1" ] && { [ -L "$2" ] || [ ! -w "${2%/*}" ]; }; then
    # The task wrote through its link, or could not replace it without the sandbox either, and wrote it where it lies.
    cp -p -- "$1" "$2"
    return "$?"
  fi
  # A directory cannot be renamed into another file system, and `mv` would leave closed ones behind.
  if [ ! -L "$1" ] && [ -d "$1" ] && [ "$(stat -c %d -- "$1")" != "$(stat -c %d -- "${2%/*}")" ]; then fm_take='cp -a'; fi
  # `mv` replaces a name but a link to a directory, `cp` opens what has it.
  if [ -L "$2" ] || [ "$fm_take" != 'mv -f' ]; then rm -f -- "$2" || return 1; fi
  $fm_take -- "$1" "$2"
}
# Whether a link through which the task wrote still leads to what it led to. What the task wrote through it and what it put there
# by another name cannot both be there.
fm_stays() { case $fm_targets in *"$fm_nl$1=$(fm_target "$1")$fm_nl"*) ;; *) false ;; esac; }
fm_all_stay() {
  for fm_f; do
    fm_f=${fm_f#./}
    case $fm_idle in *"$fm_nl$fm_f$fm_nl"*) continue ;; esac
    case $fm_through in *"$fm_nl$fm_home/$fm_f$fm_nl"*) fm_stays "$fm_home/$fm_f" || fm_keep "the output $fm_f leads to another output" ;; esac
  done
}
fm_give() {
  fm_to=$fm_home/$2
  if [ ! -e "./$1" ] && [ ! -L "./$1" ]; then
    # It may have left already, with another output.
    if [ ! -e "$fm_to" ] && [ ! -L "$fm_to" ]; then
      case $fm_there in *"$fm_nl$1$fm_nl"*) fm_keep "the output $2 left the sandbox by another name" ;; esac
    fi
    return 0
  fi
  case $1 in */*) fm_map "$(fm_real "./${1%/*}")${1##*/}/" "$fm_box_itself/$1/" ;; esac
  if [ "${1%/*}/" = "${2%/*}/" ] && ! fm_reached "$fm_to" || ! fm_move "./$1" "$fm_to"; then
    fm_keep "the output $2 could not be brought back"
  fi
}
# What an input below an output has through its link goes there before the output is brought out.
fm_give_through() {
  case $fm_through in *"$fm_nl$fm_home/$1$fm_nl"*) ;; *) return 0 ;; esac
  fm_give "$1" "$1"
  [ -n "$fm_kept" ] || rm -rf -- "./$1"
}
# Modes of directories at and below an output, when all else is done: those that the task closed and, where two became one, those
# that it changed.
fm_modes() {
  set -- "./$1" "$fm_home/$2"
  fm_encode "$1"
  {
    printf '%s\n' "$fm_maps"
    printf '%s\n' "$fm_closed" | LC_ALL=C sed 's/^/closed /'
    if [ -n "$fm_merged" ]; then
      printf '%s\n' "$fm_modes_in" | LC_ALL=C sed 's/^/in /'
      printf '%s\n' "$fm_older" | LC_ALL=C sed 's/^/older /'
      mkdir -- "./$fm_behind" && stat -c 'new %a' -- "./$fm_behind" && rmdir -- "./$fm_behind"
      [ ! -d "$1" ] || fm_lines 'now %a' "$1" -type d
    fi
  } | fm_own=$fm_e LC_ALL=C awk 'function closes(name, mode, i) {
      if (name in closed) return
      closed[name]
      if (index(name, ENVIRON["fm_own"]) == 1) print mode, name
      for (i = 1; i <= maps; i++) if (index(name, from[i]) == 1) closes(to[i] substr(name, length(from[i]) + 1), mode)
    }
    { name = $0; sub(/^[^ ]* [^ ]* /, "", name) }
    $1 == "map" { rest = substr($0, 5); i = index(rest, "//="); from[++maps] = substr(rest, 1, i - 1); to[maps] = substr(rest, i + 3); next }
    $1 == "closed" { closes(name, $2); next }
    $1 == "new" { usual = $2 }
    $1 == "in" { came[name] = $2 }
    $1 == "older" { sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, "", name); older[name] }
    index(name, ENVIRON["fm_own"]) != 1 { next }
    $1 == "now" && !(name in closed) && $2 != (name in came ? came[name] : name in older ? "" : usual) { print $2, name }' | LC_ALL=C sort -r -k 2 | {
    fm_x=0
    while read -r fm_mode fm_f; do
      fm_decode "$fm_f"
      fm_f=$2${fm_f#"$1"}
      [ ! -d "$fm_f" ] || [ -L "$fm_f" ] || chmod -- "$fm_mode" "$fm_f" || fm_x=1
    done
    [ "$fm_x" = 0 ]
  } || fm_keep "the modes of the directories in ${2#"$fm_home"/} could not be set"
}
"#;

/// Files that the task left alone stay where they are in the workflow.
pub(super) const SPARE: &str = r#"fm_spare_find() {
  fm_same=''
  [ -z "$fm_inside" ] || fm_same=$({ printf '%s\n' "$fm_inside" //; fm_lines '%i %z' "$@"; } | fm_known 1)
  for fm_f; do
    fm_f=${fm_f#./}
    if [ ! -L "$fm_home/$fm_f" ]; then continue; fi
    if [ ! -L "./$fm_f" ]; then
      # What the task changed where a link in the workflow leads is there already.
      fm_x=''
      case $fm_idle in *"$fm_nl$fm_f$fm_nl"*) fm_x=1 ;; esac
      case $fm_through in
        *"$fm_nl$fm_home/$fm_f$fm_nl"*) ;;
        *) ! fm_one "./$fm_f" "$fm_home/$fm_f" || fm_x=1 ;;
      esac
      if [ -f "./$fm_f" ] && [ -n "$fm_x" ]; then rm -f -- "./$fm_f"; fi
    elif fm_brought "$fm_f" && printf '%s\n' "$fm_same" | LC_ALL=C grep -qFx -e "$(fm_lines '%i %z' "./$fm_f")"; then
      if [ ! -e "./$fm_f" ] && [ -e "$fm_home/$fm_f" ]; then
        fm_keep "the output $fm_f is a link that leads out of the input above it"
      elif fm_hides "$fm_f"; then
        fm_keep "what the task wrote through the link $fm_f is in the sandbox"
      fi
    fi
  done
}
# Whether a link that came with a directory leads to what the task changed and what no output brings out.
fm_hides() {
  fm_p=$(readlink -f -- "./$1" && printf .) || return 1
  fm_p=${fm_p%??}
  case $fm_p in "$fm_box_itself"/*) ;; *) return 1 ;; esac
  ! fm_lasting fm_holds || return 1
  if [ -d "./$1" ]; then
    [ -n "$({ printf '%s\n' "$fm_inside" // && fm_lines '%i %z' -H "./$1"; } | fm_known 0)" ]
  else
    [ -f "./$1" ] && ! cmp -s "./$1" "$fm_home/$1"
  fi
}
fm_holds() {
  for fm_o; do
    if [ -L "$fm_o" ]; then continue; fi
    case $fm_p/ in "$fm_box_itself/${fm_o#./}"/*) return 0 ;; esac
  done
  return 1
}
fm_spare() {
  [ -n "$fm_same" ] || return 0
  printf '%s\n' "$fm_same" | {
    while read -r fm_i fm_d fm_u fm_z fm_f; do
      fm_decode "$fm_f"
      if [ ! -d "$fm_f" ] || [ -L "$fm_f" ]; then set -- "$@" "$fm_f"; fi
      [ "$#" -lt 100 ] || { rm -f -- "$@" && set --; }
    done
    [ "$#" = 0 ] || rm -f -- "$@"
  }
}
"#;
