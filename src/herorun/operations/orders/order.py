"""An order, recorded once: who, about what, and why."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from herorun.core.errors import Blocked
from herorun.core.event import Intended, Ordered, Word
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.proposed_commands import in_tmux
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.heartbeat import (
    describe_hung,
    is_hung,
    last_tick_elsewhere,
    ring,
)
from herorun.runs import MonitoredRun, Run
from herorun.system.clock import now
from herorun.system.files import is_locked

if TYPE_CHECKING:
    from herorun.schemas.runs import OrderDocument


@dataclass(frozen=True)
class OrderOutcome:
    """The result of an order as text; `code` is its exit code."""

    run: MonitoredRun
    message: str
    code: int = 0
    warnings: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()  # what was shown before the order was carried out

    def document(self) -> "OrderDocument":
        from herorun.schemas.runs import OrderDocument

        facts = {"facts": self.facts} if self.facts else {}
        return OrderDocument(
            slug=self.run.slug,
            message=self.message,
            warnings=self.warnings,
            record=self.run.record.tip,
            **facts,
        )


def memory_for_orders(run: MonitoredRun) -> Memory:
    """The memory of a run that takes orders. Raises unless it was created, is not sealed, and its
    record can be read.
    """
    run.must_take_orders()
    memory = run.record.memory()
    if memory.sealed:
        raise Blocked(f"{run.slug} is sealed as {memory.sealed.tag}: a sealed run takes no orders.")
    return memory


def person(run: MonitoredRun) -> str:
    return run.person


def order(
    run: MonitoredRun,
    word: Word,
    about: Sequence[str],
    reason: str = "",
    until: datetime | None = None,
) -> tuple[str, ...]:
    """Record the order, push it and wake the loop; returns warnings."""
    run.record.append(Ordered(now(), person(run), word, tuple(about), scrub(reason), until))
    ring(run)
    return push_warning(run)


def push_warning(run: MonitoredRun) -> tuple[str, ...]:
    push_result = run.record.push()
    return () if push_result else (f"the record is not pushed: {push_result.why}",)


def babysitter_runs(run: MonitoredRun) -> bool:
    """Whether a loop on this machine runs the next tick of itself. One that hangs does not."""
    return is_locked(run.lock("babysitter")) and not is_hung(run)


def unwatched_warnings(run: Run) -> tuple[str, ...]:
    """A warning if no loop runs here or it hangs, because a person must then start the next tick;
    or if another machine or clone monitors the run, because nothing here shows whether its loop
    runs.
    """
    if babysitter_runs(run) or run.contract.babysit.declined:
        return ()
    if is_hung(run):
        return (describe_hung(run),)
    if owner := run.other_babysit_owner:
        message = f"its babysitter, if one runs, is on {owner}, which this machine cannot see"
        return (f"{message}: `herorun box watchdog {run.slug}` shows its last published tick",)
    if last_tick_elsewhere(run):
        message = "its babysitter, if one runs, is in another clone"
        return (f"{message}: `herorun box watchdog {run.slug}` shows its last published tick",)
    return (describe_unwatched(run.slug),)


def describe_unwatched(slug: str) -> str:
    return f"no babysitter runs in this clone: start it {in_tmux(f'`herorun babysit {slug}`')}"


def ordered_before(run: MonitoredRun, word: Word, name: str) -> bool:
    return any(each.word is word and name in each.about for each in run.record.memory().orders)


def just_ordered(run: MonitoredRun, word: Word, about: tuple[str, ...], reason: str) -> bool:
    return run.record.memory().just_ordered(word, about, person(run), reason, now())


def intended_once(run: MonitoredRun, key: str, what: str) -> Intended:
    """The intent in the record; an interrupted call continues with its own."""
    memory = run.record.memory()
    if key not in memory.intended:
        run.record.append(Intended(at=now(), key=key, attempt=memory.attempt(key), what=what))
    return run.record.memory().intended[key]
