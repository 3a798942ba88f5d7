#!/usr/bin/env bash
# Stop exactly what a cluster of tests/services/k8s.py started in FOLDER: each process is known by its pid file and by its
# environment, never by its name. Removes the folder; may be called again.
#   k8s_down.sh FOLDER
set -u
dir=$1
[ -d "$dir" ] || exit 0
ours() { grep -qsz "^HERORUN_CLUSTER=$dir\$" "/proc/$1/environ"; }
for file in "$dir"/run/*.pid; do
  [ -e "$file" ] && ours "$(cat "$file")" && kill -9 "$(cat "$file")" 2>/dev/null # nobody reads its data again
done
rm -rf "$dir"
