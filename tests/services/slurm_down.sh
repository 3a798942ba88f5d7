#!/usr/bin/env bash
# Stop exactly what slurm_up.sh started in FOLDER, and what its jobs left running: each process is known by its
# pid file or its environment, never by its name. Removes the folder; may be called again.
#   slurm_down.sh FOLDER
set -u
unset HERORUN_SLURM
dir=$1
[ -d "$dir" ] || exit 0
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$dir/slurm.conf

ours() { [ -n "$1" ] && grep -qsz "^HERORUN_SLURM=$dir\$" "/proc/$1/environ"; }
gone() { [ ! -d "/proc/$1" ] || grep -qs '^State:.[ZX]' "/proc/$1/status" || ! ours "$1"; } # a zombie is gone
stop() {
  local pid=$1
  ours "$pid" || return 0
  kill "$pid" 2>/dev/null
  for _ in $(seq 100); do gone "$pid" && return 0; sleep 0.05; done
  kill -9 "$pid" 2>/dev/null
}
below() { for child in $(ps -o pid= --ppid "$1" 2>/dev/null); do echo "$child"; below "$child"; done; }

controller=$(cat "$dir/run/slurmctld.pid" 2>/dev/null)
if ours "$controller" && ! gone "$controller"; then # Slurm ends its jobs itself where it can
  timeout 10 scancel -s KILL -f --state=RUNNING,SUSPENDED >/dev/null 2>&1
  timeout 10 scancel --state=PENDING >/dev/null 2>&1
  for _ in $(seq 15); do [ -n "$(timeout 5 squeue -h -t R,CG,S -o %i 2>/dev/null)" ] || break; sleep 0.1; done
fi
for file in "$dir"/run/slurmd-*.pid "$dir/run/slurmctld.pid"; do # all at once; then one after another
  [ -e "$file" ] && ours "$(cat "$file")" && kill "$(cat "$file")" 2>/dev/null
done
for file in "$dir"/run/slurmd-*.pid; do [ -e "$file" ] && stop "$(cat "$file")"; done
for proc in /proc/[0-9]*; do # step daemons that outlived their slurmd rewrite their environment, and keep our log open
  case "$(tr '\0' ' ' 2>/dev/null <"$proc/cmdline")" in slurmstepd*) ;; *) continue ;; esac
  readlink "$proc"/fd/* 2>/dev/null | grep -q "^$dir/" && kill -9 $(below "${proc#/proc/}") "${proc#/proc/}" 2>/dev/null
done
for proc in /proc/[0-9]*; do # and what a job left behind
  grep -qsz "^SLURM_CONF=$dir/slurm.conf\$" "$proc/environ" && grep -qsz '^SLURM_JOB_ID=' "$proc/environ" &&
    kill -9 "${proc#/proc/}" 2>/dev/null
done
database=$(cat "$dir/run/mariadbd.pid" 2>/dev/null)
ours "$database" && kill -9 "$database" 2>/dev/null # nobody will read it again
for name in slurmctld slurmdbd mariadbd munged; do stop "$(cat "$dir/run/$name.pid" 2>/dev/null)"; done
if [ -e "$dir/confined" ]; then
  for node in $(ls "$dir/spool" 2>/dev/null); do
    for state in $(find /sys/fs/cgroup/freezer/"slurm_$node" -name freezer.state 2>/dev/null); do
      echo THAWED >"$state" # a suspended job cannot die
    done
    for _ in $(seq 20); do
      find /sys/fs/cgroup/*/"slurm_$node" -depth -type d -exec rmdir {} + 2>/dev/null
      ls -d /sys/fs/cgroup/*/"slurm_$node" >/dev/null 2>&1 || break
      sleep 0.05
    done
  done
fi
data=$(cat "$dir/database" 2>/dev/null)
case "$data" in /dev/shm/herorun-slurm-*) rm -rf "$data" ;; esac
rm -rf "$dir"
