"""What the record says of a run: its launches, its seal, people's orders, and its own problems."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from herorun.core.canonical_json import timestamp
from herorun.core.errors import HerorunError
from herorun.core.evidence import Evidence, LaunchProof, LeaseSeen
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.policy import ActionPause
from herorun.core.redaction.scrub import scrub
from herorun.operations.babysit.tick_json import instance_entries
from herorun.operations.orders.questions import open_questions
from herorun.operations.report.overview import stage_of
from herorun.runs import MonitoredRun, Run, log_of
from herorun.schemas.parts import Acked, InstanceEntry
from herorun.schemas.status import FailedLaunch
from herorun.system.clock import now

if TYPE_CHECKING:
    from herorun.operations.babysit.outcome import TickOutcome
    from herorun.schemas.runs import BabysitDocument

# the parts of the message of `operations.babysit.tick`
DRIFT, STANDS = "contract-drift: ", "; the admitted contract still applies"
AS_ADMITTED = "as admitted"


@dataclass(frozen=True, kw_only=True)
class RecordFacts:
    """What the record says, by the names of the fields in the JSON document of `status`."""

    slug: str
    stage: str
    instances: Sequence[InstanceEntry]
    failed_launch: FailedLaunch | None
    log: str
    seal_tag: str | None
    record: str | None
    branch: str
    doubts: Sequence[str]
    contract: str
    pushed: bool | None
    unfinished_actions: Sequence[str]
    paused: ActionPause | None
    questions: Sequence[str]
    answer: str | None
    acknowledgements: Sequence[Acked]
    stopped_by: str | None


def record_facts(run: Run, memory: Memory, drift: str) -> RecordFacts:
    """The facts that come from the record, without evidence about the job."""
    instances, (is_there, losses) = memory.instances, _branch_on_remote(run)
    doubts = [f"{DRIFT}{drift}{STANDS}"] if drift else []
    current = memory.current.name if memory.current else ""
    person_answer = memory.answers.get(current)
    return RecordFacts(
        slug=run.slug,
        stage=stage_of(run),
        instances=instance_entries(memory),
        failed_launch=_failed_launch(memory),
        log=log_of(run, instances[-1].name) if instances and not run.closed_reason else "",
        seal_tag=memory.sealed.tag if memory.sealed else None,
        record=run.record.tip,
        branch=run.record.branch,
        doubts=[*doubts, *_rejected_parts(run), *losses],
        contract=drift or AS_ADMITTED,
        pushed=is_there if _is_pushed(run) else False,
        unfinished_actions=memory.unfinished_actions.actions,
        paused=memory.pause if memory.ledger.is_paused(now()) else None,
        questions=[*_judge_question(memory), *open_questions(memory)],
        answer=person_answer.summary if person_answer else None,
        acknowledgements=_acknowledgements(memory),
        stopped_by=memory.stopped_instances.get(current),
    )


def _failed_launch(memory: Memory) -> FailedLaunch | None:
    if not memory.launchings:
        return None
    newest = list(memory.launchings.values())[-1]
    tries = memory.failed.get(newest.key)
    if tries is None:
        return None
    return FailedLaunch(
        instance=newest.instance,
        at=timestamp(tries.last.replace(microsecond=0)),
        why=" ".join(scrub(tries.why).split()),
    )


def _is_pushed(run: MonitoredRun) -> bool:
    return run.record.tip is not None and run.record.tip == run.record.pushed_tip


def _branch_on_remote(run: Run) -> tuple[bool | None, list[str]]:
    """Whether the remote still has what was pushed, None if that is unknown; and why, if it has
    not or that is unknown.
    """
    if run.record.remote_fault:
        return None, []  # what is there may lack what was pushed
    try:
        message = run.record.branch_loss()
    except HerorunError as error:
        message = f"unknown whether its branch is still on the remote: {error}"
        return None, [f"record: {scrub(message)}"]
    return not message, [f"record: {scrub(message)}"] if message else []


def _rejected_parts(run: Run) -> list[str]:
    """Which parts of the record do not count, and why only the record was read."""
    doubts = run.unproven.doubts if isinstance(run.unproven, LaunchProof) else ()
    return [
        *(
            f"only the record was read. {run.closed_reason}"
            for _ in filter(None, [run.closed_reason])
        ),
        *doubts,
    ]


def unread_lines(run: Run, evidence: Evidence, is_sealed: bool = False) -> list[str]:
    """Why another clone may have recorded more than is shown. Only the holder of the lease
    launches, relaunches or monitors, and nobody does after the seal; what must not be taken over
    concerns everyone, since it stops every push.
    """
    record, lease = run.record, evidence.get(LeaseSeen)
    if record.remote_fault:
        return [f"record: the branch on {record.remote} is not accepted: {record.remote_fault}"]
    if is_sealed or not record.remote_unread or (isinstance(lease, LeaseSeen) and lease.mine):
        return []
    return [f"record: what other clones added is unknown: {record.remote_unread}"]


def _acknowledgements(memory: Memory) -> list[Acked]:
    """Those of alerts that are open, or ended unresolved."""
    keys = (alert.key for alert in (*memory.alerts.values(), *memory.ended.values()))
    return [Acked.of(memory.acked[key], alert=key) for key in keys if key in memory.acked]


def _judge_question(memory: Memory) -> list[str]:
    return [memory.judge.question] if memory.judge.question and memory.judge.answer is None else []


def document_of(tick: "TickOutcome", **slug: str) -> "BabysitDocument":
    """The document that `babysit --json` prints; with the slug if there are several runs."""
    from herorun.schemas.runs import BabysitDocument

    drift = next((doubt_line for doubt_line in tick.doubts if doubt_line.startswith(DRIFT)), "")
    drift = drift.removeprefix(DRIFT).removesuffix(STANDS)
    return BabysitDocument.of(
        tick.entry(),
        doubts=tick.doubts,
        contract=drift or AS_ADMITTED,
        pushed=_is_pushed(tick.run),
        **slug,
    )
