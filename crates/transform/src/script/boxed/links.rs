//! Links among outputs that lead into the sandbox.

/// A program of its own for `find -exec`: the sandbox, the directory of the workflow, the number of
/// outputs, the outputs, the links. An output that has another name in the workflow begins with
/// `././`. A link whose target is in the workflow afterwards stays as it is, as does one that leads
/// elsewhere; any other gets the content of its target. `fm_dirs` has the directories that came in,
/// `fm_followed` links of theirs that were made to lead elsewhere, `fm_absent` outputs that are not there, `fm_own` names of
/// flowmine's files.
/// Links in the copy `fm_copy` of a directory `fm_real` are judged where they come from.
pub(super) const LINKS: &str = r#"box=$1 home=$2 n=$3
shift 3
nl='
'
itself=$(cd -P -- "$box" && pwd -P && printf .) || exit
itself=${itself%??}
# Whether a directory came in, by itself or with another.
came() {
  name=$1
  while :; do
    case $fm_dirs in *"$nl$name$nl"*) return 0 ;; esac
    case $name in */*) name=${name%/*} ;; *) return 1 ;; esac
  done
}
# What lies in a directory, without times of directories and parts of seconds, which not every `cp` copies. Links of the sandbox's own
# path are those of the workflow.
list() {
  (
    cd -- "$1" && shift &&
      LC_ALL=C find . "$@" -type d -print &&
      LC_ALL=C find . "$@" -type l -exec stat -c 'link %N' -- {} + &&
      LC_ALL=C find . "$@" ! -type d ! -type l -exec stat -c 'file %f %s %Y %n' -- {} +
  ) | LC_ALL=C sort
}
# What the workflow has by the names that are here.
list_here() {
  (
    place=$1 here=$2
    cd -- "$here" && shift 2 &&
      LC_ALL=C find . "$@" -type d -exec sh -c 'cd -- "$0" && for f; do [ -L "$f" ] || [ ! -d "$f" ] || printf "%s\n" "$f"; done' "$place" {} + &&
      LC_ALL=C find . "$@" -type l -exec sh -c 'cd -- "$0" && stat -c "link %N" -- "$@"' "$place" {} + &&
      LC_ALL=C find . "$@" ! -type d ! -type l -exec sh -c 'cd -- "$0" && stat -c "file %f %s %Y %n" -- "$@"' "$place" {} +
  ) 2>/dev/null | LC_ALL=C sort
}
glob() {
  g=$(printf '%s.' "$1" | LC_ALL=C sed 's/[][*?\\]/\\&/g')
  g=${g%.}
}
# Whether a path in the sandbox has in the workflow afterwards what it has here. Outputs in it come out. Where it only holds inputs
# there may be more.
same() {
  in=$1
  shift
  [ ! "./$in" -ef "$home/$in" ] || return 0
  if [ -d "./$in" ] && [ -d "$home/$in" ]; then
    left=$n
    for root; do
      shift
      [ "$left" -gt 0 ] || continue
      left=$((left - 1))
      case $root in ././*) continue ;; esac
      name=${root#./}
      if [ "$in" != . ]; then case $name in "$in"/*) name=${name#"$in"/} ;; *) continue ;; esac; fi
      glob "$name"
      set -- "$@" -path "./$g" -prune -o
      # The directories above it come out with it.
      while :; do
        case $name in */*) name=${name%/*} ;; *) break ;; esac
        glob "$name"
        set -- "$@" -path "./$g" -type d -o
      done
    done
    # Links that lead out and were made to lead to their place, and outputs that the task deleted.
    rest=$fm_followed//$fm_absent kind='-type l'
    while [ -n "$rest" ]; do
      name=${rest%%"$nl"*} rest=${rest#*"$nl"}
      case $name in
        '' | ././*) continue ;;
        //) kind=-prune ;;
      esac
      name=${name#./}
      if [ "$in" != . ]; then case $name in "$in"/*) name=${name#"$in"/} ;; *) continue ;; esac; fi
      glob "$name"
      # shellcheck disable=SC2086
      set -- "$@" -path "./$g" $kind -o
    done
    if [ "$in" = . ]; then
      glob "${fm_own#*"$nl"}"
      set -- "$@" -path "./$g" -prune -o -path "./${fm_own%%"$nl"*}.*" -prune -o
    fi
    if came "$in"; then only=0; else only=1; fi
    {
      if [ "$only" = 1 ]; then list_here "$home/$in" "./$in" "$@"; else list "$home/$in" "$@"; fi
      printf '//\n'
      list "./$in" "$@"
    } | box=$box home=$home LC_ALL=C awk -v only="$only" '$0 == "//" { after = 1; next }
      !after { was[$0]++; left++; next }
      { box = ENVIRON["box"] "/" }
      /^link / { while (i = index($0, box)) $0 = substr($0, 1, i - 1) ENVIRON["home"] "/" substr($0, i + length(box)) }
      !($0 in was) || was[$0]-- < 1 { other = 1 } { left-- } END { exit other || (!only && left > 0) }'
  else
    [ -f "./$in" ] && [ -f "$home/$in" ] && cmp -s "./$in" "$home/$in"
  fi
}
# Whether what has the path $2 below the sandbox comes out, or is, where the link $1 still finds it.
comes() {
  link=$1 path=$2 left=$n
  shift 2
  for root; do
    [ "$left" -gt 0 ] || break
    left=$((left - 1))
    name=${root#./}
    name=${name#./}
    case $path/ in "$name"/*) ;; *) continue ;; esac
    case $root in
      ././*) case $link in "$root"/*) return 0 ;; esac ;;
      *) case $link in ././*) ;; *) return 0 ;; esac ;;
    esac
  done
  case $link in ././*) return 1 ;; esac
  same "$path" "$@"
}
encoded() {
  e=$1
  case $1 in *"$nl"*) e=$(printf '%s.' "$1" | LC_ALL=C awk 'NR > 1 { printf "//n" } { printf "%s", $0 }') && e=${e%.} ;; esac
}
# Prints that a directory is copied: the caller knows which of the directories in it the task had closed.
copied() {
  encoded "./${1#"$itself"/}/"
  name=$e to=${2#./}
  encoded "./${to#./}/"
  printf 'map %s//=%s\n' "$name" "$e"
}
relink() { rm -f -- "$1" && ln -s -- "$2" "$1"; }
content() {
  link=$1 from=$2
  shift 2
  real=$(readlink -f -- "$from" && printf .) || return 1
  real=${real%??}
  place=$(cd -P -- "${link%/*}" && printf '%s/' "$PWD") || return 1
  case $real/ in "$itself"/*) ;; *) relink "$link" "$real"; return "$?" ;; esac
  case $place in "$real"/*) return 1 ;; esac
  rm -f -- "$link" || return 1
  if [ -d "$real" ]; then
    # Directories that lead to each other by links have no end.
    [ "$fm_depth" -lt 8 ] || return 1
    left=$n
    for root; do
      shift
      [ "$left" -lt 1 ] || set -- "$@" "$root"
      left=$((left - 1))
    done
    copied "$real" "$link"
    cp -a -- "$real" "$link" &&
      fm_depth=$((fm_depth + 1)) fm_copy=$link fm_real=$real LC_ALL=C find "$link" -type l -exec sh -c 'eval "$fm_links_text"' sh "$box" "$home" "$n" "$@" {} +
  else
    ln -- "$real" "$link" 2>/dev/null || cp -a -- "$real" "$link"
  fi
}
# A link in a copy whose target is in the copy too: its text may have been made for another place.
within() {
  if [ -e "$from" ]; then [ ! "$1" -ef "$fm_copy/$2" ] || return 0; else [ -n "$inside" ] || return 0; fi
  up=${1#"$fm_copy"/} text=$2
  while :; do case $up in */*) up=${up#*/} text=../$text ;; *) break ;; esac; done
  relink "$1" "$text"
}
i=0 bad=0
for one; do
  i=$((i + 1))
  [ "$i" -gt "$n" ] || continue
  text=$(readlink -- "$one" && printf .) && text=${text%??} || { bad=1; continue; }
  case $text in .t_*.behind.* | */.t_*.behind.*) bad=1; continue ;; esac
  # What is elsewhere is as the task left it.
  place=$(cd -P -- "${one%/*}" && printf '%s/' "$PWD") || { bad=1; continue; }
  case $place in "$itself"/*) ;; *) continue ;; esac
  from=$one
  [ -z "$fm_copy" ] || from=$fm_real${one#"$fm_copy"}
  inside=''
  case $text in
    "$box" | "$itself") to=. inside=1 ;;
    "$box"/*) to=./${text#"$box"/} inside=1 ;;
    "$itself"/*) to=./${text#"$itself"/} inside=1 ;;
    /*) continue ;;
    *) to=${from%/*}/$text ;;
  esac
  below=${to#./}
  while :; do case $to in ?*/) to=${to%/} ;; *) break ;; esac; done
  case $to in */. | */..) to=$to/. ;; esac
  path=$(cd -P -- "${to%/*}" 2>/dev/null && printf '%s/.' "$PWD") && path=${path%.}${to##*/}
  case $path in
    '') ;;
    "$itself"/*)
      path=${path#"$itself"/}
      path=${path%/.}
      if [ -n "$fm_copy" ]; then
        case $itself/$path/ in
          "$fm_real"/*)
            rest=$itself/$path/
            rest=${rest#"$fm_real"/} rest=${rest%/}
            within "$one" "${rest:-.}" || bad=1
            continue
            ;;
        esac
      fi
      if comes "$one" "$path" "$@"; then
        [ "$path" != . ] || path=''
        [ -z "$inside$fm_copy" ] || relink "$one" "$home${path:+/$path}" || bad=1
        continue
      fi
      # A link that came in, to a directory above it.
      case $fm_copy$one in
        ././*) ;;
        ./*)
          above=$itself/$path/
          [ "$path" != . ] || above=$itself/
          case $place in "$above"*) [ "$(readlink -- "$home/$one" 2>/dev/null && printf .)" != "$text$nl." ] || continue ;; esac
          ;;
      esac
      ;;
    *)
      # Out of the sandbox by its own dots, or by another link.
      case /$text/ in */../*) continue ;; esac
      ;;
  esac
  if [ -e "$from" ]; then
    content "$one" "$from" "$@" || bad=1
  elif [ -n "$inside" ]; then
    relink "$one" "$home/$below" || bad=1
  fi
done
exit "$bad"
"#;
