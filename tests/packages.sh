#!/bin/sh
# Installs the Debian packages named in PACKAGES that are missing: as root or with sudo when it asks for no password.
# Otherwise prints the command and fails. On a system without dpkg it says what is needed and goes on.
set -eu
command -v dpkg-query >/dev/null 2>&1 || { echo "not a Debian system: these packages' counterparts are needed: $PACKAGES" >&2; exit 0; }
missing=""
for package in $PACKAGES; do
    status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    case "$status" in ii*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$missing" ] || exit 0
install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    echo "these Debian packages are missing; install them and try again:" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 1
fi
# Services must not start by themselves: the tests start what they need. A machine with a policy of its own keeps it.
policy=/usr/sbin/policy-rc.d
made_policy=0
if [ -z "$as_root" ] && [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made_policy=1
fi
code=0
$as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive $install || code=$?
[ "$made_policy" = 0 ] || rm -f "$policy"
exit "$code"
