//! The sandbox of a layer as shell: the paper's steps 1 to 3 and 6 to 7.

use std::fmt::Write;

use super::quote;
use crate::algebra::{FileName, Layer};

/// A directory for the task, with room, and its files: hard links where that can be, so that
/// containers see them, copies otherwise.
const IN: &str = r#"fm_box='' fm_boxed='' fm_kept=''
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
  if [ -d "$fm_from" ]; then
    mkdir -p -- "./$2" && cp -RPp -- "$fm_from/." "./$2"
  elif [ -e "$fm_from" ]; then
    # A FIFO is never opened, and stays the one that it is.
    if ln -L -- "$fm_from" "./$2" 2>/dev/null; then :; elif [ -f "$fm_from" ]; then cp -p -- "$fm_from" "./$2"; else
      ln -- "$(readlink -f -- "$fm_from")" "./$2"
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
    [ -e "./$fm_f" ] || fm_bring "$fm_f" "$fm_f" || return 1
  done
}
# The directory of an output is there where it is there for the plain task.
fm_place() {
  [ ! -d "$fm_home/$2" ] || mkdir -p -- "./$1"
}
"#;

/// Outputs leave the sandbox. What cannot leave it keeps it, so that nothing is lost.
const OUT: &str = r#"fm_keep() {
  fm_say "$1"
  fm_kept=1
  [ "$fm_code" != 0 ] || fm_code=125 fm_failed=sandbox
}
# Links among the outputs, and in directories among them.
fm_links() {
  fm_n=''
  for fm_f; do
    shift
    if [ -L "$fm_f" ] || [ -d "$fm_f" ]; then fm_n=1; fi
    if [ -e "$fm_f" ] || [ -L "$fm_f" ]; then set -- "$@" "$fm_f"; fi
  done
  [ -z "$fm_n" ] || find "$@" -type l -exec sh -c "$fm_links_text" sh "$fm_box" "$fm_home" "$#" "$@" {} +
}
# A link is replaced where it was made by this user or by root.
fm_ours() { [ -n "$(find "$1" -prune \( -user 0 -o -user "$(id -u)" \))" ]; }
# Makes room in a directory for the names of another: what is there goes, unless both are directories. No link is
# followed, and nothing that is there is opened.
fm_clear() {
  (
    cd -- "$1" &&
      find . -type d ! -name . -exec sh -c 'cd -- "$0" && for f; do
        if [ -L "$f" ] || { [ -e "$f" ] && [ ! -d "$f" ]; }; then rm -f -- "$f" || exit; fi
      done' "$2" {} + &&
      find . ! -type d -exec sh -c 'cd -- "$0" && rm -rf -- "$@"' "$2" {} +
  )
}
fm_move() {
  # Through a link to another place its content is not ours to take away.
  fm_take='mv -f'
  case $1 in ./*/*)
    fm_x=$(cd -P -- "${1%/*}" && printf '%s/' "$PWD") || return 1
    case $fm_x in "$fm_box_itself"/*) ;; *) fm_take='cp -RPp' ;; esac
    ;;
  esac
  case $2 in "$fm_home"/*/*) [ -d "${2%/*}" ] || mkdir -p -- "${2%/*}" || return 1 ;; esac
  # shellcheck disable=SC3013
  if [ ! -L "$1" ] && [ "$1" -ef "$2" ]; then
    # An input that the task has changed where it lies is the output already.
    :
  elif [ ! -L "$1" ] && [ -d "$1" ] && [ -d "$2" ]; then
    [ ! -L "$2" ] || fm_ours "$2" || return 1
    fm_clear "$1" "$2" && cp -RPp -- "$1/." "$2"
  elif { [ -d "$2" ] && [ ! -L "$2" ]; } || { [ ! -L "$1" ] && [ -d "$1" ] && [ -e "$2" ]; }; then
    # A file in the place of a directory, or the other way round, where what is there came in or an earlier attempt made it.
    [ -n "$fm_older$fm_came" ] && fm_stale "$1" "$2" && $fm_take -- "$1" "$2"
  else
    # `mv` replaces a name but a link to a directory, `cp` opens what has it.
    if [ -L "$2" ] || [ "$fm_take" != 'mv -f' ]; then rm -f -- "$2" || return 1; fi
    $fm_take -- "$1" "$2"
  fi
}
fm_give() {
  if [ ! -e "./$1" ] && [ ! -L "./$1" ]; then return 0; fi
  case $2 in /*) fm_to=$2 ;; *) fm_to=$fm_home/$2 ;; esac
  fm_move "./$1" "$fm_to" || fm_keep "the output $2 could not be brought back"
}
"#;

/// A program of its own for `find -exec`: the sandbox, the directory of the workflow, the number of
/// outputs, the outputs, the links. An output that has another name in the workflow begins with
/// `././`. A link whose target comes out too stays as it is, as does one that leads elsewhere; any
/// other gets the content of its target.
const LINKS: &str = r#"box=$1 home=$2 n=$3
shift 3
itself=$(cd -P -- "$box" && pwd -P && printf .) || exit
itself=${itself%??}
# Whether what has the path $2 below the sandbox comes out where the link $1 still finds it.
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
  # An input is where it was.
  case $link in ././*) return 1 ;; esac
  [ "./$path" -ef "$home/$path" ] || { [ -f "./$path" ] && [ -f "$home/$path" ] && cmp -s "./$path" "$home/$path"; }
}
relink() { rm -f -- "$1" && ln -s -- "$2" "$1"; }
content() {
  real=$(readlink -f -- "$1" && printf .) || return 1
  real=${real%??}
  place=$(cd -P -- "${1%/*}" && printf '%s/' "$PWD") || return 1
  case $real/ in "$itself"/*) ;; *) relink "$1" "$real"; return "$?" ;; esac
  case $place in "$real"/*) return 1 ;; esac
  rm -f -- "$1" || return 1
  if [ -d "$real" ]; then cp -RLp -- "$real" "$1"; else ln -- "$real" "$1" 2>/dev/null || cp -Rp -- "$real" "$1"; fi
}
i=0 bad=0
for link; do
  i=$((i + 1))
  [ "$i" -gt "$n" ] || continue
  text=$(readlink -- "$link" && printf .) && text=${text%??} || { bad=1; continue; }
  inside=''
  case $text in
    "$box"/*) to=./${text#"$box"/} inside=1 ;;
    "$itself"/*) to=./${text#"$itself"/} inside=1 ;;
    /*) continue ;;
    *) to=${link%/*}/$text ;;
  esac
  below=${to#./}
  while :; do case $to in ?*/) to=${to%/} ;; *) break ;; esac; done
  case $to in */. | */..) to=$to/. ;; esac
  path=$(cd -P -- "${to%/*}" 2>/dev/null && printf '%s/.' "$PWD") && path=${path%.}${to##*/}
  case $path in
    '') ;;
    "$itself"/*)
      path=${path#"$itself"/}
      if comes "$link" "${path%/.}" "$@"; then
        [ -z "$inside" ] || relink "$link" "$home/$path" || bad=1
        continue
      fi
      ;;
    *)
      # Out of the sandbox by its own dots, or by another link.
      case /$text/ in */../*) continue ;; esac
      ;;
  esac
  if [ -e "$link" ]; then
    content "$link" || bad=1
  elif [ -n "$inside" ]; then
    relink "$link" "$home/$below" || bad=1
  fi
done
exit "$bad"
"#;

/// What the task would have deleted without the sandbox goes in the workflow too: files that came in
/// and are no longer there, and of earlier attempts' outputs what a successful attempt did not make.
/// `fm_made` lists the latter, a line with inode, size, time and name for each, none of them that of
/// a link's target. When an attempt begins, what has another line by then is somebody else's, and stays.
const GONE: &str = r#"fm_list() { (cd "$fm_home" && find "$@" -exec stat -c '%i %s %y %n' -- {} +) 2>/dev/null; }
fm_made_ours() {
  # shellcheck disable=SC3067
  [ -f "$fm_home/$fm_made" ] && [ ! -L "$fm_home/$fm_made" ] && [ -O "$fm_home/$fm_made" ]
}
fm_older_find() {
  ! fm_made_ours || fm_older=$(fm_list "$@" | grep -Fx -f "$fm_home/$fm_made")
}
# Lines of files that are not in the sandbox, what is in a directory before it.
fm_missing() {
  while read -r fm_i fm_s fm_d fm_t fm_z fm_f; do
    [ -e "$fm_f" ] || [ -L "$fm_f" ] || printf '%s\n' "$fm_i $fm_s $fm_d $fm_t $fm_z $fm_f"
  done | LC_ALL=C sort -r -k 6
}
fm_gone_find() {
  fm_gone=$(printf '%s\n' "$fm_came" | fm_missing) fm_names=''
  [ -z "$*" ] || fm_names=$(find "$@" 2>/dev/null | sed 's/^/name /')
  [ "$fm_code" != 0 ] || fm_old_gone=$(printf '%s\n' "$fm_older" | fm_missing)
}
# Removes what is still the file of its line; directories where they are empty.
fm_remove() {
  while read -r fm_i fm_s fm_d fm_t fm_z fm_f; do
    if [ -z "$fm_f" ]; then continue; fi
    fm_now=$(stat -c %i -- "$fm_home/$fm_f" 2>/dev/null)
    [ "$fm_now" = "$fm_i" ] || continue
    if [ -d "$fm_home/$fm_f" ] && [ ! -L "$fm_home/$fm_f" ]; then
      rmdir -- "$fm_home/$fm_f" 2>/dev/null
    else
      rm -f -- "$fm_home/$fm_f"
    fi
  done
}
# Removes what came in and what earlier attempts made at a name and below it; whether nothing is left there.
fm_stale() {
  printf '%s\n' "$fm_older" "$fm_came" | fm_own=$1 awk '{ name = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name) }
    name == ENVIRON["fm_own"] || index(name, ENVIRON["fm_own"] "/") == 1' | LC_ALL=C sort -r -k 6 | fm_remove
  [ ! -e "$2" ] && [ ! -L "$2" ]
}
# After the outputs are out, and nothing was kept.
fm_gone_remove() {
  printf '%s\n' "$fm_gone" | fm_remove
  printf '%s\n' "$fm_old_gone" | fm_remove
  fm_x=$(
    {
      printf '%s\n' "$fm_names"
      [ "$fm_code" = 0 ] || printf '%s\n' "$fm_older" | sed 's/^/line /'
      fm_list "$@"
    } | awk '{ rest = substr($0, index($0, " ") + 1) }
      $1 == "name" { made[rest] = 1; next }
      $1 == "line" { older[rest] = 1; next }
      { name = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name) }
      name in made || $0 in older'
  )
  # A run that has a list of its own needs it only as long as it fails.
  if [ "$fm_code" = 0 ] && [ -n "$fm_instance" ]; then fm_x=''; fi
  if [ -n "$fm_x" ]; then
    if [ ! -e "$fm_home/$fm_made" ] && [ ! -L "$fm_home/$fm_made" ] || fm_made_ours; then
      rm -f -- "$fm_home/$fm_made"
      (set -C && printf '%s\n' "$fm_x" >"$fm_home/$fm_made") 2>/dev/null || fm_say "$fm_made could not be written"
    fi
  elif fm_made_ours; then
    rm -f -- "$fm_home/$fm_made"
  fi
}
"#;

/// `fm_sandbox_in` and `fm_sandbox_out`. Files named absolutely are used where they are.
pub(super) fn sandbox(out: &mut String, layer: &Layer, record: &str) {
    let disk = layer.parts.resources.get("disk").copied().unwrap_or(0);
    let _ = writeln!(out, "fm_box_name={}\nfm_disk_mb={disk}", layer.file("box"));
    // Each run of a script that runs many times has a list of its own, which goes when it succeeds.
    let _ = writeln!(
        out,
        "fm_instance=${{FLOWMINE_TASK-}} fm_came='' fm_older='' fm_old_gone=''\nfm_made={}${{fm_instance:+.$fm_instance}}",
        layer.file("made")
    );
    out.push_str(IN);
    let lasting: Vec<&FileName> =
        here(&layer.parts.outputs).filter(|file| file.outer != record && !file.is_renamed() && !file.each_run).collect();
    let came_in = |file: &&&FileName| here(&layer.parts.inputs).any(|input| !input.is_renamed() && tidy(&input.outer) == tidy(&file.outer));
    let words = |files: &mut dyn Iterator<Item = &&FileName>| {
        files.map(|file| quote(&format!("./{}", tidy(&file.outer)))).collect::<Vec<_>>().join(" ")
    };
    let (lasting_words, both) = (words(&mut lasting.iter()), words(&mut lasting.iter().filter(came_in)));
    if !lasting.is_empty() {
        out.push_str(GONE);
    }
    out.push_str("fm_sandbox_in() {\n  fm_sandbox_make || return 1\n");
    if !lasting.is_empty() {
        let _ = writeln!(out, "  fm_older_find {lasting_words}");
    }
    let (plain, others): (Vec<_>, Vec<_>) = here(&layer.parts.inputs).partition(|file| !file.is_renamed() && !file.outer.contains('/'));
    if !plain.is_empty() {
        let names: Vec<String> = plain.iter().map(|file| quote(&file.outer)).collect();
        let _ = writeln!(out, "  fm_bring_all {} || return", names.join(" "));
    }
    for file in others {
        let _ = writeln!(out, "  fm_bring {} {} || return", quote(&file.outer), quote(&file.inner));
    }
    for file in here(&layer.parts.outputs) {
        if let Some((inside, _)) = file.inner.rsplit_once('/') {
            let outside = if file.is_renamed() { "." } else { inside };
            let _ = writeln!(out, "  fm_place {} {} || return", quote(inside), quote(outside));
        }
    }
    if !both.is_empty() {
        let _ = writeln!(out, "  fm_came=$(fm_list {both})");
    }
    // What was not brought in whole is not brought out: a part of an input is no output.
    out.push_str("  fm_boxed=1\n}\n");
    let outputs: Vec<&FileName> = here(&layer.parts.outputs).filter(|file| file.outer != record).collect();
    if !outputs.is_empty() {
        let _ = writeln!(out, "fm_links_text={}", super::quoted(LINKS));
    }
    out.push_str(OUT);
    out.push_str("fm_sandbox_out() {\n  [ -n \"$fm_box\" ] || return 0\n");
    out.push_str("  if ! cd -P -- \"$fm_box\"; then\n    fm_keep \"the sandbox is gone, and what was in it\"\n    fm_kept=''\n    cd \"$fm_home\" || return 1\n");
    out.push_str("  elif [ -n \"$fm_boxed\" ]; then\n    fm_box_itself=$PWD\n");
    if !lasting.is_empty() {
        let _ = writeln!(out, "    fm_gone_find {lasting_words}");
    }
    if !outputs.is_empty() {
        let roots: Vec<String> = outputs.iter().map(|file| quote(&root(file))).collect();
        let _ = writeln!(out, "    fm_links {} || fm_keep 'links among the outputs lead into the sandbox'", roots.join(" "));
    }
    for file in outputs {
        let run = if file.each_run { "\"${FLOWMINE_TASK:+.$FLOWMINE_TASK}\"" } else { "" };
        let _ = writeln!(out, "    fm_give {} {}{run}", quote(tidy(&file.inner)), quote(tidy(&file.outer)));
    }
    if !lasting.is_empty() {
        let _ = writeln!(out, "    [ -n \"$fm_kept\" ] || fm_gone_remove {lasting_words}");
    }
    out.push_str(
        "    [ ! -f \"$fm_record\" ] || fm_note \"$(cat \"$fm_record\")\" || fm_keep 'the record could not be brought back'\n  fi\n",
    );
    out.push_str("  cd \"$fm_home\" || return 1\n");
    out.push_str("  if [ -n \"$fm_kept\" ]; then\n    fm_say \"what is left is in $fm_box\"\n  else\n    rm -rf -- \"$fm_box\"\n  fi\n}\n");
}

/// A name in the workflow that a sandbox would not hold: one that leads out of the directory, or is
/// the directory itself.
pub(crate) fn leads_out(layer: &Layer) -> Option<&str> {
    let names = here(&layer.parts.inputs).chain(here(&layer.parts.outputs)).filter(|file| !file.is_renamed());
    let mut names = names.map(|file| file.outer.as_str());
    names.find(|name| name.split('/').any(|part| part == "..") || name.split('/').all(|part| matches!(part, "" | ".")))
}

fn here(files: &[FileName]) -> impl Iterator<Item = &FileName> {
    files.iter().filter(|file| file.is_renamed() || !file.outer.starts_with('/'))
}

/// An output as [`LINKS`] takes it.
fn root(file: &FileName) -> String {
    let renamed = file.is_renamed() || file.each_run;
    format!("{}{}", if renamed { "././" } else { "./" }, tidy(&file.inner))
}

/// A slash at its end would make a link the directory to which it leads.
fn tidy(name: &str) -> &str {
    name.trim_end_matches('/').trim_start_matches("./")
}
