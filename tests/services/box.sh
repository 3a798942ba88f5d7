#!/bin/sh
# What a box does when it is switched on, inside a network, a process tree and mounts of its own: see boxes.py.
# Arguments: the box's folder, its name, the address of its ssh server, the folder of its memory cgroup (or nothing).
set -e
box=$1 name=$2 address=$3 memory=$4
hostname "$name"
mount -t tmpfs -o mode=755 box "$box/run"
mount -t tmpfs -o mode=1777 box "$box/tmp"
mkdir -p "$box/run/sshd" "$box/run/ssh"
cp -p "$box"/etc/* "$box/run/ssh/"
cat /proc/sys/kernel/random/uuid > "$box/run/ssh/boot_id"
if [ -n "$memory" ]; then mount --bind "$memory" /sys/fs/cgroup/memory; fi
mount --bind "$box/run/ssh/boot_id" /proc/sys/kernel/random/boot_id
mount --bind "$box/disk" /root
mount --bind "$box/run" /run
mount --bind "$box/tmp" /tmp
cd /root
exec /usr/sbin/sshd -D -e -f /run/ssh/sshd_config -o "ListenAddress=$address"
