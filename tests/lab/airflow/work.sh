#!/bin/bash
# What a task of known_work.py does, in the order of the arguments, below FLOWMINE_AIRFLOW_DATA:
#   write FILE BYTES   writes a file with dd, in blocks of 4096
#   read FILE BYTES    reads its first bytes, likewise
#   fail-first         ends with 1 at the first attempt
#   exit CODE          ends with it
# At its end it adds a line to FLOWMINE_AIRFLOW_DATA/truth: the names below, between tabs. Times are nanoseconds since 1970. For each read and write it adds a line to
# FLOWMINE_AIRFLOW_DATA/truth-files: the pid of Airflow's process, what it did, the file, its device and inode number, the bytes.
set -u
began=$(date +%s%N) reads=0 writes=0 code=0 files=
cd "$FLOWMINE_AIRFLOW_DATA" || exit 125
did() { files+=$(printf '%s\t%s\t%s\t%s\t%s' "$PPID" "$1" "$2" "$(stat -c $'%d\t%i' "$2")" "$3")$'\n'; }
while [ $# -gt 0 ]; do
  case $1 in
    write)
      mkdir -p "${2%/*}"
      dd if=/dev/zero of="$2" bs=4096 count="$3" iflag=fullblock,count_bytes status=none || exit 125
      did "$@"; writes=$((writes + $3)); shift 3 ;;
    read)
      dd if="$2" of=/dev/null bs=4096 count="$3" iflag=fullblock,count_bytes status=none || exit 125
      did "$@"; reads=$((reads + $3)); shift 3 ;;
    fail-first) [ "$AIRFLOW_CTX_TRY_NUMBER" != 1 ] || code=1; shift ;;
    exit) code=$2; shift 2 ;;
    *) exit 125 ;;
  esac
done
# Airflow tells a task everything of itself but its map index; what it wrote last tells that.
{
  flock 9
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$AIRFLOW_CTX_DAG_ID" "$AIRFLOW_CTX_DAG_RUN_ID" "$AIRFLOW_CTX_TASK_ID" \
    "$AIRFLOW_CTX_TRY_NUMBER" "$$" "$PPID" "$reads" "$writes" "$code" "$began" "$(date +%s%N)" >&9
  printf '%s' "$files" >> truth-files
} 9>>truth
exit "$code"
