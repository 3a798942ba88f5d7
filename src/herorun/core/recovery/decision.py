"""Whether and when an ended instance is relaunched: budgets, back-off, and questions to a person.

Only a terminal failure that a relaunch can cure is relaunched. All counts come from the journal, so
they are the same on every machine and after every interruption.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.alert import Alert
from herorun.core.check import Check
from herorun.core.contract import Recovery
from herorun.core.durations import format_duration
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import QUESTION_WAYS, EscalationReason, Option
from herorun.core.recovery.classify import Cause, Ending
from herorun.core.recovery.diagnosis import ROOT_GONE, TEMPORARY_GONE
from herorun.core.recovery.policy import Ledger, RecoveryPolicy, hours_used

MAX_TRIES = 3  # of one action, before a person is asked instead
MAX_WITHOUT_CHECKPOINT = 4  # ends of any kind in a row, before a person is asked
SPEND = EscalationReason.SPEND
# After these, even an approval does not relaunch: a relaunch would run the same code, numbers and
# root.
FINAL = frozenset({"veto", "numeric", "code-bug", "fixed-once", "never", ROOT_GONE, TEMPORARY_GONE})


@dataclass(frozen=True)
class RelaunchObjection:
    """Why a person must decide instead. Each kind is asked once for each instance."""

    kind: str
    why: str
    observed: bool = False  # by the contract, only a person acts
    reason: EscalationReason = EscalationReason.JUDGEMENT
    numbers: bool = False  # the numbers went wrong: an earlier checkpoint is needed

    @property
    def ways(self) -> tuple[Option, ...]:
        """The possible answers of a person."""
        if self.kind == "never":
            return (Option.FORK, Option.DENY)
        if self.kind == "numeric" or self.numbers:
            return (Option.ROLLBACK, Option.FORK, Option.LAUNCH, Option.DENY)
        if self.observed:
            return (Option.RELAUNCH, Option.DENY)
        return (Option.LAUNCH, Option.DENY) if self.final else QUESTION_WAYS

    @property
    def final(self) -> bool:
        """Whether even an approval does not relaunch: a person must launch, with code and a
        checkpoint of their choice.
        """
        return self.kind in FINAL or self.observed


def not_relaunched(instance: str, kind: str) -> str:
    """The key of the question about an objection of this kind."""
    return write_key(Verb.ESCALATE, "relaunch", instance, kind)


def relaunch_objection(
    alerts: Sequence[Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    ending: Ending | None,
    now: datetime,
) -> RelaunchObjection | None:
    """The first objection to a relaunch; None if there is none, or a person has approved all."""
    objections = [
        *_vetoes(alerts, checks, ledger),
        *_by_contract(policy),
        *(_by_ending(ending, policy, ledger) if ending else []),
        *_list_budget_objections(policy, ledger, ending, now),
        *_list_try_objections(ledger),
    ]
    final = [each for each in objections if each.final]
    open_ones = final or [each for each in objections if not _is_approved(each, ledger)]
    return open_ones[0] if open_ones else None


def _is_approved(objection: RelaunchObjection, ledger: Ledger) -> bool:
    """Whether a person approved for this instance. After another failed attempt, a new approval is
    needed.
    """
    answer, tries = ledger.answer, ledger.failed.get(write_key(Verb.RELAUNCH, ledger.instance))
    if answer is None or not answer.yes:
        return False
    return objection.kind != "tries" or tries is None or answer.at > tries.last


def _vetoes(
    alerts: Sequence[Alert], checks: Mapping[str, Check], ledger: Ledger
) -> list[RelaunchObjection]:
    """Objections by vetoing alerts. A taint vetoes permanently, even if it was found long before
    the end; and so does any veto that a person was asked about, even after its alert ended.

    So a numeric failure at the job's end does not become a hardware fault at the next tick.
    """
    firing = {a.check for a in alerts if a.firing and checks[a.check].vetoes_relaunch}
    since = {taint.check: taint.bad_step for taint in ledger.taints}
    vetoes = sorted(firing | since.keys())
    if (
        not vetoes
        and not_relaunched(ledger.instance, "veto") not in ledger.done | ledger.unfinished
    ):
        return []
    reason = next(
        (checks[name].reason for name in vetoes if name in checks), EscalationReason.JUDGEMENT
    )
    names = [f"{name} from step {step}" if (step := since.get(name)) else name for name in vetoes]
    why = f"Not relaunched because of {', '.join(names) or 'an earlier alert'}."
    numbers = any(checks[name].about_numbers for name in vetoes if name in checks)
    return [RelaunchObjection("veto", why, reason=reason, numbers=numbers)]


def _by_contract(policy: RecoveryPolicy) -> list[RelaunchObjection]:
    if not policy.resumable:
        why = (
            'The contract says [tracker] resume = "never": the run continues only under a new id '
            "and output root."
        )
        return [RelaunchObjection("never", why, reason=EscalationReason.LINEAGE)]
    if policy.recovery is Recovery.RELAUNCH:
        return []
    observe_only = policy.recovery is Recovery.OBSERVE
    then = "the babysitter relaunches nothing" if observe_only else "a person decides"
    why = f'[babysit] recovery is "{policy.recovery}": {then}.'
    return [RelaunchObjection("recovery", why, observe_only)]


def _by_ending(ending: Ending, policy: RecoveryPolicy, ledger: Ledger) -> list[RelaunchObjection]:
    if ending.cause is Cause.NUMERIC:
        return [RelaunchObjection("numeric", "herorun never relaunches after a numeric failure.")]
    objections = []
    if ending.cause is Cause.CODE_BUG:
        objections.append(_bug(ending, policy, ledger))
    elif ending.cause is Cause.LOST_OUTPUT:
        objections.append(RelaunchObjection(ending.seen, ending.advice))
    elif ending.needs_person:
        advice = f" {ending.advice}" if ending.advice else ""
        objections.append(
            RelaunchObjection(
                "person", f"A relaunch alone does not fix this failure ({ending.seen}).{advice}"
            )
        )
    if is_repeated(ending, ledger.endings):
        objections.append(
            RelaunchObjection(
                "repeated",
                "The same failure came twice, without a new complete checkpoint in between.",
            )
        )
    if count_stalled_ends(ledger.endings, ending) >= MAX_WITHOUT_CHECKPOINT:
        ends = count_stalled_ends(ledger.endings, ending)
        objections.append(
            RelaunchObjection(
                "no-progress", f"{ends} ends in a row, without a new complete checkpoint."
            )
        )
    return objections


def _bug(ending: Ending, policy: RecoveryPolicy, ledger: Ledger) -> RelaunchObjection:
    """The objection after a bug: it is reported with its place and never edited; a person may fix
    it once.
    """
    at = f" at {ending.place}" if ending.place else ""
    before = [
        e for e in ledger.endings if e.instance != ending.instance and e.cause is Cause.CODE_BUG
    ]
    repeats = sum(e.fingerprint == ending.fingerprint for e in before)
    if repeats and repeats >= policy.code_bug:
        return RelaunchObjection(
            "fixed-once",
            f"The same error{at} came again after a fix: herorun does not try again.",
        )
    if ending.advice and not ending.seen.startswith(Cause.CODE_BUG):
        return RelaunchObjection(
            "code-bug",
            f"A relaunch alone does not fix this failure ({ending.seen}{at}). {ending.advice}",
        )
    return RelaunchObjection(
        "code-bug",
        f"A bug in the code{at}: fix it, commit, and launch again. herorun does not edit code.",
    )


def is_repeated(ending: Ending, endings: Sequence[Ending]) -> bool:
    """Whether the previous instance failed in the same way, without a new complete checkpoint
    since.
    """
    earlier = [each for each in endings if each.instance != ending.instance]
    same = bool(earlier) and earlier[-1].fingerprint == ending.fingerprint
    return same and ending.advanced is False and not ending.cause.free


def count_stalled_ends(endings: Sequence[Ending], ending: Ending | None) -> int:
    """The number of consecutive ends without a new complete checkpoint, including this one."""
    row = [each for each in endings if ending is None or each.instance != ending.instance]
    row += [ending] if ending else []
    return sum(1 for _ in takewhile(lambda each: each.advanced is False, reversed(row)))


def attempts(endings: Sequence[Ending], ending: Ending | None) -> int:
    """The same number of relaunches: the first end is not a relaunch's."""
    others = sum(1 for each in endings if ending is None or each.instance != ending.instance)
    return min(count_stalled_ends(endings, ending), others - (ending is None))


def _list_budget_objections(
    policy: RecoveryPolicy, ledger: Ledger, ending: Ending | None, now: datetime
) -> list[RelaunchObjection]:
    objections = []
    if ending is not None and not ending.cause.free and ending.cause is not Cause.CODE_BUG:
        most = policy.budget(ending.cause) or 0
        if _relaunches_after(ending.cause, policy, ledger, now) >= most:
            objections.append(
                RelaunchObjection(
                    "budget",
                    f"The budget of {count(most, 'relaunch', 'relaunches')} for the cause "
                    f"{ending.cause} is spent.",
                    reason=SPEND,
                )
            )
    recent = [at for at in ledger.relaunched if now - at <= policy.window]
    if len(recent) >= policy.relaunches and not (ending and ending.cause.free):
        objections.insert(
            0,
            RelaunchObjection(
                "budget",
                f"The budget of {count(policy.relaunches, 'relaunch', 'relaunches')} is spent.",
                reason=SPEND,
            ),
        )
    return [*objections[:1], *_hours(policy, ledger, now)]


def _relaunches_after(cause: Cause, policy: RecoveryPolicy, ledger: Ledger, now: datetime) -> int:
    """The relaunches after such an end within the window."""
    return sum(
        earlier is cause and now - at <= policy.window for at, earlier in ledger.relaunch_causes
    )


def _hours(policy: RecoveryPolicy, ledger: Ledger, now: datetime) -> list[RelaunchObjection]:
    most = policy.accelerator_hours
    if most is None:
        return []
    if policy.accelerators is None:
        why = "[budget] accelerator_hours cannot be counted: [hardware] count is not stated."
        return [RelaunchObjection("hours", why, reason=SPEND)]
    hours = hours_used(ledger.spans, policy.accelerators, now)
    why = f"The budget of {most:g} accelerator-hours is spent: {hours:.1f} are used."
    return [RelaunchObjection("hours", why, reason=SPEND)] if hours >= most else []


def _list_try_objections(ledger: Ledger) -> list[RelaunchObjection]:
    tries = ledger.failed.get(write_key(Verb.RELAUNCH, ledger.instance))
    if tries and tries.count >= MAX_TRIES:
        return [
            RelaunchObjection(
                "tries",
                f"{count(tries.count, 'submission')} failed; the last one: {tries.why}",
                reason=EscalationReason.CLUSTER,
            )
        ]
    return []


def why_recoverable(ending: Ending, policy: RecoveryPolicy, ledger: Ledger, now: datetime) -> str:
    """The reason of a relaunch: why this failure is recoverable, and the remaining budget."""
    if ledger.answer and ledger.answer.yes:
        return f"recoverable: {ledger.answer.summary}"
    if ending.cause.free:
        return f"recoverable: {ending.cause} uses no budget"
    most = policy.budget(ending.cause) or 0
    number = _relaunches_after(ending.cause, policy, ledger, now) + 1
    window = format_duration(policy.window)
    return f"recoverable: {ending.cause}, relaunch {number} of {most} in {window}"
