"""What a person types to make a record readable again that somebody damaged with git."""

import shlex
from collections.abc import Iterator

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.record import Record

MOST = 200  # commits that are searched for the newest readable one


def repair_note(record: Record, tip: str, remote_tip: str | None) -> str:
    """The commit that made the journal of this clone or of its remote unreadable, and the commands
    that undo it on top; "" if both can be read, or no readable commit was found.
    """
    for commit in filter(None, dict.fromkeys([tip, remote_tip])):
        if culprit := _culprit(record, commit):
            return describe_repair(record, commit, culprit, here=commit == tip)
    return ""


def describe_repair(record: Record, tip: str, culprit: str, here: bool) -> str:
    return (
        f"commit {culprit[:9]} made the journal unreadable{'' if here else ' on the remote'}. If "
        "you are sure that it is a mistake, undo it by a commit on top, which removes nothing "
        f"(`herorun verify {record.slug}` reports both from then on): "
        f"`{_undo(record, tip, culprit, here)}`"
    )


def _undo(record: Record, tip: str, culprit: str, here: bool) -> str:
    """In a work tree of its own, so that nothing of the user's is touched."""
    branch = f"refs/heads/{record.branch}"
    revert = f'git worktree add -q --detach "$w" {tip} && git -C "$w" revert --no-edit {culprit}'
    fetch = "" if here else shlex.join(["git", "fetch", "-q", str(record.remote), branch]) + " && "
    publish = (
        f'git update-ref {shlex.quote(record.ref)} "$(git -C "$w" rev-parse HEAD)" {tip}'
        if here
        else f'git -C "$w" push {shlex.quote(str(record.remote))} HEAD:{shlex.quote(branch)}'
    )
    return f'w=$(mktemp -d) && {fetch}{revert} && {publish} && git worktree remove "$w"'


def _culprit(record: Record, tip: str) -> str:
    """The oldest commit of those at the end of the line whose journal cannot be read; "" if the tip
    can be, or none of the last `MOST` can.
    """
    culprit = ""
    for commit in _line(record, tip):
        if _is_readable(record, commit):
            return culprit
        culprit = commit
    return ""


def _line(record: Record, tip: str) -> Iterator[str]:
    options = ("rev-list", "--first-parent", f"--max-count={MOST}", tip)
    yield from record.repository.git(*options).text.split()


def _is_readable(record: Record, commit: str) -> bool:
    try:
        record.memory_at(commit)
    except CouldNotLook:  # git did not answer, which is no damage
        raise
    except HerorunError:
        return False
    return True
