#!/usr/bin/env bash
# Makes an empty database below LAB/mysql and becomes its server. One process from beginning to end, so that
# slurm-down.sh can end it at any moment. Started by slurm-up.sh only.
set -euo pipefail
lab=${1?usage: mariadb-start.sh LAB PORT} port=${2?usage: mariadb-start.sh LAB PORT}
mariadb-install-db --no-defaults --user=mysql --datadir="$lab/mysql" --auth-root-authentication-method=socket \
  --auth-root-socket-user=root --skip-test-db --skip-name-resolve
# Durability is worth nothing in a lab: no sync, no double write.
exec setpriv --reuid=mysql --regid=mysql --clear-groups mariadbd --no-defaults --datadir="$lab/mysql" \
  --socket="$lab/mysql/socket" --bind-address=127.0.0.1 --port="$port" --pid-file="$lab/mysql/mariadbd.pid" \
  --innodb-buffer-pool-size=64M --innodb-log-file-size=16M --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 \
  --innodb-lock-wait-timeout=900 --skip-name-resolve
