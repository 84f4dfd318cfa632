#!/bin/bash
# Runs file-system test suites in a directory and says what of POSIX holds there.
#
#   posix.sh [--out FILE] [--other DIR] [--only SUITE]… DIRECTORY
#
#   --out FILE      every result as a line `SUITE<tab>pass|fail|skip<tab>NAME`, sorted: two directories are compared by diff
#   --other DIR     a directory on another file system, for what must fail across two of them (/dev/shm unless told, where it is another)
#   --only SUITE    pjdfstest, fsx or stress-ng; all three unless told
#
# The suites: pjdfstest (398 tests of what each call does and refuses; most need root), fsx (random operations on one file, each read
# compared with what must be there; a call that the file system does not have is left out, and that is said as `skip`), and the
# stressors of stress-ng for file systems with --verify. The first two are installed by cargo into `posix` below the target directory
# ($FLOWMINE_POSIX names another place); stress-ng is a Debian package. Ends with 1 when something failed, with 2 when a suite cannot be had.
set -euo pipefail

out="" other=/dev/shm suites=()
while [ $# -gt 1 ]; do
    case $1 in
        --out) out=$2 ;;
        --other) other=$2 ;;
        --only) suites+=("$2") ;;
        *) echo "posix.sh: unknown option $1" >&2; exit 2 ;;
    esac
    shift 2
done
[ $# = 1 ] && [ -d "$1" ] || { echo "usage: posix.sh [--out FILE] [--other DIR] [--only SUITE]… DIRECTORY" >&2; exit 2; }
directory=$(cd "$1" && pwd -P)
[ ${#suites[@]} -gt 0 ] || suites=(pjdfstest fsx stress-ng)
repository=$(cd "$(dirname "$0")/../.." && pwd)
tools=${FLOWMINE_POSIX:-${CARGO_TARGET_DIR:-$repository/target}/posix}
unset RUST_BACKTRACE

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=$work/results
: >"$results"

have() {
    [ -x "$tools/bin/$1" ] && return
    echo "posix.sh: installing $1" >&2
    CARGO_TARGET_DIR=$tools/build cargo install --quiet --locked --root "$tools" "$1@$2" >&2 || { echo "posix.sh: $1 cannot be had" >&2; exit 2; }
}

run_pjdfstest() {
    have pjdfstest 0.2.2
    # A failing test unwinds with its directory in place, and its directories may be anybody's: all of it is below this one.
    local place=$directory/pjdfstest.$$ beside=()
    mkdir "$place"
    chmod 755 "$place"
    # Names of two users that every Debian system has.
    cat >"$work/pjdfstest.toml" <<'END'
[features]
posix_fallocate = {}
rename_ctime = {}
stat_st_birthtime = {}
utime_now = {}
utimensat = {}
[settings]
naptime = 0.01
allow_remount = false
[dummy_auth]
entries = [["nobody", "nogroup"], ["daemon", "daemon"]]
END
    if [ -d "$other" ] && [ "$(stat -c %d "$other")" != "$(stat -c %d "$directory")" ]; then beside=(-s "$other"); fi
    # The suite changes between users and goes into the directories as them: those above must let them.
    timeout 600 "$tools/bin/pjdfstest" -c "$work/pjdfstest.toml" -p "$place" ${beside[@]+"${beside[@]}"} >"$work/pjdfstest.log" 2>&1 || true
    rm -rf "$place"
    sed -n -E 's/^([a-z_0-9:]+) +(ok|FAILED|skipped)$/\2\t\1/p' "$work/pjdfstest.log" |
        sed -E 's/^ok/pjdfstest\tpass/; s/^FAILED/pjdfstest\tfail/; s/^skipped/pjdfstest\tskip/' >>"$results"
    # Without its last line it did not come to its end.
    grep -q '^Summary: ' "$work/pjdfstest.log" || {
        tail -n 5 "$work/pjdfstest.log" >&2
        printf 'pjdfstest\tfail\tall_tests_ran\n' >>"$results"
    }
}

run_fsx() {
    have fsx 0.3.2
    local file=$directory/fsx.$$ weights="" name seed code
    printf x >"$file"
    for name in posix_fallocate punch_hole; do
        case $name in
            posix_fallocate) python3 -c 'import os,sys; f = os.open(sys.argv[1], os.O_RDWR); os.posix_fallocate(f, 0, 4096)' "$file" 2>/dev/null && code=0 || code=1 ;;
            punch_hole) fallocate --punch-hole --offset 0 --length 1 "$file" 2>/dev/null && code=0 || code=1 ;;
        esac
        if [ $code = 0 ]; then
            weights+="$name = 1.0"$'\n'
        else
            printf 'fsx\tskip\t%s\n' $name >>"$results"
        fi
    done
    rm -f "$file"
    printf 'flen = 1048576\n[opsize]\nmin = 1\nmax = 65536\n[weights]\nclose_open = 1.0\ninvalidate = 1.0\nfsync = 0.1\nfdatasync = 0.1\nsendfile = 1.0\nposix_fadvise = 1.0\ncopy_file_range = 1.0\n%s' "$weights" >"$work/fsx.toml"
    # The seeds are given, so that a failure can be had again.
    for seed in 1 2 3 4; do
        code=0
        (cd "$work" && timeout 300 "$tools/bin/fsx" -q -f "$work/fsx.toml" -S $seed -N 3000 -P "$work" "$file") >"$work/fsx.log" 2>&1 || code=$?
        if [ $code = 0 ]; then
            printf 'fsx\tpass\tseed_%s\n' $seed >>"$results"
        else
            printf 'fsx\tfail\tseed_%s\n' $seed >>"$results"
            tail -n 5 "$work/fsx.log" >&2
        fi
        rm -f "$file"*
    done
}

# Those that work on files of their own in a directory, need no device, and say when a result is wrong.
stressors="access:200 chmod:500 chown:500 copy-file:20 dentry:500 dir:500 dirdeep:200 dirmany:500 dup:500 fallocate:5
    fcntl:500 fiemap:500 file-ioctl:200 filename:200 flock:500 fsize:5 fstat:500 getdent:200 hdd:200 inotify:5 io:50 iomix:200
    lease:200 link:10 locka:500 lockf:500 lockofd:500 mknod:200 open:500 readahead:200 rename:500 seek:500 sync-file:100
    touch:500 utime:500 xattr:200"

run_stress_ng() {
    command -v stress-ng >/dev/null || { echo "posix.sh: the package stress-ng is missing" >&2; exit 2; }
    local place=$directory/stress-ng.$$ entry name code
    mkdir "$place"
    for entry in $stressors; do
        name=${entry%:*}
        code=0
        timeout 60 stress-ng "--$name" 1 "--$name-ops" "${entry#*:}" --temp-path "$place" --verify --timeout 20 \
            --hdd-bytes 16m --fallocate-bytes 16m --readahead-bytes 16m --iomix-bytes 16m --sync-file-bytes 8m >"$work/stress.log" 2>&1 || code=$?
        # stress-ng(1): 3 no resources, 4 not implemented here. Skipping says so in words, with 0.
        if [ $code = 3 ] || [ $code = 4 ] || grep -qiE 'skipp(ed|ing) stressor|skipped: 1' "$work/stress.log"; then
            printf 'stress-ng\tskip\t%s\n' "$name" >>"$results"
        elif [ $code = 0 ] && ! grep -q 'fail:' "$work/stress.log"; then
            printf 'stress-ng\tpass\t%s\n' "$name" >>"$results"
        else
            printf 'stress-ng\tfail\t%s\n' "$name" >>"$results"
            grep -E 'fail:|error:' "$work/stress.log" | head -n 2 >&2 || true
        fi
    done
    rm -rf "$place"
}

for suite in "${suites[@]}"; do
    case $suite in
        pjdfstest) run_pjdfstest ;;
        fsx) run_fsx ;;
        stress-ng) run_stress_ng ;;
        *) echo "posix.sh: no suite is called $suite" >&2; exit 2 ;;
    esac
done

LC_ALL=C sort -o "$results" "$results"
[ -z "$out" ] || cp "$results" "$out"
grep $'\tfail\t' "$results" | sed 's/\tfail\t/: failed: /' || true
for suite in "${suites[@]}"; do
    awk -F '\t' -v suite="$suite" '$1 == suite { n[$2]++ } END { printf "%s: %d passed, %d failed, %d skipped\n", suite, n["pass"], n["fail"], n["skip"] }' "$results"
done
! grep -q $'\tfail\t' "$results"
