"""Writing to git without touching what is the user's: objects, our own refs, pushes."""

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from herorun.core.errors import CouldNotLook, HerorunError, attach_root
from herorun.core.redaction.scrub import scrub
from herorun.system import progress
from herorun.system.disk_reserve import give_up_reserve
from herorun.system.git import REMOTE, GitFailed, Repository
from herorun.system.git.leftovers import sweep, sweep_after
from herorun.system.git.loose_objects import NotLoose
from herorun.system.git.parse import plain_identity
from herorun.system.host import owner
from herorun.system.process import ProcessResult

# fast-import's own pack is unpacked at once, also where the user keeps all packs: what is stored is
# compressed as always.
_QUICK = ("pack.compression=1", "fastimport.unpackLimit=100")
_LOOSE_OBJECTS = ("fetch.unpackLimit=20000",)  # objects; git keeps a pack from 100 on
_FULL = (b"No space left on device", b"Out of diskspace", b"Disk quota exceeded")  # as git says it
# The user's settings for pushes of their own would send tags and submodules after ours.
PUSH_ALONE = ("--no-verify", "--no-follow-tags", "--recurse-submodules=no")


class RefMoved(HerorunError):
    """Another process wrote to the ref in the meantime."""


def commit_files(
    repository: Repository,
    ref: str,
    parent: str | None,
    files: Mapping[str, bytes],
    message: str,
    at: datetime,
) -> str:
    """Put files on top of `parent` and move `ref` there, only if `ref` is still at `parent`.
    Durable on return.
    """
    from herorun.system.git.direct_commit import StaleRef, commit_directly

    seconds = f"{int(at.timestamp())} +0000"
    who, text = _to_bytes(f"{read_identity(repository)} {seconds}"), _to_bytes(message)
    if parent:
        try:
            # an OSError, as of a full disk, is left to git, which reports it as usual
            with sweep_after(repository.common), contextlib.suppress(NotLoose, OSError):
                return commit_directly(repository, ref, parent, files, text, who)
        except StaleRef:
            raise RefMoved(f"{ref} moved while it was written to.") from None
    return _commit_by_git(repository, ref, parent, files, text, who)


def _commit_by_git(
    repository: Repository,
    ref: str,
    parent: str | None,
    files: Mapping[str, bytes],
    text: bytes,
    who: bytes,
) -> str:
    # a comment, by which a crash report is known as ours
    stream = bytearray(b"# %s\n" % _to_bytes(ref))
    marks = {}
    for number, (path, data) in enumerate(files.items(), start=2):
        stream += b"blob\nmark :%d\ndata %d\n%s\n" % (number, len(data), data)
        marks[path] = number
    stream += _to_bytes(f"commit {ref}\nmark :1\n") + b"committer %s\n" % who
    stream += b"data %d\n%s\n" % (len(text), text)
    if parent:
        stream += f"from {parent}\n".encode()
    for path, number in marks.items():
        stream += _to_bytes(f"M 100644 :{number} {_quote_path(path)}\n")
    stream += b"\nget-mark :1\ndone\n"
    try:
        answer = _import_stream(repository, bytes(stream))
    except GitFailed as error:
        if b"Not updating" in error.answer.err:
            raise RefMoved(f"{ref} moved while it was written to.") from None
        raise
    return answer.text.strip().splitlines()[-1]


def _import_stream(repository: Repository, stream: bytes) -> ProcessResult:
    """On a full disk once more, in the room of the reserve. What a failed import has left is
    removed.
    """
    arguments = ("fast-import", "--quiet", "--done", "--date-format=raw")
    try:
        with sweep_after(repository.common):
            return repository.git(*arguments, stdin=stream, settings=_QUICK)
    except GitFailed as error:
        full = any(word in error.answer.err for word in _FULL)
        if not full or not give_up_reserve(repository.common):
            raise
    with sweep_after(repository.common):
        return repository.git(*arguments, stdin=stream, settings=_QUICK)


def _to_bytes(text: str) -> bytes:
    # as git's output was read: not all names are UTF-8
    return text.encode("utf-8", "surrogateescape")


def _quote_path(path: str) -> str:
    """A path as fast-import reads it, whatever is in it."""
    inside = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inside}"'


_WHO = ("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL", "HOME")


def read_identity(repository: Repository) -> str:
    """The user's own git identity; where there is none, user@machine. Asked once in a process."""
    return identity_of(repository, tuple(os.environ.get(name) for name in _WHO))


@lru_cache(maxsize=8)
def identity_of(repository: Repository, settings_key: tuple[str | None, ...]) -> str:
    with contextlib.suppress(CouldNotLook):  # of settings that git cannot read
        if identity := plain_identity(repository.listed_settings):
            return identity
    answer = repository.git("var", "GIT_COMMITTER_IDENT", ok=(0, 128))
    if answer.code == 0:
        return answer.text.strip().rsplit(" ", 2)[0]
    plain = re.sub(r"[<>\s]", "", owner())
    return f"herorun <{plain}>"


def move_ref(repository: Repository, ref: str, new: str, old: str | None) -> None:
    """Point our own ref elsewhere, only if it is still at `old`. Durable on return."""
    if old and _move_without_git(repository, ref, new, old):
        return
    if not _update_ref(repository, ref, new, old):
        sweep(repository.common)  # a killed process may have left the lock of the ref
        if not _update_ref(repository, ref, new, old):
            raise RefMoved(f"{ref} moved while it was written to.")


def _update_ref(repository: Repository, ref: str, new: str, old: str | None) -> bool:
    argv = ("update-ref", ref, new, old or "0" * len(new))
    return not repository.git(*argv, ok=(0, 1, 128)).code


def _move_without_git(repository: Repository, ref: str, new: str, old: str) -> bool:
    """Each push ends with such a move; False where git must do it."""
    from herorun.system.git.direct_commit import StaleRef, move_directly

    try:
        with sweep_after(repository.common), contextlib.suppress(NotLoose, OSError):
            move_directly(repository, ref, new, old)
            return True
    except StaleRef:
        raise RefMoved(f"{ref} moved while it was written to.") from None
    return False


def push(repository: Repository, remote: str, oid: str, ref: str, expected_oid: str | None) -> None:
    """Push one object to one ref, only if the remote's ref is still at `expected_oid` (None: does
    not exist).
    """
    with progress.spinner(scrub(f"pushing to {remote}")):
        repository.git(
            "push",
            "--quiet",
            *PUSH_ALONE,
            f"--force-with-lease={ref}:{expected_oid or ''}",
            remote,
            f"{oid}:{ref}",
            timeout=REMOTE,
        )


def move_refs(repository: Repository, moves: Sequence[tuple[str, str, str | None]]) -> None:
    """Point several of our own refs elsewhere, `(ref, new, old)`; none moves unless each is still
    at its `old`.
    """
    commands = "".join(f"update {ref} {new} {old or '0' * len(new)}\n" for ref, new, old in moves)
    if repository.git("update-ref", "--stdin", stdin=commands.encode(), ok=(0, 1, 128)).code:
        raise RefMoved("A ref moved while it was written to.")


def fetch(
    repository: Repository, remote: str, refs: Mapping[str, str], loose: bool = False
) -> None:
    """Fetch refs of the remote into our own, source -> target, and nothing else. `loose` objects
    are read without git, also where there are many.
    """
    arguments = (
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-gc",
        "--refmap=",  # so that the user's remote-tracking refs do not move
        remote,
        *(f"+{source}:{target}" for source, target in refs.items()),
    )
    # on a full disk it leaves half a pack
    with (
        sweep_after(repository.common),
        progress.spinner(scrub(f"fetching from {remote}")),
        attach_root(f"remote {remote}"),
    ):
        repository.git(*arguments, timeout=REMOTE, settings=_LOOSE_OBJECTS if loose else ())


def delete_refs(repository: Repository, prefix: str) -> None:
    names = repository.git("for-each-ref", "--format=%(refname)", prefix).text.split()
    for name in names:
        repository.git("update-ref", "-d", name)
