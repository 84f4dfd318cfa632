#!/bin/bash
# Fetches the kernel of a Debian release through apt and unpacks it; nothing of the system's own apt is changed, root is not needed.
#
#   kernel.sh SUITE      bullseye (5.10), bookworm (6.1), trixie (6.12), …
#
# Prints the directory with `vmlinuz`, `release` (what `uname -r` says there) and `modules/`. What was fetched before is not
# fetched again: it stays in $FLOWMINE_KERNELS, or else in flowmine/kernels below $XDG_CACHE_HOME (~/.cache).
# The mirror is the one that this system installs from. Ends with 1 and a sentence when the kernel cannot be had.
set -euo pipefail

suite=${1:?usage: kernel.sh SUITE}
package=linux-image-cloud-amd64
[ "$(uname -m)" = x86_64 ] || package=linux-image-cloud-arm64
cache=${FLOWMINE_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/flowmine/kernels}
done_dir=$cache/$suite

fail() {
    echo "kernel.sh: $*" >&2
    exit 1
}
case $suite in *[!a-z]* | '') fail "$suite is not the name of a Debian release" ;; esac
for program in apt-get dpkg flock; do command -v $program >/dev/null || fail "$program is missing"; done

mkdir -p "$cache"
exec 9>"$cache/$suite.lock"
flock -w 900 9 || fail "another process has been fetching $suite for fifteen minutes"
if [ -e "$done_dir/release" ]; then
    echo "$done_dir"
    exit 0
fi

work=$(mktemp -d "$cache/$suite.XXXXXX")
# apt's own user for downloads may not enter the home directory of the caller.
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{etc,lists/partial,archives/partial,none}
touch "$work/status"

# The mirror of Debian itself, not those of security updates or of others.
mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SUITE) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ && !found++ { print $4 }')
[ -n "$mirror" ] || fail "this system's apt knows no Debian mirror"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keyring" ] || fail "$keyring is missing (package debian-archive-keyring)"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/etc/sources.list"

private=(
    -qq
    -o Dir::Etc::sourcelist="$work/etc/sources.list" -o Dir::Etc::sourceparts="$work/none" -o Dir::Etc::preferencesparts="$work/none"
    -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status"
    -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o APT::Install-Recommends=false
    -o APT::Default-Release= -o Acquire::Retries=3
)
apt-get "${private[@]}" update >&2 || fail "apt-get update for $suite failed"
# The package of the name is empty and depends on that of the version.
image=$(apt-cache "${private[@]}" depends "$package" | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ && !found++ { print $2 }')
[ -n "$image" ] || fail "$suite has no $package"
(cd "$work/archives" && apt-get "${private[@]}" download "$image" >&2) || fail "$image could not be downloaded"

dpkg -x "$work/archives/$image"_*.deb "$work/root"
release=${image#linux-image-}
out=$work/out
mkdir -p "$out"
mv "$work/root/boot/vmlinuz-$release" "$out/vmlinuz"
modules=$work/root/lib/modules/$release
[ -d "$modules" ] || modules=$work/root/usr/lib/modules/$release
[ -d "$modules" ] || fail "$image has no modules"
mv "$modules" "$out/modules"
echo "$image" >"$out/package"
echo "$release" >"$out/release"
rm -rf "$done_dir"
mv "$out" "$done_dir"
echo "$done_dir"
