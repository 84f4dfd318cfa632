//! What a task deletes.

/// What the task would have deleted without the sandbox goes in the workflow too: files that came in
/// and are no longer there, and of earlier attempts' outputs what a successful attempt did not make.
/// `fm_made` lists the latter, a line with inode, size, time and name for each, none of them that of
/// a link's target. When an attempt begins, what has another line by then is somebody else's, and stays.
pub(super) const GONE: &str = r#"fm_old_gone='' fm_above=''
# Directories of an output that hold an input, without what is in them.
fm_list_above() { fm_above=$(fm_list "$@" -prune); }
fm_list() { (cd "$fm_home" && fm_lines '%i %s %y' "$@"); }
fm_made_ours() {
  # shellcheck disable=SC3067
  [ -f "$fm_home/$fm_made" ] && [ ! -L "$fm_home/$fm_made" ] && [ -O "$fm_home/$fm_made" ] \
    && [ -z "$(LC_ALL=C find "$fm_home/$fm_made" -prune \( -perm -020 -o -perm -002 \))" ]
}
fm_older_find() {
  ! fm_made_ours || fm_older=$(fm_list "$@" | LC_ALL=C grep -Fx -f "$fm_home/$fm_made")
}
# Lines of files that are not in the sandbox, what is in a directory before it.
fm_missing() {
  while read -r fm_i fm_s fm_d fm_t fm_z fm_l; do
    fm_decode "$fm_l"
    [ -e "$fm_f" ] || [ -L "$fm_f" ] || printf '%s\n' "$fm_i $fm_s $fm_d $fm_t $fm_z $fm_l"
  done | LC_ALL=C sort -r -k 6
}
# Lines of files that are in the sandbox: what is behind a link that leads nowhere here did not come in.
fm_arrived() {
  while read -r fm_l; do
    fm_decode "${fm_l#* * * * * }"
    if [ -e "$fm_f" ] || [ -L "$fm_f" ]; then printf '%s\n' "$fm_l"; fi
  done
}
fm_gone_find() {
  fm_gone=$(printf '%s\n' "$fm_came" "$fm_above" | fm_missing) fm_names=''
  [ -z "$*" ] || fm_names=$(fm_lines name "$@")
  [ "$fm_code" = 0 ] || return 0
  # What is in directories that an earlier attempt closed is known when they are open.
  while [ -n "$fm_older" ] && [ -n "$(printf '%s\n' "$fm_older" | fm_older_open)" ]; do fm_older_find "$@"; done
  fm_old_gone=$(printf '%s\n' "$fm_older" | fm_missing)
}
fm_older_open() {
  while read -r fm_i fm_s fm_d fm_t fm_z fm_f; do
    fm_decode "$fm_f"
    fm_f=$fm_home/$fm_f
    if [ ! -d "$fm_f" ] || [ -L "$fm_f" ] || { [ -r "$fm_f" ] && [ -x "$fm_f" ]; }; then continue; fi
    chmod u+rwx -- "$fm_f" 2>/dev/null && echo open
  done
}
# Removes what is still the file of its line; directories where they are empty. The task, or an earlier attempt, opened
# directories for it.
fm_remove() {
  while read -r fm_i fm_s fm_d fm_t fm_z fm_f; do
    if [ -z "$fm_f" ]; then continue; fi
    fm_decode "$fm_f"
    fm_f=$fm_home/$fm_f
    [ "$(stat -c %i -- "$fm_f" 2>/dev/null)" = "$fm_i" ] || continue
    [ -w "${fm_f%/*}" ] || chmod u+rwx -- "${fm_f%/*}" 2>/dev/null
    if [ -d "$fm_f" ] && [ ! -L "$fm_f" ]; then rmdir -- "$fm_f" 2>/dev/null; else rm -f -- "$fm_f"; fi
  done
}
# Removes what came in and what earlier attempts made at a name and, where it is no link, below it; whether nothing is left there.
fm_stale() {
  fm_encode "$1"
  if [ -L "$2" ]; then fm_x=1; else fm_x=0; fi
  printf '%s\n' "$fm_older" "$fm_came" "$fm_above" | fm_own=$fm_e LC_ALL=C awk -v only="$fm_x" '{ name = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name) }
    name == ENVIRON["fm_own"] || !only && index(name, ENVIRON["fm_own"]) == 1' | LC_ALL=C sort -r -k 6 | fm_remove
  [ ! -e "$2" ] && [ ! -L "$2" ]
}
# After the outputs are out, and nothing was kept.
fm_gone_remove() {
  printf '%s\n' "$fm_gone" | fm_remove
  printf '%s\n' "$fm_old_gone" | fm_remove
  fm_x=$(
    {
      printf '%s\n' "$fm_names$fm_links_left"
      [ "$fm_code" = 0 ] || printf '%s\n' "$fm_older" | LC_ALL=C sed 's/^/line /'
      fm_list "$@"
    } | LC_ALL=C awk '{ rest = substr($0, index($0, " ") + 1) }
      $1 == "name" { made[rest] = 1; next }
      $1 == "link" { link[rest] = 1; next }
      $1 == "line" { older[rest] = 1; next }
      { name = $0; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name) }
      !(name in link) && (name in made || $0 in older)'
  )
  # A run that has a list of its own needs it only as long as it fails.
  if [ "$fm_code" = 0 ] && [ -n "$fm_instance" ]; then fm_x=''; fi
  if [ -n "$fm_x" ]; then
    if [ ! -e "$fm_home/$fm_made" ] && [ ! -L "$fm_home/$fm_made" ] || fm_made_ours; then
      rm -f -- "$fm_home/$fm_made"
      (umask 077 && set -C && printf '%s\n' "$fm_x" >"$fm_home/$fm_made") 2>/dev/null || fm_say "$fm_made could not be written"
    fi
  elif fm_made_ours; then
    rm -f -- "$fm_home/$fm_made"
  fi
}
"#;
