"""The places of an instance's code, admission and log: here, or on the cluster behind a login node.

Behind one, the code is copied as it stands, once, into a folder that is made for the instance and
never changed after.
"""

from pathlib import Path

from herorun.core.canonical_json import canonical
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.ports import LogPart
from herorun.core.remote.target import RemoteTarget
from herorun.core.untrusted_json import read_json
from herorun.schedulers._instance import MAX_LOG, last_lines
from herorun.schedulers._logs import read_local_part, read_remote_part
from herorun.schedulers._slurm.submit import RemotePaths
from herorun.schedulers._transport import SshLogin, Transport
from herorun.system.remote_python import remote_to

COPYING = 600.0  # seconds for all of the code
_ABSENT = 44  # exit code of our own shell words
_UNPACK = """\
set -e
umask 077
new=$1.new-$$
mkdir -p -- "$1.log.d" "$new"
trap 'rm -rf -- "$new"' EXIT
tar -xzf - -C "$new"
mv -T -- "$new" "$1" 2>/dev/null || test -d "$1/code"
"""
_TAIL = f'test -e "$1" || exit {_ABSENT}; tail -c {MAX_LOG} -- "$1" | tail -n "$2"'


class LocalFolder:
    """The run's own state folder, which every node must see, as it must see the code."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def where(self, instance: str, code: str, admission: str) -> RemotePaths:
        return RemotePaths(str(Path(code).absolute()), admission, self.log(instance))

    def bring(self, instance: str, code: str, admission: str) -> RemotePaths:
        return self.where(instance, code, admission)

    def log(self, instance: str) -> str:
        return str(self._folder / f"{instance}.log")

    def tail(self, path: str, lines: int) -> bytes:
        return last_lines(Path(path), lines)

    def part(self, path: str, offset: int, limit: int, mark: str) -> LogPart:
        return read_local_part(path, offset, limit, mark)


class RemoteFolder:
    """A folder on the cluster."""

    def __init__(
        self,
        transport: Transport,
        login: SshLogin,
        folder: str | None,
        run: str,
        slug: str,
        timeout: float,
    ) -> None:
        self._transport, self._folder, self._run, self._slug, self._timeout = (
            transport,
            folder,
            run,
            slug,
            timeout,
        )
        self._login = login
        self._top = ""

    def where(self, instance: str, code: str, admission: str) -> RemotePaths:
        home = self._home(instance)
        return RemotePaths(f"{home}/code", f"{home}/admission.json", self.log(instance))

    def bring(self, instance: str, code: str, admission: str) -> RemotePaths:
        """Copy both to the cluster; files already there are left unchanged."""
        where = self.where(instance, code, admission)
        if (Path(code) / ".git").exists():
            raise WrongUse(
                f"{code} is a git checkout, and [code] in_place copies no code to "
                f"{self._transport.where}: remove in_place."
            )
        archive = self._pack(Path(code), Path(admission), where)
        answer = self._transport.run(
            ["sh", "-c", _UNPACK, "sh", self._home(instance)], COPYING, stdin=archive
        )
        if answer.code:
            raise CouldNotLook(
                f"The code could not be copied to {self._transport.where}: {answer.complaint}"
            )
        return where

    def _pack(self, code: Path, admission: Path, where: RemotePaths) -> bytes:
        """The admission names the code where it will lie, because check-in compares the place of
        what is loaded.
        """
        from io import BytesIO
        from tarfile import TarInfo, open as open_tar

        try:
            document = dict(read_json(admission.read_bytes()))
        except (OSError, ValueError, TypeError) as error:
            raise CouldNotLook(
                f"The admission {admission} cannot be read: {describe_error(error)}"
            ) from None
        data = canonical({**document, "code": where.code}).encode()
        archive = BytesIO()
        with open_tar(fileobj=archive, mode="w:gz", compresslevel=3) as tar:
            tar.add(code, "code")
            facts = TarInfo("admission.json")
            facts.size, facts.mode = len(data), 0o600
            tar.addfile(facts, BytesIO(data))
        return archive.getvalue()

    def log(self, instance: str) -> str:
        return f"{self._home(instance)}.log.d/job.log"

    def tail(self, path: str, lines: int) -> bytes:
        answer = self._transport.run(
            ["sh", "-c", _TAIL, "sh", path, str(max(0, lines))], self._timeout
        )
        if answer.code == _ABSENT:
            raise FileNotFoundError(2, "No such file on the cluster", path)
        if answer.code:
            raise CouldNotLook(
                f"{path} on {self._transport.where} could not be read: {answer.complaint}"
            )
        return answer.out

    def part(self, path: str, offset: int, limit: int, mark: str) -> LogPart:
        return read_remote_part(
            remote_to(RemoteTarget(self._login)), path, offset, limit, mark, self._timeout
        )

    def _home(self, instance: str) -> str:
        if not self._top:
            self._top = self._folder or f"{self._login_folder()}/.herorun"
        return f"{self._top}/{self._slug}-{self._run[:8]}/{instance}"

    def _login_folder(self) -> str:
        answer = self._transport.run(["sh", "-c", "cd && pwd"], self._timeout)
        home = answer.text.rstrip("\n")
        if answer.code or not home.startswith("/"):
            raise CouldNotLook(
                f"{self._transport.where} does not report its home folder: {answer.complaint}"
            )
        return home


def files_for(
    transport: Transport,
    login: SshLogin,
    *,
    state: Path,
    folder: str | None,
    run: str,
    slug: str,
    timeout: float,
) -> LocalFolder | RemoteFolder:
    return (
        LocalFolder(state)
        if transport.reach == "here"
        else RemoteFolder(transport, login, folder, run, slug, timeout)
    )
