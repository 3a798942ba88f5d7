"""Boxes that are reached by a real OpenSSH server, each with its own network, processes, disk and
memory limit.

The link of a box can be cut and fixed, its server can hang, and it can be switched off and on: the
disk stays, the boot id does not. Where nobody may make such a box (no root, no namespaces), it is
an sshd on loopback behind a relay: its link can be cut anyway; what needs more is left out by
name.
"""

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from services.relay import Relay

HERE = Path(__file__).parent
NEEDED_PROGRAMS = ("sshd", "ssh", "ssh-keygen", "tmux")
FOR_OWN = ("ip", "nft", "nsenter", "unshare")
MEMORY = Path("/sys/fs/cgroup/memory")
# disks: one to be filled, and one with room enough
SMALL, LARGE = "size=64m,nr_inodes=5000", "size=64g"
READY = 60.0  # seconds for a box to answer
SERVER = """\
Port {port}
HostKey {etc}/host
AuthorizedKeysFile {etc}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserEnvironment yes
PermitUserRC no
PrintMotd no
UseDNS no
MaxStartups 200
LogLevel VERBOSE
"""
CLIENT = """\
Host {name}
  HostName {address}
  Port {port}
  IdentityFile {folder}/id
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  KexAlgorithms curve25519-sha256
"""
CUT = (
    "table inet cut {{ chain i {{ type filter hook input priority 0; iifname eth0 {word}; }}; "
    "chain o {{ type filter hook output priority 0; oifname eth0 {word}; }}; }}"
)
_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
# Of a login; the box's own folder of programs comes before it.
LOGIN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> list[str]:
    return [name for name in NEEDED_PROGRAMS if not shutil.which(name, path=_PATH)]


@cache
def may_own() -> bool:
    """Whether boxes with a network and processes of their own can be made here."""
    if os.geteuid() or not all(shutil.which(name, path=_PATH) for name in FOR_OWN):
        return False
    probe = f"hr{secrets.token_hex(3)}"
    if _run("ip", "netns", "add", probe, check=False).returncode:
        return False
    _run("ip", "netns", "del", probe)
    return True


class Box:
    """One box. `home` on it is a folder of its own disk, and a login finds `programs` there first.
    One that is not its own sees what this machine sees.
    """

    def __init__(
        self,
        folder: Path,
        disk: str = SMALL,
        memory: int = 256,
        own: bool = True,
        env: Mapping[str, str] | None = None,  # of every login on one that is not its own
    ) -> None:
        self.folder = folder
        self._env_there = env or {}
        self.name = f"hr{secrets.token_hex(3)}"
        self.own = own and may_own()
        self.config = folder / "ssh_config"
        self._etc = folder / "etc"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._cgroup: Path | None = None
        self._relay: Relay | None = None
        for part in ("etc", "disk", "run", "tmp"):
            (folder / part).mkdir(parents=True)
        self.home = "/root" if self.own else str(folder / "disk")
        self.programs = f"{self.home}/programs"
        self._keys()
        with contextlib.ExitStack() as undo:
            undo.callback(self.end)
            if self.own:
                self._network()
                self._limit(memory)
                self._disk(disk)
            self.on()
            undo.pop_all()

    # --- its power and its link -------------------------------------------------------------------

    def on(self) -> None:
        """Switch it on, and wait until it answers."""
        if self.own:
            self._boot()
        else:
            self._listen()
        until = time.monotonic() + READY
        while self.ssh("true", check=False).returncode:
            assert self._processes[-1].poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < until, (self.folder / "log").read_text()
            time.sleep(0.05)

    def off(self) -> None:
        """Power loss: nothing of it says good-bye."""
        self.cut()
        self._kill()

    def restart(self) -> None:
        self.off()
        self.fix()
        self.on()

    def cut(self) -> None:
        """Drop every packet both ways; the link stays up."""
        self._rule("drop")

    def fix(self) -> None:
        if self._relay:
            self._relay.cut.clear()
            return
        self._inside("nft", "table inet cut {}; delete table inet cut")

    def hang(self, word: signal.Signals = signal.SIGSTOP) -> None:
        """Stop every process of it: connections are taken, and nobody answers. SIGCONT undoes
        it.
        """
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, word)

    def processes(self) -> list[int]:
        """Those in its network, or that its own sshd has started."""
        return _in_network(self.name) if self.own else _below(self._processes[-1].pid)

    # --- what is done on it -----------------------------------------------------------------------

    def ssh(
        self, command: str, check: bool = True, timeout: float = 20
    ) -> subprocess.CompletedProcess[str]:
        """Run a line of shell on it."""
        argv = [
            "ssh",
            "-F",
            str(self.config),
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=3",
            self.name,
            command,
        ]
        process = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert not check or process.returncode == 0, process.stderr
        return process

    def end(self) -> None:
        """Stop and take away what was made, by its own name and process ids."""
        if self._relay:
            self._relay.end()
        if not self.own:
            for session in self._listed_tmux():
                _run("tmux", "-S", str(session), "kill-server", check=False)
        for process in reversed(self._processes):
            for pid in [] if self.own else _below(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.kill()
            process.wait(30)
        if self.own:
            _run("ip", "link", "del", self.name, check=False)
            _run("ip", "netns", "del", self.name, check=False)
        if self._cgroup:
            _remove_cgroup(self._cgroup)

    # --- how it is made ---------------------------------------------------------------------------

    def _keys(self) -> None:
        for name in ("id", "host"):
            _run(
                "ssh-keygen",
                "-q",
                "-t",
                "ed25519",
                "-N",
                "",
                "-C",
                name,
                "-f",
                str(self.folder / name),
            )
        shutil.copy(self.folder / "host", self._etc / "host")
        key = (self.folder / "id.pub").read_text()
        entry = f'environment="PATH={self.programs}:{LOGIN_PATH}" {key}'
        (self._etc / "authorized_keys").write_text(entry)

    def _describe(self, address: str, port: int, etc: str, server_port: int) -> None:
        (self._etc / "sshd_config").write_text(SERVER.format(port=server_port, etc=etc))
        config = CLIENT.format(name=self.name, address=address, port=port, folder=self.folder)
        self.config.write_text(config)
        key = " ".join((self.folder / "host.pub").read_text().split()[:2])
        host = address if port == 22 else f"[{address}]:{port}"
        (self.folder / "known_hosts").write_text(f"{host} {key}\n")

    def _network(self) -> None:
        with _free_net() as net:
            _run("ip", "netns", "add", self.name)
            _run(
                "ip",
                "link",
                "add",
                self.name,
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                self.name,
            )
            _run("ip", "addr", "add", f"{net}.1/30", "dev", self.name)
        _run("ip", "link", "set", self.name, "up")
        _run("ip", "-n", self.name, "addr", "add", f"{net}.2/30", "dev", "eth0")
        _run("ip", "-n", self.name, "link", "set", "eth0", "up")
        _run("ip", "-n", self.name, "link", "set", "lo", "up")
        self._address = f"{net}.2"
        self._describe(self._address, 22, "/run/ssh", 22)

    def _limit(self, memory: int) -> None:
        """By the older memory cgroups, which can be made next to any others; elsewhere there is no
        limit.
        """
        if not os.access(MEMORY / "cgroup.procs", os.W_OK):
            return
        cgroup = MEMORY / self.name
        with contextlib.suppress(OSError):
            cgroup.mkdir()
            (cgroup / "memory.limit_in_bytes").write_text(f"{memory << 20}")
            self._cgroup = cgroup

    def _disk(self, options: str) -> None:
        """A process holds the mounts of the disk, which so outlives the box's power."""
        mount_argv = (
            f'mount -t tmpfs -o mode=700,{options} disk "$0/disk" && echo ready && exec sleep '
            "infinity"
        )
        argv = [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            mount_argv,
            str(self.folder),
        ]
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=_env()
        )
        self._processes.append(process)
        assert process.stdout and process.stdout.readline() == b"ready\n"

    def _boot(self) -> None:
        inside = [
            "nsenter",
            f"--net=/run/netns/{self.name}",
            f"--mount=/proc/{self._processes[0].pid}/ns/mnt",
        ]
        unshare_argv = [
            "unshare",
            "--mount",
            "--uts",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
        ]
        box = [
            "sh",
            str(HERE / "box.sh"),
            str(self.folder),
            self.name,
            self._address,
            str(self._cgroup or ""),
        ]
        self._start([*inside, *unshare_argv, *box])

    def _listen(self) -> None:
        self._relay = self._relay or Relay()
        tmux = self.folder / "tmux"
        tmux.mkdir(mode=0o700, exist_ok=True)
        if not self.config.exists():
            self._describe("127.0.0.1", self._relay.port, str(self._etc), self._relay.target)
        sshd = shutil.which("sshd", path=_PATH) or "sshd"
        # at this level bash reads no ~/.bashrc for a command, which here is that of who tests
        variables = {"SHLVL": 1, "TMUX_TMPDIR": tmux, **self._env_there}
        env = " ".join(f"{name}={value}" for name, value in variables.items())
        argv = ["-o", "ListenAddress=127.0.0.1", "-o", f"SetEnv={env}"]
        if not os.geteuid():
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self._start([sshd, "-D", "-e", "-f", str(self._etc / "sshd_config"), *argv])

    def _start(self, argv: Sequence[str]) -> None:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_env(),
                preexec_fn=self._enter,
            )
        self._processes.append(process)

    def _enter(self) -> None:
        if self._cgroup:
            (self._cgroup / "cgroup.procs").write_text(f"{os.getpid()}")

    def _kill(self) -> None:
        process = self._processes.pop()
        for pid in [] if self.own else _below(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait(30)
        until = time.monotonic() + 30
        while self.own and _in_network(self.name):
            assert time.monotonic() < until, f"{self.name} does not end"
            time.sleep(0.02)

    def _rule(self, word: str) -> None:
        if self._relay:
            self._relay.cut.set()
            return
        self._inside("nft", CUT.format(word=word))

    def _inside(self, *argv: str) -> None:
        _run("nsenter", f"--net=/run/netns/{self.name}", *argv)

    def _listed_tmux(self) -> list[Path]:
        return [path for path in (self.folder / "tmux").glob("tmux-*/*") if path.is_socket()]


def _env() -> dict[str, str]:
    return {**os.environ, "PATH": _PATH}


def _run(*argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    process = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=_env(),
        timeout=30,
        check=False,
    )
    assert not check or process.returncode == 0, f"{' '.join(argv)}: {process.stderr}"
    return process


@contextlib.contextmanager
def _free_net() -> Iterator[str]:
    """Three numbers of an address whose net nobody on this machine uses; others who look wait
    meanwhile.
    """
    with Path("/tmp/herorun-boxes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        addresses = _run("ip", "-o", "addr").stdout
        yield next(
            net for net in (f"10.77.{i}" for i in range(1, 255)) if f" {net}." not in addresses
        )


def _in_network(name: str) -> list[int]:
    try:
        network = Path(f"/run/netns/{name}").stat().st_ino
    except FileNotFoundError:
        return []
    pids = []
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            if path.stat().st_ino == network:
                pids.append(int(path.parts[2]))
    return pids


def _below(pid: int) -> list[int]:
    children = [
        int(word)
        for word in _run("ps", "-o", "pid=", "--ppid", f"{pid}", check=False).stdout.split()
    ]
    return [*children, *(deeper for child in children for deeper in _below(child))]


def _remove_cgroup(cgroup: Path) -> None:
    until = time.monotonic() + 30
    while cgroup.exists():
        try:
            cgroup.rmdir()
        except OSError:
            assert time.monotonic() < until, f"{cgroup} is still in use"
            time.sleep(0.05)
