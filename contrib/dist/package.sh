#!/usr/bin/env bash
# Packs a binary: flowmine-VERSION-linux-ARCH.tar.gz, flowmine_VERSION-1_ARCH.deb and SHA256SUMS.
# In: BINARY DIR [LICENCES]; LICENCES is the file that licences.py writes. Out: the three files in DIR, which is made
# and emptied of such files before. The same binary and commit give the same bytes: times are the last commit's
# (SOURCE_DATE_EPOCH), names are sorted, owners are root. Needs strip (binutils) and dpkg-deb; without dpkg-deb there is no .deb, which is said.
set -euo pipefail
binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
licences=${3:+$(realpath "$3")}
cd "$(dirname "$0")/../.."
umask 022
export LC_ALL=C TZ=UTC
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
version=$("$binary" --version | cut -d ' ' -f 2)
arch=$(uname -m)
rm -f "$out"/flowmine-*.tar.gz "$out"/flowmine_*.deb "$out"/SHA256SUMS
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# Names of functions are a fifth of the binary, and only needed to debug it.
strip --strip-all -o "$stage/flowmine" "$binary"
binary=$stage/flowmine

# What is below bin/ and share/ in both; where a shell looks for completions differs.
files() { # PREFIX, folder of zsh's completions
    local share=$1/share doc=$1/share/doc/flowmine
    install -D -m 755 "$binary" "$1/bin/flowmine"
    "$binary" man --dir "$share/man/man1"
    mkdir -p "$share/bash-completion/completions" "$share/$2" "$share/fish/vendor_completions.d" "$doc/docs/pictures" "$doc/docs/decisions" "$doc/examples"
    "$binary" completions bash > "$share/bash-completion/completions/flowmine"
    "$binary" completions zsh > "$share/$2/_flowmine"
    "$binary" completions fish > "$share/fish/vendor_completions.d/flowmine.fish"
    install -m 644 README.md CHANGELOG.md SECURITY.md CITATION.cff "$doc"
    install -m 644 docs/*.md "$doc/docs"
    install -m 644 docs/decisions/*.md "$doc/docs/decisions"
    install -m 644 docs/pictures/* "$doc/docs/pictures"
    install -m 644 contrib/systemd/* "$doc/examples"
    [ -z "$licences" ] || install -m 644 "$licences" "$doc/LICENSES-OF-DEPENDENCIES"
}

# The tarball is a prefix: it is unpacked into ~/.local, where man, bash and fish look by themselves.
name=flowmine-$version-linux-$arch
files "$stage/$name" zsh/site-functions
install -m 644 LICENSE-APACHE LICENSE-MIT "$stage/$name/share/doc/flowmine"
sed -i 's|/usr/local/bin/flowmine|%h/.local/bin/flowmine|' "$stage/$name/share/doc/flowmine/examples/flowmine-observe.service"
tar --create --directory "$stage" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$name" |
    gzip -9n > "$out/$name.tar.gz"

if command -v dpkg-deb >/dev/null; then
    root=$stage/deb
    doc=$root/usr/share/doc/flowmine
    debian=$(dpkg --print-architecture)
    date=$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
    maintainer="flowmine <flowmine@example.org>"
    files "$root/usr" zsh/vendor-completions
    sed -i 's|/usr/local/bin/flowmine|/usr/bin/flowmine|' "$doc"/examples/*.service
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: flowmine\n\n'
        printf 'Files: *\nCopyright: the authors of flowmine\nLicense: MIT or Apache-2.0\n'
        printf 'Comment: What is linked into the program has its own licences: see LICENSES-OF-DEPENDENCIES.gz.\n\n'
        printf 'License: MIT\n'
        sed 's/^$/./; s/^/ /' LICENSE-MIT
        printf '\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
    } > "$doc/copyright"
    mv "$doc/CHANGELOG.md" "$doc/changelog"
    printf 'flowmine (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$version" "$maintainer" "$date" \
        > "$doc/changelog.Debian"
    gzip -9n "$root"/usr/share/man/man1/*.1 "$doc"/changelog "$doc"/changelog.Debian
    [ -z "$licences" ] || gzip -9n "$doc/LICENSES-OF-DEPENDENCIES"
    mkdir "$root/DEBIAN"
    (cd "$root" && find usr -type f | sort | xargs -d '\n' md5sum) > "$root/DEBIAN/md5sums"
    # The C library is all that the binary needs: tests/dist/check.sh holds this line against the binary.
    cat > "$root/DEBIAN/control" <<EOF
Package: flowmine
Version: $version-1
Architecture: $debian
Maintainer: $maintainer
Installed-Size: $(du --apparent-size --block-size=1024 --summarize "$root/usr" | cut -f 1)
Depends: libc6 (>= 2.17)
Section: science
Priority: optional
Description: process mining for HPC clusters and scientific workflows
 flowmine watches a Slurm queue from outside, finds out which jobs form a
 workflow, writes event logs that process-mining tools open (XES, OCEL 2.0,
 CSV, Parquet), and draws what happened. It traces who reads and writes
 which bytes.
EOF
    find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/flowmine_$version-1_$debian.deb" > /dev/null
else
    echo "no dpkg-deb here: no .deb is made" >&2
fi
(cd "$out" && sha256sum -- flowmine* > SHA256SUMS)
ls -l "$out"
