#!/usr/bin/env bash
# Checks what `make dist` made: the binary needs glibc 2.17 and nothing else, runs where there is nothing else, and the
# packages hold what they promise. In: DIR (dist when not given), the folder with the tarball, the .deb and SHA256SUMS; CACHE, where fetched C
# libraries stay (a folder below TMPDIR when not given). Out: a line a check; exit code 1 when one failed.
#
# A root directory with an old C library is made of the oldest libc6 that this machine's Debian mirror has (old-libc.sh; Debian 11 with
# glibc 2.31 in November 2026: 2.28 and older have left the mirrors), and system calls that came after Linux 3.10, the kernel
# that goes with glibc 2.17, are refused there (enter.py). OLD_ROOT=DIR names a root directory to take instead, such as an unpacked CentOS 7.
# What cannot be had here is said, and noted in the file FLOWMINE_NOT_RUN; it is a failure where FLOWMINE_REQUIRE, a list with commas, holds `dist`.
set -euo pipefail
dist=$(realpath "${1:-dist}")
work=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true; rm -rf "$work"' EXIT
cache=$(realpath -m "${2:-$work/cache}")
cd "$(dirname "$(realpath "$0")")/../.."
here=$PWD/tests/dist
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
failed=0

ok() { echo "ok       $*"; }
fail() { echo "FAILED   $*"; failed=1; }
not_run() {
    echo "not run  $*"
    [ -z "${FLOWMINE_NOT_RUN-}" ] || echo "not run: tests/dist/check.sh: $*" >> "$FLOWMINE_NOT_RUN"
    case ,${FLOWMINE_REQUIRE-}, in *,dist,*) failed=1 ;; esac
}
# Runs a command; the check holds when its exit code is CODE and its output has PATTERN (grep -E).
expect() { # WHAT CODE PATTERN COMMAND…
    local what=$1 code=$2 pattern=$3 got=0
    shift 3
    "$@" > "$work/output" 2>&1 || got=$?
    if [ "$got" = "$code" ] && grep -qE -e "$pattern" "$work/output"; then ok "$what"; else
        fail "$what: exit code $got instead of $code, or no line with: $pattern"
        sed 's/^/         | /' "$work/output" | head -n 20
    fi
}

# ---- the files
(cd "$dist" && sha256sum --quiet --check SHA256SUMS) && ok "SHA256SUMS" || fail "SHA256SUMS"
listed=$(cut -c 67- "$dist/SHA256SUMS" | tr '\n' ' ')
tarball=$(echo "$dist"/flowmine-*-linux-"$(uname -m)".tar.gz)
deb=$(echo "$dist"/flowmine_*.deb)
for file in "$tarball" "$deb"; do
    case " $listed" in *" ${file##*/} "*) ;; *) fail "SHA256SUMS does not have ${file##*/}" ;; esac
done
mkdir "$work/tar"
tar --extract --gzip --file "$tarball" --directory "$work/tar"
prefix=$(echo "$work"/tar/*)
binary=$prefix/bin/flowmine
version=$("$binary" --version | cut -d ' ' -f 2)

# ---- what the binary needs
# Prints what an ELF file needs beyond glibc 2.17; nothing when it needs no more.
beyond() {
    objdump -p "$1" | awk '
        $1 == "NEEDED" && $2 !~ /^(libc|libm|libdl|libpthread|librt|libutil)\.so\.[0-9]+$/ && $2 !~ /^ld-linux-[a-z0-9-]+\.so\.[0-9]+$/ { print "the library " $2 }
        $1 == "RPATH" || $1 == "RUNPATH" { print "the path " $2 }
        references && NF == 4 && $4 !~ /^GLIBC_/ { print "the symbol version " $4 }
        references && NF == 4 && $4 ~ /^GLIBC_/ {
            split(substr($4, 7), part, ".")
            if (part[1] != 2 || part[2] > 17 || $4 ~ /[A-Z]$/) print "the symbol version " $4
        }
        /^Version References:/ { references = 1 }
        /^$/ { references = 0 }'
    # Without a version and not weak: nobody would say where it comes from.
    objdump -T "$1" | awk '/\*UND\*/ && $2 != "w" && !/GLIBC_/ { print "the symbol " $NF }'
}
if [ -z "$(beyond "$binary")" ]; then ok "the binary needs glibc 2.17 and no other library ($(objdump -T "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1) at most)"; else
    fail "the binary needs:"
    beyond "$binary" | sort -u
fi
# This check can fail: a program of this machine needs more.
newer=$(command -v sha256sum)
[ -n "$(beyond "$newer")" ] && ok "a program of this machine is told from it" || not_run "a program of this machine needs more than glibc 2.17"
[ "$(objdump -T "$binary" | grep -cE 'SSL_|EVP_|libssh2_|inflate')" = 0 ] && ok "OpenSSL, libssh2 and zlib are inside" || fail "a library is outside"
# OpenSSL keeps where it would have been installed (engines, modules: it was built without them, and libssh2 asks for none).
paths=$(strings -n 6 "$binary" | grep -oF -e "$HOME/" -e "$PWD/" | sort -u || true)
paths=${paths:+$(strings -n 6 "$binary" | grep -F "$paths" | grep -v -e '/openssl-build/install/lib' | cut -c 1-200 | head -n 3 || true)}
[ -z "$paths" ] && ok "it tells no other path of the machine that built it" || fail "it tells paths of the machine that built it: $paths"

# ---- a root directory with an old C library and nothing else
root=$work/root
mkdir "$root"
if [ -n "${OLD_ROOT-}" ]; then
    cp -a "$OLD_ROOT/." "$root"
    libc="the C library of $OLD_ROOT"
elif command -v apt-get >/dev/null && suite=$("$here/old-libc.sh" "$cache"); then
    for package in "$cache/$suite"/*.deb; do dpkg-deb -x "$package" "$root"; done
    libc="$(dpkg-deb -f "$cache/$suite"/libc6_*.deb Package) $(dpkg-deb -f "$cache/$suite"/libc6_*.deb Version) of Debian $suite"
else
    libc=
fi
mkdir -p "$root/proc" "$root/dev" "$root/etc" "$root/tmp" "$root/home" "$root/usr/bin" "$root/bin"
chmod 1777 "$root/tmp"
touch "$root/dev/null" "$root/dev/urandom" "$root/dev/random"
printf 'me:x:%s:%s::/home:/bin/sh\n' "$(id -u)" "$(id -g)" > "$root/etc/passwd"
printf '127.0.0.1 loginnode\n' > "$root/etc/hosts"
printf 'passwd: files\nhosts: files dns\n' > "$root/etc/nsswitch.conf"
cp "$binary" "$root/usr/bin/flowmine"
cp -r fixtures/case-study "$root/home/case-study"
[ -e "$root/bin/sh" ] || ln -s dash "$root/bin/sh"

as_user=--map-root-user
[ "$(id -u)" != 0 ] || as_user=
# Runs a command there, as process 1 of its own; OLD_KERNEL=1 refuses later system calls.
inside() {
    # shellcheck disable=SC2086,SC2016
    unshare $as_user --mount --ipc --pid --fork sh -c '
        root=$1
        shift
        mount -t proc proc "$root/proc"
        for device in null urandom random; do mount --bind "/dev/$device" "$root/dev/$device"; done
        exec python3 '"'$here/enter.py'"' "$root" "$@"' sh "$root" "$@"
}
observe() { inside /usr/bin/flowmine observe --once --verbose --cluster fake "$@"; }

if [ -z "$libc" ]; then
    not_run "the binary with an old C library: none can be had here"
elif ! inside /bin/sh -c : 2> "$work/error"; then
    not_run "the binary with an old C library: no root directory can be entered here: $(head -n 1 "$work/error")"
else
    echo "         in a root directory with $libc, and no other library:"
    cp "$newer" "$root/usr/bin/newer"
    if inside /usr/bin/newer /etc/hosts >/dev/null 2>&1; then not_run "a program of this machine runs there too: the C library is not old"; else ok "a program of this machine does not run there"; fi
    for kernel in 0 1; do
        export OLD_KERNEL=$kernel
        [ "$kernel" = 0 ] || echo "         the same, with the system calls of Linux 3.10 only:"
        rm -rf "$root"/home/queue* "$root"/home/out "$root"/home/.ssh "$root"/usr/bin/squeue "$root"/usr/bin/date "$root"/usr/bin/timeout
        expect "--version" 0 "^flowmine $version\$" inside /usr/bin/flowmine --version
        expect "import" 0 "[0-9]+ records imported" inside /usr/bin/flowmine import slurm case-study/polls case-study/sacct-token.txt.gz --dataset queue
        expect "discover" 0 . inside /usr/bin/flowmine discover dfg --dataset queue --format json
        # The same bytes as with this machine's C library.
        inside /usr/bin/flowmine discover dfg --dataset queue --format json > "$work/there" 2>/dev/null || true
        "$binary" discover dfg --dataset "$root/home/queue" --format json > "$work/here" 2>/dev/null || true
        [ -s "$work/here" ] && cmp -s "$work/here" "$work/there" && ok "the same model as with this machine's C library" || fail "another model than with this machine's C library"
        expect "run" 0 . inside /usr/bin/flowmine run --dataset queue --out out
        expect "discover: a picture" 0 . inside /usr/bin/flowmine discover --dataset queue -o out/dfg.svg
        [ -s "$root/home/out/dfg.svg" ] && ok "the picture is there" || fail "there is no picture"
        expect "observe without squeue says so" 2 "squeue|timeout" observe --dataset queue-of-nobody
        cp "$here/squeue" "$root/usr/bin/squeue"
        printf '#!/bin/sh\necho 1790000100000000000\n' > "$root/usr/bin/date"
        printf '#!/bin/sh\nshift\nexec "$@"\n' > "$root/usr/bin/timeout"
        chmod +x "$root/usr/bin/date" "$root/usr/bin/timeout"
        expect "observe" 0 "1 in the queue, 1 changes" observe --dataset queue-of-one
        # ptrace itself needs Linux 5.3.
        if [ "$kernel" = 0 ]; then
            inside /usr/bin/flowmine trace --dataset io --backend ptrace -- /bin/sh -c 'echo traced > /home/traced' 2> "$work/output" || true
            [ -s "$root/home/traced" ] && find "$root/home/io/io_events" -name '*.parquet' | grep -q . && ok "trace of a command by ptrace" || fail "trace of a command by ptrace: $(head -n 1 "$work/output")"
        fi
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        expect "observe --ssh to a closed port says so" 2 "loginnode.*(refused|cannot connect)" observe --dataset queue-far --ssh "me@loginnode:$port"
        if ! command -v sshd >/dev/null || ! command -v ssh-keygen >/dev/null; then not_run "observe --ssh: there is no sshd here"; continue; fi
        case $(getent passwd "$(id -un)") in *nologin | *false) not_run "observe --ssh: $(id -un) may not log in"; continue ;; esac
        if [ -z "$daemon" ]; then
            ssh-keygen -q -t ed25519 -N '' -C host -f "$work/host"
            ssh-keygen -q -t ed25519 -N '' -C client -f "$work/client"
            cat > "$work/sshd_config" <<EOF
Port $port
ListenAddress 127.0.0.1
HostKey $work/host
AuthorizedKeysFile $work/client.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
EOF
            [ "$(id -u)" != 0 ] || install -d -m 755 /run/sshd
            "$(command -v sshd)" -D -e -f "$work/sshd_config" 2> "$work/sshd.log" &
            daemon=$!
            ssh_port=$port
            for _ in $(seq 50); do grep -q listening "$work/sshd.log" && break || sleep 0.1; done
        fi
        mkdir -p "$root/home/.ssh"
        install -m 600 "$work/client" "$root/home/.ssh/id"
        far=(--ssh "$(id -un)@loginnode:$ssh_port" --ssh-identity .ssh/id --slurm-bin-dir "$here")
        # Both ends have agreed on keys when a host key can be refused: OpenSSL works.
        expect "observe --ssh refuses an unknown host key" 2 "host key|known_hosts" observe --dataset queue-far "${far[@]}"
        expect "observe --ssh" 0 "1 in the queue, 1 changes" observe --dataset queue-far "${far[@]}" --ssh-accept-new
    done
    unset OLD_KERNEL
fi

# ---- the tarball
in_tarball="bin/flowmine share/man/man1/flowmine.1 share/man/man1/flowmine-import-squeue.1 share/bash-completion/completions/flowmine
    share/zsh/site-functions/_flowmine share/fish/vendor_completions.d/flowmine.fish share/doc/flowmine/README.md share/doc/flowmine/LICENSE-MIT
    share/doc/flowmine/LICENSE-APACHE share/doc/flowmine/LICENSES-OF-DEPENDENCIES share/doc/flowmine/docs/install.md
    share/doc/flowmine/examples/flowmine-observe.service share/doc/flowmine/examples/flowmine-observe.timer share/doc/flowmine/examples/flowmine-trace.service"
missing=
for file in $in_tarball; do [ -s "$prefix/$file" ] || missing="$missing $file"; done
[ -z "$missing" ] && ok "the tarball has the binary, manual pages, completions, licences and units" || fail "the tarball lacks$missing"
tar --list --verbose --gzip --numeric-owner --file "$tarball" | awk '$2 != "0/0" || $1 ~ /[st]/ || $1 ~ /^-.......w/' | grep -q . && fail "the tarball has odd owners or modes" || ok "its owners and modes"
grep -q "OpenSSL\|openssl" "$prefix/share/doc/flowmine/LICENSES-OF-DEPENDENCIES" && ok "OpenSSL's licence is in it" || fail "OpenSSL's licence is missing"
bash -n "$prefix/share/bash-completion/completions/flowmine" && ok "bash reads its completions" || fail "bash's completions"

# ---- the .deb
if [ ! -e "$deb" ] || ! command -v dpkg >/dev/null; then
    not_run "the .deb: there is none, or no dpkg"
else
    depends=$(dpkg-deb -f "$deb" Depends)
    [ "$depends" = "libc6 (>= 2.17)" ] && ok "the .deb depends on libc6 (>= 2.17) only" || fail "the .deb depends on $depends"
    [ "$(dpkg-deb -f "$deb" Version)" = "$version-1" ] && ok "its version" || fail "its version"
    # A system whose C library is VERSION, as far as dpkg knows.
    system() { # DIR VERSION
        mkdir -p "$1/var/lib/dpkg/info" "$1/var/lib/dpkg/updates" "$1/var/lib/dpkg/triggers" "$1/var/log"
        printf 'Package: libc6\nStatus: install ok installed\nArchitecture: %s\nVersion: %s\nMaintainer: none\nDescription: none\n\n' \
            "$(dpkg --print-architecture)" "$2" > "$1/var/lib/dpkg/status"
    }
    dpkg_in() { dpkg --root="$1" --force-not-root --force-script-chrootless --force-bad-path --log=/dev/null "${@:2}"; }
    system "$work/old" 2.16-1
    expect "dpkg refuses it beside glibc 2.16" 1 "libc6 \(>= 2.17\)" dpkg_in "$work/old" --install "$deb"
    system "$work/new" 2.17-1
    expect "dpkg installs it beside glibc 2.17" 0 "Setting up flowmine" dpkg_in "$work/new" --install "$deb"
    usr=$work/new/usr
    cmp -s "$binary" "$usr/bin/flowmine" && ok "its binary is the tarball's" || fail "its binary is another one than the tarball's"
    missing=
    for file in share/man/man1/flowmine.1.gz share/man/man1/flowmine-observe.1.gz share/bash-completion/completions/flowmine \
        share/zsh/vendor-completions/_flowmine share/fish/vendor_completions.d/flowmine.fish share/doc/flowmine/copyright \
        share/doc/flowmine/changelog.gz share/doc/flowmine/README.md share/doc/flowmine/docs/install.md share/doc/flowmine/LICENSES-OF-DEPENDENCIES.gz \
        share/doc/flowmine/examples/flowmine-observe.timer share/doc/flowmine/examples/flowmine-trace.service; do
        [ -s "$usr/$file" ] || missing="$missing $file"
    done
    [ -z "$missing" ] && ok "it has manual pages, completions, licences and units" || fail "it lacks$missing"
    grep -q "^ExecStart=/usr/bin/flowmine " "$usr/share/doc/flowmine/examples/flowmine-trace.service" && ok "its units start its binary" || fail "its units start another binary"
    (cd "$work/new" && dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./md5sums | md5sum --quiet --check) && ok "its checksums" || fail "its checksums"
    dpkg-deb -c "$deb" | awk '$2 != "root/root"' | grep -q . && fail "it has other owners than root" || ok "its owners"
    expect "dpkg removes it" 0 "Removing flowmine" dpkg_in "$work/new" --purge flowmine
    [ ! -e "$usr" ] || [ -z "$(find "$usr" -type f)" ] && ok "nothing is left of it" || fail "files are left of it"
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error "$deb" && ok "lintian" || fail "lintian"
    fi
fi

[ "$failed" = 0 ] || { echo "what make dist made is not as it should be" >&2; exit 1; }
