#!/usr/bin/env bash
# Starts a real sshd on a free loopback port for the lab in DIR: keys only, user fm-watch, whose logins find the
# lab's Slurm. Works beside a lab of slurm-up.sh, or alone in an empty directory.
# In: DIR. Out: DIR/ssh/ with
#   config               ssh configuration with `Host lab-login` (and lab-login-rsa, -ecdsa, -encrypted)
#   id_ed25519 id_rsa id_ecdsa   client keys;  id_encrypted and its passphrase in `passphrase`
#   known_hosts          both host keys;  known_hosts.rsa only the RSA key;  known_hosts.hashed
#   known_hosts.wrong    another host's key;  known_hosts.revoked  the ed25519 key marked @revoked
#   port                 the port number
# Refuses: not root, an sshd that is running already.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/lib.sh"
lab_need_root
export PATH=$PATH:/usr/sbin:/sbin
lab_need sshd openssh-server; lab_need ssh-keygen openssh-client
lab_dir "${1-}"
if [ -d "$DAEMONS" ] && lab_alive sshd; then lab_die "an sshd is running for $LAB already: end it with sshd-down.sh"; fi
if [ ! -e "$LAB/.flowmine-lab" ] || ! lab_any_alive; then lab_create; lab_register; fi
clean_up() {
  local rc=$?
  [ "$rc" = 0 ] || "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/sshd-down.sh" "$LAB" || true
  exit "$rc"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

S=$LAB/ssh
rm -rf "$S"; install -d -m 755 "$S" /run/sshd
port=$(($(sed -n 2p "$LAB_REGISTRY/labs/$(lab_registry_name)") + 3))
printf '%s\n' "$port" > "$S/port"
key() { ssh-keygen -q -N "${3-}" -C "flowmine-lab" -f "$S/$1" -t "$2"; }
key host_ed25519 ed25519; key host_rsa rsa; key host_other ed25519
key id_ed25519 ed25519; key id_rsa rsa; key id_ecdsa ecdsa
printf 'correct horse, battery staple\n' > "$S/passphrase"
key id_encrypted ed25519 "$(cat "$S/passphrase")"
cat "$S"/id_*.pub > "$S/authorized_keys"
chmod 644 "$S/authorized_keys"

# StrictModes off: the lab may lie below /tmp, which is writable for all. UsePAM off: a lab has no PAM session.
cat > "$S/sshd_config" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $S/host_ed25519
HostKey $S/host_rsa
PidFile $S/sshd.pid
AuthorizedKeysFile $S/authorized_keys
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UsePAM no
StrictModes no
AllowUsers fm-watch
PermitUserEnvironment no
SetEnv SLURM_CONF=$LAB/etc/slurm.conf
PrintMotd no
PrintLastLog no
MaxSessions 10
MaxStartups 100
LogLevel VERBOSE
CONF
host="[127.0.0.1]:$port"
{ printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_ed25519.pub")"; printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_rsa.pub")"; } > "$S/known_hosts"
sed -n 2p "$S/known_hosts" > "$S/known_hosts.rsa"
printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_other.pub")" > "$S/known_hosts.wrong"
{ printf '@revoked '; cat "$S/known_hosts"; } > "$S/known_hosts.revoked"
cp "$S/known_hosts" "$S/known_hosts.hashed"; ssh-keygen -q -H -f "$S/known_hosts.hashed" 2>/dev/null >&2; rm -f "$S/known_hosts.hashed.old"
chmod 644 "$S"/known_hosts*
block() {
  printf 'Host %s\n  HostName 127.0.0.1\n  Port %s\n  User fm-watch\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n\n' \
    "$1" "$port" "$S/$2" "$S/known_hosts"
}
{ block lab-login id_ed25519; block lab-login-rsa id_rsa; block lab-login-ecdsa id_ecdsa; block lab-login-encrypted id_encrypted; } > "$S/config"

lab_start sshd "$(command -v sshd)" -D -f "$S/sshd_config" -E "$LAB/log/sshd.log"
# BatchMode: no prompt may ever hang a test.
lab_wait "login over ssh" 15 sshd "$LAB/log/sshd.log" ssh -F "$S/config" -o BatchMode=yes -o ConnectTimeout=3 lab-login true
trap - EXIT
lab_note "sshd on 127.0.0.1:$port; ssh -F $S/config lab-login squeue"
