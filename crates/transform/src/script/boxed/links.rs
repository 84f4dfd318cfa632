//! Links among outputs that lead into the sandbox.

/// A program of its own for `find -exec`: the sandbox, the directory of the workflow, the number of
/// outputs, the outputs, the links. An output that has another name in the workflow begins with
/// `././`. A link whose target is in the workflow afterwards stays as it is, as does one that leads
/// elsewhere; any other gets the content of its target. `fm_dirs` has the directories that came in.
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
# What lies in a directory, without times of directories and parts of seconds, which not every `cp` copies.
list() {
  (
    cd -- "$1" &&
      find . -type d &&
      find . -type l -exec stat -c 'link %N' -- {} + &&
      find . ! -type d ! -type l -exec stat -c 'file %f %s %Y %n' -- {} +
  ) | LC_ALL=C sort
}
# Whether a path in the sandbox has in the workflow what it has here. Where it only holds inputs there may be more.
same() {
  [ "$1" != . ] || return 1
  [ ! "./$1" -ef "$home/$1" ] || return 0
  if [ -d "./$1" ] && [ -d "$home/$1" ]; then
    if came "$1"; then only=0; else only=1; fi
    {
      list "$home/$1"
      printf '//\n'
      list "./$1"
    } | awk -v only="$only" '$0 == "//" { after = 1; next } !after { was[$0]++; left++; next }
      !($0 in was) || was[$0]-- < 1 { other = 1 } { left-- } END { exit other || (!only && left > 0) }'
  else
    [ -f "./$1" ] && [ -f "$home/$1" ] && cmp -s "./$1" "$home/$1"
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
  same "$path"
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
    cp -a -- "$real" "$link" &&
      fm_depth=$((fm_depth + 1)) fm_copy=$link fm_real=$real find "$link" -type l -exec sh -c 'eval "$fm_links_text"' sh "$box" "$home" "$n" "$@" {} +
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
  case $text in .t_*.behind.*) bad=1; continue ;; esac
  from=$one
  [ -z "$fm_copy" ] || from=$fm_real${one#"$fm_copy"}
  inside=''
  case $text in
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
        [ -z "$inside$fm_copy" ] || relink "$one" "$home/$path" || bad=1
        continue
      fi
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
