#!/usr/bin/env bash
# A private Slurm on loopback: munged, mariadbd, slurmdbd, slurmctld and four slurmd, all below one folder.
# No systemd and no root are needed; as root with writable cgroups (v1) memory limits are real.
#   slurm_up.sh FOLDER PORT     FOLDER is new and short (sockets), PORT the first of 16 free ones
# Prints nothing. 2: it cannot even try, 1: it did not come up; standard error says why.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$1 port=$2
name=n$port- nodes=4 cpus=16 memory=8000 gpus=8 limit=60
export PATH=$PATH:/usr/sbin:/sbin HERORUN_SLURM=$dir SLURM_CONF=$dir/slurm.conf
until=$((SECONDS + limit))

fail() { # words [log]
  echo "slurm_up: $1" >&2
  [ -s "${2:-}" ] && tail -n 8 "$2" >&2
  "$here/slurm_down.sh" "$dir" >/dev/null 2>&1
  exit 1
}
await() { # what log command...
  local what=$1 log=$2
  shift 2
  until timeout 10 "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $until ] || fail "$what was not ready within $limit s" "$log"
    sleep 0.05
  done
}

[ ${#dir} -le 80 ] || { echo "slurm_up: $dir is too long for a socket" >&2; exit 2; }
mkdir -p "$dir"/{run,log,state,spool,dev} && install -d -m 0700 "$dir/munge" || exit 2
chmod 755 "$dir" "$dir/run"
me=$(id -un) host=$(hostname -s) socket=$dir/run/munge.sock

# --- munge ---------------------------------------------------------------------------------------------
(umask 077 && head -c 128 /dev/urandom >"$dir/munge/key")
munged --socket="$socket" --key-file="$dir/munge/key" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" \
  --pid-file="$dir/run/munged.pid" --num-threads=4 2>"$dir/munge/err" || fail "munged refused" "$dir/munge/err"
await munged "$dir/munge/log" munge -n -S "$socket"

# --- what the machine allows ---------------------------------------------------------------------------
probe=herorun_probe_$$ confined=
if [ "$(id -u)" = 0 ] && mkdir /sys/fs/cgroup/memory/$probe 2>/dev/null; then
  rmdir /sys/fs/cgroup/memory/$probe
  mkdir /sys/fs/cgroup/freezer/$probe 2>/dev/null && rmdir /sys/fs/cgroup/freezer/$probe && confined=yes
fi
if [ "$confined" ]; then
  touch "$dir/confined"
  printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/sys/fs/cgroup CgroupAutomount=no ConstrainRAMSpace=yes \
    >"$dir/cgroup.conf"
  tracking=$'ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup'
else
  tracking=$'ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherParams=OverMemoryKill'
fi
device=/dev/tty # Slurm insists on device files for pretended GPUs; any will do
for i in $(seq 0 $((gpus - 1))); do mknod "$dir/dev/gpu$i" c 1 3 2>/dev/null; done
[ -c "$dir/dev/gpu$((gpus - 1))" ] && device=$dir/dev/gpu
echo "Name=gpu File=${device}[0-$((gpus - 1))]" >"$dir/gres.conf"

# --- the cluster: two nodes for everybody, two for those who break nodes -----------------------------------
cat >"$SLURM_CONF" <<END
ClusterName=herorun
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$((port + 7))
SlurmdPort=$((port + 9))
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$socket,cred_expire=5
SlurmUser=$me
SlurmdUser=$me
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
SlurmctldDebug=info
SlurmdDebug=info
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000,sched_interval=1,bf_interval=1
ReturnToService=2
SlurmdTimeout=60
RebootProgram=/bin/true
ResumeTimeout=6
MessageTimeout=5
KillWait=2
MinJobAge=300
SlurmdParameters=config_overrides
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 8))
AccountingStoragePass=$socket
AccountingStorageEnforce=associations,limits,qos
PreemptType=preempt/qos
PreemptMode=REQUEUE
$tracking
NodeName=$name[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 9))-$((port + 8 + nodes))] CPUs=$cpus RealMemory=$memory Gres=gpu:$gpus State=UNKNOWN
PartitionName=main Nodes=$name[1-2] Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=100
PartitionName=short Nodes=$name[1-2] MaxTime=1 DefaultTime=1 State=UP DefMemPerCPU=100
PartitionName=breaking Nodes=${name}3 MaxTime=2-00:00:00 State=UP DefMemPerCPU=100
PartitionName=crowded Nodes=${name}4 MaxTime=2-00:00:00 State=UP DefMemPerCPU=100
PartitionName=closed Nodes=${name}4 MaxTime=2-00:00:00 State=DOWN DefMemPerCPU=100
END

# --- accounting --------------------------------------------------------------------------------------------
data=$dir/db # in memory where there is room: it saves seconds on a slow disk
if [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'END {print $4}')" -gt 300000 ]; then
  data=$(mktemp -d /dev/shm/herorun-slurm-XXXXXX)
fi
echo "$data" >"$dir/database"
cat >"$dir/my.cnf" <<END
[mariadbd]
user=$me
datadir=$data
socket=$dir/run/maria.sock
pid-file=$dir/run/mariadbd.pid
log-error=$dir/log/mariadb.log
bind-address=127.0.0.1
port=$((port + 6))
skip-name-resolve
skip-grant-tables
skip-networking=0
innodb_buffer_pool_size=64M
innodb_log_file_size=16M
innodb_flush_log_at_trx_commit=0
innodb_flush_method=nosync
performance_schema=OFF
END
mariadb-install-db --defaults-file="$dir/my.cnf" --auth-root-authentication-method=normal --skip-test-db \
  >"$dir/log/install.log" 2>&1 || fail "mariadb-install-db failed" "$dir/log/install.log"
(setsid mariadbd --defaults-file="$dir/my.cnf" </dev/null >"$dir/log/mariadb.out" 2>&1 &)
await mariadbd "$dir/log/mariadb.log" test -s "$dir/run/mariadbd.pid" -a -S "$dir/run/maria.sock"
(umask 077 && cat >"$dir/slurmdbd.conf") <<END
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 8))
SlurmUser=$me
AuthType=auth/munge
AuthInfo=socket=$socket
LogFile=$dir/log/slurmdbd.log
PidFile=$dir/run/slurmdbd.pid
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 6))
StorageUser=root
StorageLoc=slurm_acct
END
slurmdbd </dev/null >"$dir/log/slurmdbd.out" 2>&1 || fail "slurmdbd refused" "$dir/log/slurmdbd.out"
await slurmdbd "$dir/log/slurmdbd.log" sacctmgr -nP list cluster
sacctmgr -i -Q >"$dir/log/sacctmgr.out" 2>&1 <<END
add qos low set Priority=10
add qos high set Priority=1000 Preempt=low
add qos one set MaxJobsPU=1
add cluster herorun set qos=normal,low,high,one
add account lab Cluster=herorun
add user root,nobody$([ "$me" = root ] || echo ",$me") Account=lab Cluster=herorun
quit
END

# --- Slurm -------------------------------------------------------------------------------------------------
slurmctld </dev/null >"$dir/log/slurmctld.out" 2>&1 || fail "slurmctld refused" "$dir/log/slurmctld.out"
for i in $(seq $nodes); do
  slurmd -N "$name$i" </dev/null >"$dir/log/slurmd.out" 2>&1 || fail "slurmd $name$i refused" "$dir/log/slurmd.out"
done
await "the controller" "$dir/log/slurmctld.log" scontrol ping
await "a node" "$dir/log/slurmd-${name}1.log" sh -c "[ \"\$(sinfo -h -N -p main,breaking,crowded -o '%N %T' | sort -u | grep -c ' idle$')\" = $nodes ]"
touch "$dir/up"
