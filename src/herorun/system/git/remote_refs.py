"""Refs of a remote as commits of this clone: which are known here, which contain a commit, how far
ahead they are.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TypeAlias

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.lazy_dataclass import dataclass
from herorun.system.git import Repository
from herorun.system.git.plumbing import fetch

# Ref name -> object, as a remote answers within seconds; None for the usual time.
AskRemote: TypeAlias = Callable[[str, float | None], Mapping[str, str]]
RECORDS = ("refs/heads/herorun/", "refs/herorun/")  # herorun's own, which are no code
PROBE = "refs/herorun/probe/"
LISTING = 60.0  # seconds for the remote to list its refs
LISTING_LIFETIME = 10.0  # seconds for which one listing serves all runs that a process opens
_STILL = {"GIT_NO_LAZY_FETCH": "1"}  # a partial clone must not fetch what we only ask about


def query_tips(repository: Repository, remote: str, timeout: float | None = None) -> dict[str, str]:
    """Ref name -> object on the remote as it answers now; an annotated tag as the commit that it
    names. `timeout` is in seconds, `LISTING` by default.
    """
    tips = repository.remote_tips(remote, timeout=timeout or LISTING)
    peeled_tips = {
        name.removesuffix("^{}"): oid for name, oid in tips.items() if name.endswith("^{}")
    }
    plain = {
        name: oid
        for name, oid in tips.items()
        if name.startswith("refs/") and not name.endswith("^{}")
    }
    return plain | peeled_tips


@dataclass
class _Listing:
    """What one remote answered last; who asks while another does waits for that answer."""

    alone: threading.Lock = field(default_factory=threading.Lock)
    at: float | None = None
    tips: Mapping[str, str] = field(default_factory=dict)
    error: HerorunError | None = None


_listings: dict[tuple[Path, str], _Listing] = {}  # by clone and remote


def recent_tips(
    repository: Repository, remote: str, timeout: float | None = None
) -> tuple[Mapping[str, str], bool]:
    """As `query_tips` now, or to another run of this process within `LISTING_LIFETIME`; and if it
    was now.

    A remote lists all its refs whatever it is asked for: asked once for each run of a fleet, it
    sends their square. What a recent listing lacks may be there by now.
    """
    listing = _listings.setdefault((repository.common, remote), _Listing())
    with listing.alone:
        if listing.at is None or monotonic() - listing.at > LISTING_LIFETIME:
            _refresh(listing, repository, remote, timeout)
            return listing.tips, True
        if listing.error is not None:  # a silent remote is not waited for by each run in turn
            raise CouldNotLook(str(listing.error), root=listing.error.root)
        return listing.tips, False


def _refresh(listing: _Listing, repository: Repository, remote: str, timeout: float | None) -> None:
    listing.tips, listing.error = {}, None
    try:
        listing.tips = query_tips(repository, remote, timeout)
    except HerorunError as error:
        listing.error = error
        raise
    finally:
        listing.at = monotonic()


def is_ref_named(name: str, refs: tuple[str, ...]) -> bool:
    """Whether `[code] refs` names a ref: in full, or a branch alone. The record's branches only
    word for word.
    """
    full = [ref if ref.startswith("refs/") else f"refs/heads/{ref}" for ref in refs]
    return name in full or (
        not name.startswith(RECORDS) and any(fnmatchcase(name, pattern) for pattern in full)
    )


def commits_among(repository: Repository, tips: Mapping[str, str]) -> dict[str, str]:
    """Those of the tips that are commits of this clone."""
    oids = sorted(set(tips.values()))
    text = "".join(f"{oid}\n" for oid in oids).encode()
    kinds = repository.git(
        "cat-file", "--batch-check=%(objecttype)", stdin=text, env=_STILL
    ).text.splitlines()
    commits = {oid for oid, kind in zip(oids, kinds, strict=True) if kind == "commit"}
    return {name: oid for name, oid in tips.items() if oid in commits}


def named_commit(repository: Repository, revision: str) -> str | None:
    """The commit of this clone that hexadecimal digits stand for; None if there is none, or more
    than one.
    """
    arguments = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    fields = repository.git(
        *arguments, stdin=f"{revision}^{{commit}}\n".encode(), env=_STILL
    ).text.split()
    return fields[0] if fields[1:] == ["commit"] else None


def containing(repository: Repository, commit: str, tips: Mapping[str, str]) -> dict[str, str]:
    """Those of the known tips from which the commit can be reached, in one call."""
    others = sorted(set(tips.values()) - {commit})
    after = set[str]()
    if others:
        text = "".join(f"{line}\n" for line in (f"^{commit}", *others)).encode()
        arguments = ("rev-list", "--ancestry-path", "--stdin")
        after = set(repository.git(*arguments, stdin=text, env=_STILL).text.split())
    return {name: oid for name, oid in tips.items() if oid == commit or oid in after}


def commits_ahead(repository: Repository, commit: str, tip: str) -> int:
    """How many commits the tip has that the commit has not."""
    if tip == commit:
        return 0
    return int(repository.git("rev-list", "--count", f"{commit}..{tip}", env=_STILL).text)


def changed_files(repository: Repository, before: str, after: str) -> tuple[str, ...]:
    """The files that differ between two commits, as people read them."""
    if before == after:
        return ()
    arguments = (
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
    )
    names = repository.git(*arguments, before, after, env=_STILL).text.split("\0")
    return tuple(
        name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        for name in names
        if name
    )


class Probe:
    """Refs of this process alone, gone when the block ends; so are those that a dead process left
    behind.
    """

    def __init__(self, repository: Repository, remote: str, name: str) -> None:
        self.repository = repository
        self.remote = remote
        self.prefix = f"{PROBE}{os.getpid()}/{name}/"

    def fetch(self, refs: Iterable[str]) -> dict[str, str]:
        """Ref name -> commit, of refs of the remote that name one."""
        fetch(self.repository, self.remote, {ref: f"{self.prefix}{ref}" for ref in refs})
        form = "--format=%(refname) %(objectname) %(*objectname)"
        lines = self.repository.git("for-each-ref", form, self.prefix).text.splitlines()
        rows = (line.removeprefix(self.prefix).split() for line in lines)
        return commits_among(self.repository, {row[0]: row[-1] for row in rows})

    def __enter__(self) -> "Probe":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.repository.lacks_below(PROBE):
            return
        names = self.repository.git("for-each-ref", "--format=%(refname)", PROBE).text.split()
        obsolete = [name for name in names if name.startswith(self.prefix) or _left_behind(name)]
        if obsolete:
            text = "".join(f"delete {name}\n" for name in obsolete).encode()
            self.repository.git("update-ref", "--stdin", stdin=text)


def _left_behind(name: str) -> bool:
    pid = name.removeprefix(PROBE).partition("/")[0]
    if not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
