"""One push of many of our own refs."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence

from herorun.core.errors import HerorunError
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.system import progress
from herorun.system.files import take_lock
from herorun.system.git import REMOTE, Repository
from herorun.system.git.plumbing import PUSH_ALONE, move_refs

# Journals of one day have one name, so that git compares each with ten of other runs. Their
# neighbour by size serves as well: the same deltas, in two thirds of the CPU of a push.
_NEIGHBOURS = ("pack.window=1",)
_MANY = 32  # refs; about from here on a pattern is cheaper
_OUTGOING = "refs/herorun/outgoing/"


@dataclass(frozen=True)
class RefUpdate:
    """One object for one ref of a remote, where it must still be at `expected` (None: does not
    exist).
    """

    oid: str
    ref: str
    expected: str | None


def push_many(repository: Repository, remote: str, sendings: Sequence[RefUpdate]) -> dict[str, str]:
    """Push each to its ref in one call; ref -> why it did not go through, of those that did not.

    Each stands for itself: one that is refused keeps no other back. `CouldNotLook` where the remote
    was not reached.
    """
    leases = [f"--force-with-lease={each.ref}:{each.expected or ''}" for each in sendings]
    with (
        _refspecs(repository, sendings) as specs,
        progress.spinner(scrub(f"pushing to {remote}")),
    ):
        answer = repository.git(
            *("push", "--porcelain", *PUSH_ALONE, *leases, remote, *specs),
            timeout=REMOTE * 2,
            ok=(0, 1),
            settings=_NEIGHBOURS,
        )
    results = {
        row[1].partition(":")[2]: row
        for row in map(_columns, answer.text.splitlines())
        if len(row) == 3
    }
    return {
        each.ref: results[each.ref][2] if each.ref in results else "git did not report the result"
        for each in sendings
        if each.ref not in results or results[each.ref][0] == "!"
    }


def _columns(row: str) -> list[str]:
    return row.split("\t")


@contextlib.contextmanager
def _refspecs(repository: Repository, sendings: Sequence[RefUpdate]) -> Iterator[list[str]]:
    """Git compares each ref that a push names with every ref of both repositories, in six forms
    (`ref_rev_parse_rules`): with a thousand runs that is half of the CPU of a push. So many refs
    have copies below a prefix of their own meanwhile, and one pattern sends them.
    """
    with contextlib.ExitStack() as at_end:
        if len(sendings) >= _MANY and _copy(repository, sendings, at_end):
            yield [f"{_OUTGOING}*:refs/*"]
        else:
            yield [f"{each.oid}:{each.ref}" for each in sendings]


def _copy(
    repository: Repository, sendings: Sequence[RefUpdate], at_end: contextlib.ExitStack
) -> bool:
    """Whether there are the copies alone: not while another process pushes by its own."""
    copies = {f"{_OUTGOING}{each.ref.removeprefix('refs/')}": each.oid for each in sendings}
    try:
        lock = take_lock(repository.common / "herorun" / "outgoing.lock", 0.0, "another push")
        at_end.callback(os.close, lock)
        _replace_copies(repository, copies)
    except (HerorunError, OSError):
        return False
    at_end.callback(_delete_copies, repository)
    return True


def _delete_copies(repository: Repository) -> None:
    with contextlib.suppress(HerorunError, OSError):  # the next push replaces them
        _replace_copies(repository, {})


def _replace_copies(repository: Repository, copies: Mapping[str, str]) -> None:
    """Also those that a killed push left."""
    present = repository.refs(_OUTGOING)
    absent = {ref: "0" * len(oid) for ref, oid in present.items()}
    move_refs(
        repository, [(ref, oid, present.get(ref)) for ref, oid in {**absent, **copies}.items()]
    )
