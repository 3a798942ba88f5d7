"""Why the current instance ended, as the end of its own log tells. A job that lives is not asked."""

import signal
from pathlib import Path

from herorun import catalogue
from herorun.core.contract import Contract
from herorun.core.errors import WrongUse
from herorun.core.evidence import Job, Nothing, Triage
from herorun.core.ports import Place, Scheduler
from herorun.core.scrub import scrub
from herorun.core.triage.catalogue import Catalogue
from herorun.core.triage.judge import Judgement, judge
from herorun.core.triage.kinds import QUIET
from herorun.core.triage.scan import Scan, finish, scan
from herorun.core.triage.seen import Seen, see

LINES = 20_000  # of the log's end: a cascade over many ranks stays well within


def read_triage(scheduler: Scheduler, job: Job, contract: Contract, place: Place) -> Triage | Nothing:
    """The root of the failure in the newest attempt; nothing while the job lives or where it left no log."""
    if not job.state.ended:
        return Nothing(f"{job.instance} has not ended")
    try:
        text = scheduler.tail(job.instance, LINES)
    except FileNotFoundError:
        return Nothing(f"{job.instance} left no log")
    return _told(_judged(_known(contract, place), text, _code(job)))


def _known(contract: Contract, place: Place) -> Catalogue:
    """With the user's own rows; where their file broke meanwhile, which reading the contract says, ours alone."""
    try:
        return catalogue.of_contract(contract, Path(place.repository))
    except WrongUse:
        return catalogue.shipped()


def _code(job: Job) -> int | None:
    """As a shell tells it: 128 and the signal's number."""
    if job.exit_code is not None or job.signal is None:
        return job.exit_code
    known = signal.Signals.__members__.get(job.signal)
    return 128 + known if known else None


def _judged(known: Catalogue, text: str, exit_code: int | None) -> Judgement:
    state, matches = scan(known, Scan(), text.encode("utf-8", "surrogateescape"))
    seen = see(Seen(), matches)
    state, matches = finish(known, state)
    return judge(known, see(seen, matches), state.said, exit_code)


def _told(found: Judgement) -> Triage:
    where = found.where
    return Triage(
        found.failure.value,
        found.role.value,
        found.fingerprint,
        where.file if where else "",
        where.line if where else None,
        scrub(found.excerpt)[:300],
        found.person and found.failure not in QUIET,  # of a log that says nothing nobody can learn more
    )
