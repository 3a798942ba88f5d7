"""The tracker's run is in a state that this launch must not continue, or is not there to continue.

Why: W&B silently creates an empty run for a mistyped id, and appends to another run if the id is
taken; the curves look plausible and belong to the wrong lineage.
Fix: do what the finding says: usually another `[tracker] id`, or `resume = "allow"`. Never
`resume = "auto"` for a hero run or over several hosts, and never `resume_from`.
Source: one host holds at most 8 accelerators (HGX boards, TPU hosts); beyond that `auto` is
refused.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Job,
    Nothing,
    PriorLaunch,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, passed, unknown
from herorun.core.identity.fork import judge_fork
from herorun.core.identity.intent import goes_on, intent_of, option, tracker_state_of
from herorun.core.identity.resume_matrix import AnswerWeight, Intent, judge_resume
from herorun.core.plan import Plan, TrackerRun

ONE_HOST = 8  # accelerators
AUTO_REFUSED = ", which a hero run and a run on several hosts need"
AUTO_ALLOWED = "; accepted for an ordinary run on one host"


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def tracker_identity(
    contract: Contract,
    plan: Plan,
    identity: TrackerIdentity,
    prior: PriorLaunch | Nothing,
    job: Job | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict on the id, by the truth table, and verdicts on a fork's parent and step."""
    run, rewound = plan.tracker.value, option(plan.tracker.value, "resume_from")
    if rewound:
        return [_rewind(rewound)]
    intent = intent_of(run, prior, identity.state, goes_on(plan))
    state = tracker_state_of(identity, job) if intent is Intent.RESUME else identity.state
    answers = [_about_id(run, intent, state, identity, _one_machine(contract))]
    if intent is Intent.FORK:
        answers += judge_fork(option(run, "fork_from"), run, plan.start.value, identity)
    return answers


def _rewind(resume_from: str) -> Verdict:
    message = (
        "[tracker] resume_from would rewind the run and delete logged steps permanently, "
        "which is refused: fork instead"
    )
    return failed(message, subject=resume_from)


def _one_machine(contract: Contract) -> bool:
    return not contract.is_hero and (contract.hardware.count or 1) <= ONE_HOST


def _about_id(
    run: TrackerRun,
    intent: Intent,
    state: TrackerState,
    identity: TrackerIdentity,
    one_machine: bool,
) -> Verdict:
    judgement = judge_resume(intent, state, run.resume)
    message = judgement.sentence.format(
        id=run.id, state=state, policy=run.resume, tracker=identity.tracker
    )
    if (
        intent is Intent.RESUME
        and judgement.weight is AnswerWeight.PASS
        and option(run, "fork_from")
    ):
        message += f"; it was forked before, so give {identity.tracker}'s client no fork_from again"
    if judgement.weight is AnswerWeight.UNKNOWN:
        return unknown(f"{message}: {identity.why}" if identity.why else message, subject=run.id)
    is_refused = judgement.weight is AnswerWeight.FAIL or (
        judgement.weight is AnswerWeight.WARN and not one_machine
    )
    if judgement.weight is AnswerWeight.WARN:
        message += AUTO_REFUSED if is_refused else AUTO_ALLOWED
    return failed(message, subject=run.id) if is_refused else passed(message, subject=run.id)
