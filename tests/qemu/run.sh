#!/bin/bash
# Runs a shell script as root on a Debian kernel in QEMU, without KVM and without root outside.
#
#   run.sh [OPTION…] SUITE SCRIPT
#
#   SUITE               a Debian release, whose kernel `kernel.sh` fetches: bullseye, bookworm, trixie
#   SCRIPT              a file for busybox's sh
#   --program FILE      puts a program with the shared libraries that it needs into /usr/bin
#   --copy FROM=TO      puts a file or a directory there
#   --results DIR       unpacks what the script left in /results into DIR (made when missing), also when the script failed
#   --module NAME       loads one more kernel module, with those that it needs
#   --kernel-args TEXT  more arguments for the kernel
#   --memory MIB        1024 unless told
#   --timeout SECONDS   for all of it, 300 unless told
#   --console FILE      keeps what the kernel said
#
# Prints what the script prints (standard output and standard error as they come) and ends with the script's exit code; with 124 after
# the timeout; with 125 and the kernel's last lines when the machine did not come to the script's end (a panic, an oops, no boot).
#
# In the machine: two processors, root file system ext4 on a virtio disk, tmpfs on /tmp, /dev/shm and /run, cgroup2 on /sys/fs/cgroup,
# tracefs, debugfs and bpffs at their usual places, the modules of overlay, fuse, xfs and loop loaded, busybox's programs, `nobody`
# and `user` (uid 1000) beside root, no network but the loopback.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
programs=() copies=() modules=(virtio_pci virtio_blk ext4 xfs fuse overlay loop)
results="" console="" memory=1024 limit=300 kernel_args=""

fail() {
    echo "run.sh: $*" >&2
    exit 125
}

while [ $# -gt 2 ]; do
    case $1 in
        --program) programs+=("$2") ;;
        --copy) copies+=("$2") ;;
        --results) results=$2 ;;
        --module) modules+=("$2") ;;
        --kernel-args) kernel_args=$2 ;;
        --memory) memory=$2 ;;
        --timeout) limit=$2 ;;
        --console) console=$2 ;;
        *) fail "unknown option $1" ;;
    esac
    shift 2
done
[ $# = 2 ] || fail "usage: run.sh [OPTION…] SUITE SCRIPT"
suite=$1 script=$2
[ -f "$script" ] || fail "$script is not a file"

PATH=$PATH:/usr/sbin:/sbin
qemu=qemu-system-$(uname -m)
for program in "$qemu" busybox cpio mkfs.ext4 ldd xz timeout; do
    command -v "$program" >/dev/null || fail "$program is missing"
done
kernel=$("$here/kernel.sh" "$suite") || fail "no kernel of $suite"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/flowmine-vm.XXXXXX")
machine=""
cleanup() {
    [ -z "$machine" ] || kill "$machine" 2>/dev/null || true
    [ -z "$console" ] || cp "$work/console" "$console" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# The first root: busybox, and the modules in the order in which they must be loaded.
mkdir -p "$work"/boot/{bin,proc,sys,dev,new,modules}
cp "$(command -v busybox)" "$work/boot/bin/busybox"
declare -A loaded=()
count=100
module() {
    local name=${1//-/_} file need
    [ -z "${loaded[$name]:-}" ] || return 0
    loaded[$name]=1
    # No program may end before it has read all: with pipefail the other one's SIGPIPE would count.
    if tr - _ <"$kernel/modules/modules.builtin" | grep "/$name\.ko$" >/dev/null; then
        return 0
    fi
    # A module's file has its name with - or with _.
    file=$(find "$kernel/modules" -name "${name//_/[-_]}.ko*" -print -quit)
    [ -n "$file" ] || return 1
    local plain=$work/$name.ko
    case $file in *.xz) xz -dc "$file" >"$plain" ;; *) cp "$file" "$plain" ;; esac
    for need in $(tr '\0' '\n' <"$plain" | sed -n 's/^depends=//p' | tr , ' '); do
        module "$need" || fail "$suite's kernel has no module $need, which $name needs"
    done
    count=$((count + 1))
    mv "$plain" "$work/boot/modules/$count-$name.ko"
}
# ext4 and xfs ask for it by an alias that no file's list of dependencies shows.
module crc32c_generic || true
module crc32c_intel || true
for name in "${modules[@]}"; do module "$name" || fail "$suite's kernel has no module $name"; done
cp "$here/boot.sh" "$work/boot/init"
chmod 755 "$work/boot/init"
(cd "$work/boot" && find . | cpio --quiet -o -H newc) >"$work/initramfs"

# The second root, with everything that the script may use.
root=$work/root
mkdir -p "$root"/{bin,sbin,usr/bin,usr/sbin,proc,sys,dev,tmp,run,results,work,etc,root,home/user,var/tmp,lib,lib64}
chmod 1777 "$root/tmp" "$root/var/tmp"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$here/init.sh" "$root/sbin/init"
cp "$script" "$root/script"
chmod 755 "$root/sbin/init" "$root/script"
printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n' >"$root/etc/group"
echo "$suite" >"$root/etc/hostname"
# A random word marks the line with the exit code, so that nothing that the script prints is taken for it.
nonce=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
echo "$nonce" >"$root/etc/nonce"
for program in ${programs[@]+"${programs[@]}"}; do
    [ -f "$program" ] || fail "$program is not a file"
    install -D -m 755 "$program" "$root/usr/bin/$(basename "$program")"
    { ldd "$program" 2>/dev/null || true; } | { grep -o '/[^ ]*' || true; } | while read -r library; do
        [ -e "$root$library" ] || install -D -m 755 "$library" "$root$library"
    done
done
for copy in ${copies[@]+"${copies[@]}"}; do
    mkdir -p "$root$(dirname "${copy#*=}")"
    cp -rL "${copy%%=*}" "$root${copy#*=}"
done
truncate -s 4G "$work/disk"
mkfs.ext4 -q -F -d "$root" -E lazy_itable_init=1,lazy_journal_init=1,nodiscard "$work/disk" || fail "mkfs.ext4 could not make the disk"
# The script's results come back as a tar archive written onto a bare disk: bytes as they are, whatever the names.
truncate -s 4G "$work/results"

# QEMU 7.2 gives wrong flags after cmpxchg16b, and a kernel that uses it (6.12's allocator) dies of a double fault now and then.
# An x86 kernel counts, early, whether timer interrupts come within ten ticks of the processor's own clock, and panics where they do not
# ("IO-APIC + timer doesn't work!"): on a busy host an emulated timer is late. Under KVM a kernel leaves that test out by itself; here it is told to.
# QEMU before 8.1 runs now and then, with a thread for each processor, an instruction that another processor has patched since: the kernel
# finds a breakpoint that nobody set any more and dies ("Oops: int3" at a static branch). One thread runs both processors in turns.
timer=""
case $(uname -m) in
    x86_64) board=pc cpu=max,-cx16 serial=ttyS timer=no_timer_check ;;
    *) board=virt cpu=max serial=ttyAMA ;;
esac
: >"$work/output"
# A kernel that dies while it boots says something of the emulator and nothing of the script: it is started again, twice at most, and that is said.
for try in 1 2 3; do
    timeout --kill-after=5 "$limit" "$qemu" -machine "$board" -accel tcg,thread=single -cpu "$cpu" -smp 2 -m "$memory" -display none -no-reboot -nodefaults \
        -serial "file:$work/console" -serial "file:$work/output" \
        -drive "file=$work/disk,format=raw,if=virtio,cache=unsafe" -drive "file=$work/results,format=raw,if=virtio,cache=unsafe" \
        -kernel "$kernel/vmlinuz" -initrd "$work/initramfs" \
        -append "console=${serial}0 quiet panic=-1 oops=panic mitigations=off random.trust_cpu=on nokaslr $timer $kernel_args" \
        </dev/null >"$work/qemu.log" 2>&1 &
    machine=$!
    code=0
    wait "$machine" || code=$?
    machine=""
    if [ $try = 3 ] || [ "$code" != 0 ] || grep -aq '^init.sh: the script begins' "$work/console"; then
        break
    fi
    echo "run.sh: the machine ($suite) ended while it booted; it is started again. Its kernel's last lines:" >&2
    tail -n 5 "$work/console" >&2
done

marker="@exit $nonce "
ended=$(grep -aF "$marker" "$work/output" | tail -n 1 | sed "s/.*$marker//" || true)
# The marker is on a line of its own after a line end that is not the script's.
if [ -n "$ended" ]; then
    sed -e "/$marker/d" "$work/output" | head -c -1
else
    cat "$work/output"
fi
if [ -n "$results" ]; then
    mkdir -p "$results"
    # Where the script did not come to its end, there is no archive.
    if [ "$(head -c 512 "$work/results" | tr -d '\0' | wc -c)" != 0 ]; then
        tar -C "$results" -xf "$work/results" || fail "the results could not be unpacked"
    fi
fi
if [ -n "$ended" ]; then
    exit "$ended"
fi
{
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then
        echo "run.sh: the machine ($suite) did not end within $limit seconds"
        code=124
    else
        echo "run.sh: the machine ($suite) ended before the script did"
        code=125
    fi
    # A panic's reason stands before its stacks, of which there can be more than the last lines hold.
    grep -a -m 1 -B 1 -A 2 'Kernel panic' "$work/console" 2>/dev/null || true
    tail -n 40 "$work/console" 2>/dev/null || true
    cat "$work/qemu.log"
} >&2
exit "$code"
