#!/usr/bin/env bash
# Fetches the oldest C library that can be had, and a shell of its time, from the Debian mirror that this machine's apt is
# configured with. In: DIR. Out: DIR/SUITE/*.deb (libc6, dash), checked by apt against Debian's keys; the suite's name on
# standard output. What is there is not fetched again. Exit code 1 when no suite can be had.
set -euo pipefail
dir=$1
for suite in "$dir"/*/ready; do
    [ ! -e "$suite" ] || { basename "$(dirname "$suite")"; exit 0; }
done
export LC_ALL=C
mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null |
    grep -v -e security -e updates -e backports | head -n 1 | cut -d ' ' -f 1)
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian" >&2; exit 1; }
keys=$(printf '%s,' /usr/share/keyrings/debian-archive-keyring.gpg $(ls /usr/share/keyrings/debian-archive-removed-keys.gpg 2>/dev/null))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs"
: > "$work/status"
# A configuration of its own: the machine's lists and packages are not touched.
cat > "$work/apt.conf" <<EOF
Dir::State::Lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "-";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Check-Valid-Until "false";
EOF
export APT_CONFIG=$work/apt.conf
# glibc 2.13, 2.19, 2.24, 2.28, 2.31, 2.36.
for suite in wheezy jessie stretch buster bullseye bookworm; do
    echo "deb [signed-by=${keys%,}] $mirror $suite main" > "$work/sources.list"
    apt-get update --quiet --error-on=any > "$work/log" 2>&1 || continue
    (cd "$work/debs" && apt-get download --quiet libc6 dash > "$work/log" 2>&1) || continue
    mkdir -p "$dir/$suite"
    mv "$work"/debs/*.deb "$dir/$suite"
    touch "$dir/$suite/ready"
    echo "$suite"
    exit 0
done
echo "the mirror has no suite of Debian with a C library for this" >&2
exit 1
