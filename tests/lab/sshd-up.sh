#!/usr/bin/env bash
# Starts a real sshd on a free loopback port for the lab in DIR: keys only, user fm-watch, whose logins find the
# lab's Slurm. Works beside a lab of slurm-up.sh, or alone in an empty directory.
# A second sshd is a jump host: it forwards to the first one and does nothing else; the first one forwards nothing.
# In: DIR, then --apart for a network namespace from which the jump host can be reached and the login node cannot.
# Out: DIR/apart, the namespace's name; DIR/home/fm-watch/.ssh, with which that user gets to `lab-behind`; DIR/ssh/ with
#   config               ssh configuration with `Host lab-login` (and lab-login-rsa, -ecdsa, -encrypted), lab-jump,
#                        lab-behind (lab-login through lab-jump), lab-closed (lab-login through itself, which refuses)
#   id_jump              the client key for the jump host, which the login node does not accept
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
apart=0
case ${2-} in '') ;; --apart) apart=1; lab_need ip iproute2;; *) lab_die "unknown option $2";; esac
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
first=$(sed -n 2p "$LAB_REGISTRY/labs/$(lab_registry_name)")
port=$((first + 3)) jump_port=$((first + 15)) jump_host=127.0.0.1
printf '%s\n' "$port" > "$S/port"
if [ "$apart" = 1 ]; then
  # Addresses for measurements (RFC 2544), four for each lab: ports of labs are 16 apart at least, from 20000 on.
  n=$(((first - 20000) / 16 * 4)) space=fm$first
  jump_host=198.18.$((n / 256)).$((n % 256 + 1))
  printf '%s\n' "$space" > "$LAB/apart"
  ip netns add "$space"
  ip link add "$space" type veth peer name apart netns "$space"
  ip addr add "$jump_host/30" dev "$space"; ip link set "$space" up
  ip -n "$space" addr add "198.18.$((n / 256)).$((n % 256 + 2))/30" dev apart
  ip -n "$space" link set lo up; ip -n "$space" link set apart up
fi
key() { ssh-keygen -q -N "${3-}" -C "flowmine-lab" -f "$S/$1" -t "$2"; }
key host_ed25519 ed25519; key host_rsa rsa; key host_other ed25519; key host_jump ed25519
key id_ed25519 ed25519; key id_rsa rsa; key id_ecdsa ecdsa
printf 'correct horse, battery staple\n' > "$S/passphrase"
key id_encrypted ed25519 "$(cat "$S/passphrase")"
cat "$S"/id_*.pub > "$S/authorized_keys"
key id_jump ed25519
cp "$S/id_jump.pub" "$S/authorized_keys.jump"
chmod 644 "$S"/authorized_keys*

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
AllowTcpForwarding no
CONF
sed -e "s|^Port .*|Port $jump_port|; s|^ListenAddress .*|ListenAddress $jump_host|; s|^PidFile .*|PidFile $S/sshd-jump.pid|" \
  -e "s|^HostKey .*host_ed25519|HostKey $S/host_jump|; /host_rsa/d; s|^AuthorizedKeysFile .*|AuthorizedKeysFile $S/authorized_keys.jump|" \
  -e '/^SetEnv/d; /^AllowTcpForwarding/d' "$S/sshd_config" > "$S/sshd_config.jump"
printf '%s\n' 'AllowTcpForwarding local' "PermitOpen 127.0.0.1:$port" 'ForceCommand /bin/false' 'PermitTTY no' >> "$S/sshd_config.jump"
host="[127.0.0.1]:$port"
{ printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_ed25519.pub")"; printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_rsa.pub")"; } > "$S/known_hosts"
sed -n 2p "$S/known_hosts" > "$S/known_hosts.rsa"
printf '%s %s\n' "$host" "$(cut -d' ' -f1,2 "$S/host_other.pub")" > "$S/known_hosts.wrong"
{ printf '@revoked '; cat "$S/known_hosts"; } > "$S/known_hosts.revoked"
cp "$S/known_hosts" "$S/known_hosts.hashed"; ssh-keygen -q -H -f "$S/known_hosts.hashed" 2>/dev/null >&2; rm -f "$S/known_hosts.hashed.old"
printf '[%s]:%s %s\n' "$jump_host" "$jump_port" "$(cut -d' ' -f1,2 "$S/host_jump.pub")" >> "$S/known_hosts"
chmod 644 "$S"/known_hosts*
block() {
  printf 'Host %s\n  HostName 127.0.0.1\n  Port %s\n  User fm-watch\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n\n' \
    "$1" "$port" "$S/$2" "$S/known_hosts"
}
{
  printf 'Host lab-behind\n  ProxyJump lab-jump\nHost lab-closed\n  ProxyJump lab-login\n\n'
  printf 'Host lab-jump\n  HostName %s\n  Port %s\n\n' "$jump_host" "$jump_port"
  block lab-jump id_jump
  block 'lab-login lab-behind lab-closed' id_ed25519
  block lab-login-rsa id_rsa; block lab-login-ecdsa id_ecdsa; block lab-login-encrypted id_encrypted
} > "$S/config"
# As a user keeps it: nothing of it is anybody else's.
W=$LAB/home/fm-watch/.ssh
install -d -m 700 -o fm-watch -g fm-watch "$W"
sed "s|$S/|$W/|g" "$S/config" > "$W/config.new"
for f in id_ed25519 id_jump known_hosts; do install -m 600 -o fm-watch -g fm-watch "$S/$f" "$W/$f"; done
install -m 600 -o fm-watch -g fm-watch "$W/config.new" "$W/config"; rm "$W/config.new"

lab_start sshd-jump "$(command -v sshd)" -D -f "$S/sshd_config.jump" -E "$LAB/log/sshd-jump.log"
lab_start sshd "$(command -v sshd)" -D -f "$S/sshd_config" -E "$LAB/log/sshd.log"
# BatchMode: no prompt may ever hang a test.
lab_wait "login over ssh" 15 sshd "$LAB/log/sshd.log" ssh -F "$S/config" -o BatchMode=yes -o ConnectTimeout=3 lab-login true
lab_wait "login over ssh through the jump host" 15 sshd-jump "$LAB/log/sshd-jump.log" ssh -F "$S/config" -o BatchMode=yes -o ConnectTimeout=3 lab-behind true
trap - EXIT
lab_note "sshd on 127.0.0.1:$port; ssh -F $S/config lab-login squeue"
