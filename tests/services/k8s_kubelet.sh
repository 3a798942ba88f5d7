#!/usr/bin/env bash
# A real node, `localhost`: containerd and a kubelet, in namespaces of their own, so that all they mount, write below /var and
# /run, and start goes with them. What a kubelet sets in /proc/sys is there already, as far as it can see.
#   k8s_kubelet.sh FOLDER KUBELET KUBECONFIG PORT
# FOLDER has image.tar with the images of the pods and of their sandboxes (tests/services/k8s_image.py).
set -euo pipefail
dir=$1 kubelet=$2 config=$3 port=$4
top=/sys/fs/cgroup

if [ "${5-}" != inside ]; then
  group=herorun-kubelet-$$
  echo "$group" >"$dir/cgroup"
  for own in "$top"/*/cgroup.clone_children; do
    own=$(dirname "$own")
    mkdir "$own/$group"
    for part in cpuset.cpus cpuset.mems; do # empty in a new one, which then takes no process
      [ ! -e "$own/$part" ] || cat "$own/$part" >"$own/$group/$part"
    done
    echo $$ >"$own/$group/cgroup.procs"
  done
  exec unshare --mount --pid --fork --kill-child --cgroup --mount-proc --propagation private "$0" "$@" inside
fi

mount --make-rshared /
for own in "$top"/*/cgroup.clone_children; do # as seen from the group above
  own=$(dirname "$own")
  name=${own##*/}
  umount "$own"
  mount -t cgroup -o "$([ "$name" = systemd ] && echo none,name=systemd || echo "$name")" cgroup "$own"
done
# where the machine has it too, runc would make groups of version 2 that stay
! mountpoint -q "$top/unified" || umount "$top/unified"
for folder in /var/lib /var/log /run; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p "$dir"/{sysctl,cni/bin,cni/conf,kubelet}
while read -r path value; do
  [ -e "/proc/sys/$path" ] || continue
  echo "$value" >"$dir/sysctl/${path//\//.}"
  mount --bind "$dir/sysctl/${path//\//.}" "/proc/sys/$path"
done <<SYSCTLS
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SYSCTLS

# A pod's network is an empty namespace: a plugin that sets nothing up.
cat >"$dir/cni/bin/empty" <<'CNI'
#!/bin/sh
[ "$CNI_COMMAND" = DEL ] || echo '{"cniVersion": "0.3.1", "interfaces": [{"name": "eth0", "sandbox": "'"$CNI_NETNS"'"}],
  "ips": [{"version": "4", "address": "10.88.0.2/24", "interface": 0}]}'
CNI
chmod +x "$dir/cni/bin/empty"
ln -sf empty "$dir/cni/bin/loopback"
echo '{"cniVersion": "0.3.1", "name": "empty", "plugins": [{"type": "empty"}]}' >"$dir/cni/conf/10.conflist"

# restrict_oom_score_adj: without CAP_SYS_RESOURCE runc may not lower it, and no container starts.
cat >"$dir/containerd.toml" <<TOML
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.test/pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$dir/cni/bin"
    conf_dir = "$dir/cni/conf"
TOML
containerd -c "$dir/containerd.toml" >"$dir/containerd.log" 2>&1 &
socket=/run/containerd/c.sock
for _ in $(seq 600); do ctr -a $socket version >/dev/null 2>&1 && break; sleep 0.1; done
ctr -a $socket -n k8s.io images import --snapshotter native "$dir/image.tar" >"$dir/import.log" 2>&1
"$kubelet" --kubeconfig="$config" --container-runtime=remote --container-runtime-endpoint=unix://$socket \
  --cgroup-driver=cgroupfs --cgroups-per-qos=false --enforce-node-allocatable= --fail-swap-on=false \
  --hostname-override=localhost --root-dir=/var/lib/kubelet --cert-dir="$dir/kubelet" --make-iptables-util-chains=false \
  --anonymous-auth=true --authorization-mode=AlwaysAllow --address=127.0.0.1 --port="$port" --read-only-port=0 \
  --healthz-port=0 --resolv-conf= --eviction-hard= --node-status-update-frequency=2s --volume-plugin-dir=/var/lib/plugins \
  --sync-frequency=2s >"$dir/kubelet.log" 2>&1 &
wait
