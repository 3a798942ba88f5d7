"""`herorun doctor` for this machine and clone: Python, git and its remotes, disks, the clock."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from herorun import __version__
from herorun.core.clock_skew import SKEW
from herorun.core.doctor_report import DoctorPart, Fit, Probe
from herorun.core.durations import format_span
from herorun.core.errors import CouldNotLook
from herorun.core.finding import count
from herorun.system.clock import now
from herorun.system.git import GitFailed, Repository, environment
from herorun.system.git.run import complaint
from herorun.system.process import run
from herorun.system.project_config import read_settings

GIT = (2, 25)  # the oldest version with the plumbing that the record needs
MIN_FREE_BYTES = 1 << 30  # bytes free
SECONDS = 20.0


def probes(start: Path, repository: Repository | None) -> Iterator[tuple[str, str, Probe]]:
    yield "herorun", "installed", _describe_installation
    yield "herorun", "settings", lambda: _settings(start)
    yield "git", "program", _git
    yield (
        "disk",
        "temporary folder",
        lambda: [_examine_disk("temporary folder", [Path(tempfile.gettempdir())])],
    )
    yield "clock", "this machine", lambda: _clock(repository)
    if repository is not None:
        yield "git", "identity", lambda: _examine_git_identity(repository)
        folders = [repository.main / ".herorun", repository.common / "herorun"]
        yield "disk", "state folder", lambda: [_examine_disk("state folder", folders)]
        for remote in sorted(repository.remotes()):
            yield "git", f"remote {remote}", partial(_remote, repository, remote)


def _describe_installation() -> Iterator[DoctorPart]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield DoctorPart(
        "herorun",
        "installed",
        Fit.OK,
        f"herorun {__version__}, Python {python}, {sys.executable}",
    )


def _settings(start: Path) -> Iterator[DoctorPart]:
    settings = read_settings(start)
    message = (
        f"{settings.path}"
        if settings.path
        else "no [tool.herorun] in a pyproject.toml, and none is needed"
    )
    yield DoctorPart("herorun", "settings", Fit.OK, message)


def _git() -> Iterator[DoctorPart]:
    version = run(["git", "--version"], SECONDS, env=environment()).text.strip()
    match = re.search(r"(\d+)\.(\d+)", version)
    if match is None:
        raise CouldNotLook(f"`git --version` printed {version!r}, which has no version number.")
    old = (int(match[1]), int(match[2])) < GIT
    fix = f"Install git {GIT[0]}.{GIT[1]} or newer." if old else ""
    yield DoctorPart(
        "git", "program", Fit.FAILED if old else Fit.OK, f"{version}, {shutil.which('git')}", fix
    )


def _examine_git_identity(repository: Repository) -> Iterator[DoctorPart]:
    missing = [key for key in ("user.name", "user.email") if not repository.config(key)]
    yield DoctorPart(
        "git",
        "identity",
        Fit.FAILED if missing else Fit.OK,
        f"{' and '.join(missing)} not set"
        if missing
        else f"commits as {repository.config('user.name')}",
        "; ".join(f'`git config --global {key} "..."`' for key in missing),
    )


def _remote(repository: Repository, remote: str) -> Iterator[DoctorPart]:
    """Tests a read, then a dry-run push, which needs the right to write and sends nothing."""
    tips = repository.remote_tips(remote, timeout=SECONDS)
    name = f"remote {remote}"
    yield DoctorPart("git", name, Fit.OK, f"can be read: {count(len(tips), 'ref')}")
    head = repository.resolve("HEAD")
    if head is None:
        yield DoctorPart(
            "git", f"{name}, push", Fit.UNKNOWN, "there is no commit yet to try it with"
        )
        return
    try:
        repository.git(
            "push",
            "--dry-run",
            "--no-verify",
            "--porcelain",
            remote,
            f"{head}:refs/heads/herorun/doctor",
            timeout=SECONDS,
        )
    except GitFailed as error:
        message = f"a dry-run push, which sends nothing, failed: {complaint(error.answer)}"
        fix = (
            "Ask for the right to push, or name another remote as [code] remote and [logbook] "
            "remote."
        )
        yield DoctorPart("git", f"{name}, push", Fit.FAILED, message, fix)
    else:
        message = "a dry-run push was accepted; it does not run the server's hooks"
        yield DoctorPart("git", f"{name}, push", Fit.OK, message)


def _examine_disk(name: str, folders: Sequence[Path]) -> DoctorPart:
    """Tests the free space, and that this user can write to each folder, or to its nearest existing
    parent.
    """
    there = [next(each for each in (path, *path.parents) if each.is_dir()) for path in folders]
    for folder in there:
        try:
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            message = f"nothing can be written in {folder}: {error.strerror}"
            fix = f"Make {folder} writable for this user."
            return DoctorPart("disk", name, Fit.FAILED, message, fix)
    free, folder = min((shutil.disk_usage(each).free, each) for each in there)
    few = free < MIN_FREE_BYTES
    message = f"{free / (1 << 30):.1f} GiB free at {folder}, and it can be written"
    fix = "Free some space there." if few else ""
    return DoctorPart("disk", name, Fit.FAILED if few else Fit.OK, message, fix)


def _clock(repository: Repository | None) -> Iterator[DoctorPart]:
    at = now()
    newest = _newest_commit(repository)
    if newest is not None and newest - at > SKEW:
        message = (
            f"says {at:%Y-%m-%d %H:%M:%S} UTC, which is {newest - at} before the newest commit "
            "here was made"
        )
        yield DoctorPart(
            "clock", "this machine", Fit.FAILED, message, "Set the clock, best by NTP."
        )
        return
    state, why = _query_clock_sync()
    if why and newest is None:
        raise CouldNotLook(f"It is unknown whether the clock is synchronised: {why}.")
    if why:
        message = (
            f"synchronisation by NTP was not checked: {why}; the clock is not more than "
            f"{format_span(SKEW)} behind this clone's newest commit"
        )
        yield DoctorPart("clock", "this machine", Fit.SKIPPED, message)
        return
    fix = (
        ""
        if state == "yes"
        else "`timedatectl set-ntp true`, or ask the administrator of this machine."
    )
    message = "synchronised by NTP" if state == "yes" else "not synchronised"
    yield DoctorPart(
        "clock", "this machine", Fit.OK if state == "yes" else Fit.FAILED, message, fix
    )


def _query_clock_sync() -> tuple[str, str]:
    """`yes` or `no`; or "" and why it is unknown, as in a container without timedatectl or
    systemd.
    """
    if shutil.which("timedatectl") is None:
        return "", "timedatectl is not on this machine"
    answer = run(
        ["timedatectl", "show", "--property=NTPSynchronized", "--value"], SECONDS
    ).text.strip()
    return (answer, "") if answer in ("yes", "no") else ("", "timedatectl does not report it here")


def _newest_commit(repository: Repository | None) -> datetime | None:
    head = repository.resolve("HEAD") if repository else None
    if repository is None or head is None:
        return None
    return datetime.fromisoformat(
        repository.git("log", "-1", "--format=%cI", head).text.strip()
    ).astimezone(UTC)
