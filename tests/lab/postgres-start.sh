#!/usr/bin/env bash
# Makes an empty PostgreSQL cluster below DIR and becomes its server, as the user postgres when started as root (it refuses root).
# In: DIR, PORT. It listens on loopback alone and on a socket in DIR/postgres; its user is `airflow`, with the password in DIR/etc/postgres-password.
set -euo pipefail
dir=$1 port=$2
bin=$(dirname "$(realpath "$(command -v initdb || find /usr/lib/postgresql -name initdb | sort -V | tail -n 1)")")
as=()
if [ "$(id -u)" = 0 ]; then
  as=(setpriv --reuid=postgres --regid=postgres --init-groups)
  install -d -m 700 -o postgres -g postgres "$dir/postgres"
  chown postgres "$dir/etc/postgres-password"
else
  install -d -m 700 "$dir/postgres"
fi
"${as[@]}" "$bin/initdb" -D "$dir/postgres/data" -U airflow -A scram-sha-256 --pwfile="$dir/etc/postgres-password" -E UTF8 --locale=C.UTF-8 --no-sync
# The data lives as long as a test: nothing is synced.
exec "${as[@]}" "$bin/postgres" -D "$dir/postgres/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$dir/postgres" \
  -c fsync=off -c full_page_writes=off -c max_connections=50
