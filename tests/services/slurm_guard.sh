#!/usr/bin/env bash
# Stand by for one process of the tests: when it ends, however it ends, our standard input closes. The last one to
# leave stops the cluster.
#   slurm_guard.sh FOLDER USER [DOWN]     DOWN is the script beside it that stops it: slurm_down.sh
cat >/dev/null
exec 9>>"$1.lock"
flock 9
rm -f "$1.users/$2"
if rmdir "$1.users" 2>/dev/null; then
  "$(dirname "${BASH_SOURCE[0]}")/${3:-slurm_down.sh}" "$1"
  rm -rf "$(dirname "$1")"
fi
