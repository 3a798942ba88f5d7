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
for file in "$dir"/kubelet-*/cgroup; do # the kernel lets go of them a moment after their last process
  [ -e "$file" ] || continue
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    find /sys/fs/cgroup/*/"$(cat "$file")" -depth -type d -exec rmdir {} + 2>/dev/null
    ls -d /sys/fs/cgroup/*/"$(cat "$file")" >/dev/null 2>&1 || break
    sleep 0.2
  done
done
rm -rf "$dir"
