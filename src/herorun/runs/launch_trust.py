"""Which launches of a record count: a line of the branch is believed only if the code proves it.

Anyone who may push the record's branch can write any launch there. One counts where this clone made
it itself, or where its commit is in a published ref of `[code] refs` and its plan can be made again
from that commit. Which refs these are, the contract of the checkout says, never the record.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from herorun.core.canonical_json import canonical
from herorun.core.contract import Contract
from herorun.core.errors import Blocked, HerorunError, describe_error
from herorun.core.event import Launching
from herorun.core.journal import Memory, scrub_event
from herorun.core.journal.launch_intents import launch_id
from herorun.core.lazy_dataclass import dataclass
from herorun.core.redaction.scrub import scrub
from herorun.core.untrusted_json import read_json
from herorun.record import Record
from herorun.system.files import hold_lock, write_atomic
from herorun.system.git import Repository
from herorun.system.user_trust import LAUNCHES, REJECTIONS, read_trusted_items

if TYPE_CHECKING:
    from herorun.runs.launch_proof import LaunchVerifier

PROVEN_LAUNCHES = "proven"  # all of it was proven, or this clone made it
PUBLISHED_LAUNCHES = (
    "published"  # its commit was proven, and the facts that only the record has were not
)
WRONG_NAME = "its name is not the run's and its number"

MAX_TRIED = 20  # launches without a proof, the newest first: a forger may have written any number


class NotProven(HerorunError):
    """Nothing proves it, and everything was looked at."""


@dataclass(frozen=True)
class RecordProof:
    """What was found of a record's launches. `unseen` says why it is unknown here; then nothing
    is acted on.
    """

    rejected_launches: frozenset[str] = frozenset()  # instances
    doubts: tuple[
        str, ...
    ] = ()  # one sentence for each that is no launch of ours, and was not rejected by a person
    unseen: str = ""
    unproven: tuple[Launching, ...] = field(default=())
    # it counts, and only the record has these facts
    unstated: tuple[tuple[Launching, str], ...] = ()


def note_own(repository: Repository, slug: str, launching: Launching) -> None:
    """This clone makes this launch: it needs no other proof here."""
    store_proofs(repository, slug, [launch_id(scrubbed_launching(launching))], PROVEN_LAUNCHES)


def scrubbed_launching(launching: Launching) -> Launching:
    """As it is read back from the journal."""
    event = scrub_event(launching)
    assert isinstance(event, Launching)
    return event


def is_misnamed(slug: str, launching: Launching) -> bool:
    return launching.number < 1 or launching.instance != f"{slug}-{launching.number}"


def _file(repository: Repository, slug: str, kind: str) -> Path:
    return repository.common / "herorun" / f"{slug}.{kind}.json"


def read_proofs(repository: Repository, slug: str, kind: str) -> frozenset[str]:
    """The ids of launches that were proven so far; none where the file cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return frozenset(
            str(each) for each in read_json(_file(repository, slug, kind).read_bytes())
        )
    return frozenset()


def store_proofs(repository: Repository, slug: str, ids: Iterable[str], kind: str) -> None:
    path = _file(repository, slug, kind)
    with hold_lock(path.with_suffix(".lock"), what="another herorun that proves this record"):
        proofs = sorted(read_proofs(repository, slug, kind) | set(ids))
        write_atomic(path, (canonical(proofs) + "\n").encode())


def proven_launches(repository: Repository, slug: str) -> frozenset[str]:
    """The launches of which nothing is left to prove: this clone made them, a person believes them,
    or all was proven.
    """
    return read_proofs(repository, slug, PROVEN_LAUNCHES) | read_trusted_items(
        repository.main, LAUNCHES
    )


def must_be_stated(record: Record, rules: Contract, launching: Launching) -> None:
    """`Blocked` where a job started by this launch's plan would get what only the record has."""
    if launch_id(launching) in proven_launches(record.repository, record.slug):
        return
    if message := _prover(record, rules).record_only_facts(launching):
        raise Blocked(f"Nothing was started: {describe_unstated(record.slug, launching, message)}.")


def describe_unstated(slug: str, launching: Launching, message: str) -> str:
    return (
        f"only the record says that {launching.instance} ran with {message}, and no published "
        f"contract states it; if you know that it is right: `herorun trust {slug}`"
    )


def prove(record: Record, rules: Contract | None, state: Memory | None = None) -> RecordProof:
    """The newest launch of a record that counts by the `[code]` of `rules`, and those after it that
    do not. `state` replaces this clone's state of the record.

    What came before the newest proven one was proven when it was the newest; the order is that of
    the numbers, so one whose number is not its own never counts.
    """
    memory = state or record.memory_as_written()
    if not memory.launchings:
        return RecordProof(doubts=_strays(memory, frozenset()))
    repository, slug = record.repository, record.slug
    own = proven_launches(repository, slug)
    rejected_tags = read_trusted_items(repository.main, REJECTIONS)
    prover: LaunchVerifier | None = None
    newest_first = sorted(memory.launchings.values(), key=lambda each: each.number, reverse=True)
    wrong_names = [each for each in newest_first if is_misnamed(slug, each)]
    bad = [(each, "" if launch_id(each) in rejected_tags else WRONG_NAME) for each in wrong_names]
    unstated_launchings: tuple[tuple[Launching, str], ...] = ()
    for launching in [each for each in newest_first if not is_misnamed(slug, each)][:MAX_TRIED]:
        name = launch_id(launching)
        if name in own:
            break
        if name in rejected_tags:
            bad.append((launching, ""))
            continue
        try:
            prover = prover or _prover(record, rules)
            message = prover.record_only_facts(launching)
            unstated_launchings = ((launching, message),) if message else ()
            break
        except NotProven as error:
            bad.append((launching, scrub(str(error))))
        except (HerorunError, OSError) as error:
            return RecordProof(
                unseen=f"it is unknown whether the launch of {launching.instance} in the record is "
                f"genuine: {scrub(describe_error(error))}",
                unproven=(launching,),
            )
    names = frozenset(launching.instance for launching, _ in bad)
    doubts = tuple(
        f"the launch {launching.instance} in the record does not count: {why}"
        for launching, why in bad
        if why
    )
    doubts = doubts[:MAX_TRIED]
    unproven = tuple(launching for launching, why in bad if why)
    return RecordProof(
        names, (*doubts, *_strays(memory, names)), unproven=unproven, unstated=unstated_launchings
    )


def _prover(record: Record, rules: Contract | None) -> "LaunchVerifier":
    """Imported only where something is left to prove."""
    from herorun.runs.launch_proof import LaunchVerifier

    return LaunchVerifier(record, rules)


def _strays(memory: Memory, rejected_launches: frozenset[str]) -> tuple[str, ...]:
    """Instances that no launch stands behind, or that say something else than their launch."""
    strays = (each for each in memory.strays if each.name not in rejected_launches)
    return tuple(
        f"{each.name} does not count: the record names job {each.job} for it, and no launch says so"
        for each in strays
    )
