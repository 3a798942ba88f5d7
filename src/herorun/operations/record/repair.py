"""What a person types to make a record readable again that somebody damaged with git."""

import shlex
from collections.abc import Iterator

from herorun.core.errors import CouldNotLook, HerorunError
from herorun.record import Record

_WHO = "-c user.name=herorun -c user.email=herorun@localhost"
MAX_COMMITS = 200  # commits that are searched for the newest readable one


def repair_note(record: Record, tip: str, remote_tip: str | None) -> str:
    """The commit that made the journal of this clone or of its remote unreadable, and the commands
    that undo it on top; "" if both can be read, or no readable commit was found.
    """
    for commit in filter(None, dict.fromkeys([tip, remote_tip])):
        if culprit := _culprit(record, commit):
            good = _find_good_commit(record, commit, culprit)
            return describe_repair(record, commit, culprit, commit == tip, good)
    return ""


def describe_repair(record: Record, tip: str, culprit: str, here: bool, good: str = "") -> str:
    """By a revert, or with `good` by the journal of that commit."""
    undo = _restore(record, good) if good else _revert(culprit)
    where = " in this clone" if here else ""
    return (
        f"commit {culprit[:9]} made the journal unreadable{'' if here else ' on the remote'}. Once "
        "a person knows that it is a mistake, undo it by a new commit on top: "
        f"`{_command(record, tip, undo, here)}` Then the journal can be read again{where}."
        f"{_describe_lost(record, good, tip)}{_describe_publishing(record) if here else ''} "
        f"`herorun verify {record.slug}` still reports both commits as faults, because the history "
        "keeps them."
    )


def _describe_publishing(record: Record) -> str:
    """What makes the repair of this clone's record readable on other machines."""
    if record.remote is None:
        return ""
    push = shlex.join(["git", "push", record.remote, f"{record.ref}:refs/heads/{record.branch}"])
    return (
        f" If no babysitter runs in this clone, type `{push}` next: other machines can read the "
        "journal only once it is pushed."
    )


def _describe_lost(record: Record, good: str, tip: str) -> str:
    """What a person must look at first, where the journal becomes what it was before."""
    if not good:
        return ""
    diff = shlex.join(["git", "diff", good, tip, "--", record.journal_path])
    return (
        f" The journal becomes that of {good[:9]}: note again what `{diff}` shows as added later."
    )


def _find_good_commit(record: Record, tip: str, culprit: str) -> str:
    """The commit before the damage, if a revert of the damage alone may not apply: it is a merge,
    or a later commit changed a file that it changed. "" if the revert applies.
    """
    git = record.repository.git
    good, *other_parents = git("rev-parse", f"{culprit}^@").text.split() or [""]
    if not good or other_parents:
        return good
    names = git("diff", "--name-only", "-z", "--no-renames", good, culprit).text.split("\0")
    later = git("diff", "--name-only", "-z", "--no-renames", culprit, tip).text.split("\0")
    changed_names = git("log", "--format=", "--name-only", "-m", "-z", f"{culprit}..{tip}").text
    return good if {*names} & {*later, *changed_names.split("\0")} - {""} else ""


def _revert(culprit: str) -> str:
    return f'git -C "$w" {_WHO} revert --no-edit {culprit}'


def _restore(record: Record, good: str) -> str:
    path = shlex.quote(record.journal_path)
    return (
        f'git -C "$w" rm -rqf --ignore-unmatch -- {path} && git -C "$w" checkout {good} -- {path} '
        f'&& git -C "$w" {_WHO} commit -qm "Restore the journal of {good[:9]}"'
    )


def _command(record: Record, tip: str, undo: str, here: bool) -> str:
    """In a work tree of its own, so that nothing of the user's is touched; it is removed, however
    the command ends.
    """
    branch = f"refs/heads/{record.branch}"
    fetch = "" if here else shlex.join(["git", "fetch", "-q", str(record.remote), branch]) + " && "
    publish = (
        f'git update-ref {shlex.quote(record.ref)} "$(git -C "$w" rev-parse HEAD)" {tip}'
        if here
        else f'git -C "$w" push {shlex.quote(str(record.remote))} HEAD:{shlex.quote(branch)}'
    )
    tree = f'git worktree add -q --detach "$w" {tip}'
    steps = f"{fetch}{tree} && {undo} && {publish}"
    return f"(w=$(mktemp -d) && trap 'git worktree remove --force \"$w\"' EXIT && {steps})"


def _culprit(record: Record, tip: str) -> str:
    """The oldest commit of those at the end of the line whose journal cannot be read; "" if the tip
    can be, or none of the last `MAX_COMMITS` can.
    """
    culprit = ""
    for commit in _line(record, tip):
        if _is_readable(record, commit):
            return culprit
        culprit = commit
    return ""


def _line(record: Record, tip: str) -> Iterator[str]:
    options = ("rev-list", "--first-parent", f"--max-count={MAX_COMMITS}", tip)
    yield from record.repository.git(*options).text.split()


def _is_readable(record: Record, commit: str) -> bool:
    try:
        record.memory_at(commit)
    except CouldNotLook:  # git did not answer, which is no damage
        raise
    except HerorunError:
        return False
    return True
