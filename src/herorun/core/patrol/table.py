"""The decision table of a patrol: from the observation to one state and to the advice for a person.
Pure.
"""

from collections.abc import Iterator

from herorun.core.finding import count
from herorun.core.patrol.advice import Advice, PatrolAdvice, PatrolCommands, PatrolState
from herorun.core.patrol.decisions import ChainFact, Remedy
from herorun.core.patrol.observation import (
    ChainState,
    CommandOutput,
    FolderCopy,
    HostObservation,
    Liveness,
    LogEnd,
    MachineUnread,
    PreviousTick,
)
from herorun.core.patrol.risks import mean_use, risks
from herorun.core.patrol.state import chain_fact, decided_on, fresh, is_success_alone

IN_USE = 10  # per cent: an idle GPU is below it
_WITHOUT_RELAUNCH = {  # the verb of the next command, and what comes before it
    "rollback": "The DRI decides whether to roll back:",
    "fork": "It continues only as a new run, which the DRI decides:",
    "approve": "The babysitter waits for a yes before it relaunches the run:",
    "preflight": "A relaunch alone does not help. Once the cause is fixed, see whether a launch "
    "may start:",
}


def decide(
    observation: HostObservation, ways: PatrolCommands, before: PreviousTick | None = None
) -> PatrolAdvice:
    """The seed's rows, in its order; then what threatens the run."""
    state, remedy = decided_on(observation)
    if observation.unreachable:
        return PatrolAdvice(PatrolState.UNKNOWN, (_advise_unreachable(observation),))
    advice = [
        *_advise_down(observation, remedy, ways),
        *_advise_undecided(observation, state, ways),
        *_advise_results(observation),
        *_advise_copies(observation, ways),
        *_advise_done(observation, state, ways),
    ]
    return PatrolAdvice(state, (*advice, *risks(observation, ways, before, state)), ways.monitor)


def _advise_unreachable(observation: HostObservation) -> Advice:
    return Advice(
        "unreachable",
        f"Check in the provider's console whether {observation.where} is on and its bill is paid. "
        "Its job may still run; the patrol restarts nothing. Then repeat the patrol.",
    )


def _advise_down(
    observation: HostObservation, remedy: Remedy, ways: PatrolCommands
) -> Iterator[Advice]:
    missing = [path for path in observation.markers if not fresh(observation, path)]
    without = f" without {', '.join(missing)}" if missing else ""
    by_chain = remedy is Remedy.CHAIN and chain_fact(observation) is ChainFact.GONE
    if by_chain or (remedy is Remedy.FINISH and ways.chain):
        yield Advice(
            "chain",
            f"The training is done{without}. Start the chain; it skips finished stages:",
            ways.chain,
        )
    elif remedy is Remedy.FINISH:
        yield Advice(
            "unfinished",
            f"The training is done{without}. Create only what is missing; do not train again.",
        )
    elif remedy is Remedy.LOOK:
        note = "and its log does not contain the success pattern"
        yield Advice(
            "unproven",
            f"The job ended with success{without}, {note}: read its log before you resume it.",
        )
    elif remedy is Remedy.SAVE:
        message = (
            "The job succeeded, but its results are not complete: do not seal it. This command "
            "shows what to do:"
        )
        yield Advice("unsaved", message, ways.status)
    elif remedy is Remedy.CONFIRM:
        message = (
            "The scheduler reports that the job succeeded, but not all that shows a finished run "
            "could be read: do not seal it. This command shows what is missing:"
        )
        yield Advice("unconfirmed", message, ways.status)
    elif remedy is Remedy.RESUME:
        yield from _advise_resume(observation, without, ways)


def _advise_resume(
    observation: HostObservation, without: str, ways: PatrolCommands
) -> Iterator[Advice]:
    no_reason = "" if observation.why else ", and no reason is known"  # the line has the reason
    end = "has ended" if observation.why else "is gone"
    message = f"The job {end}{without}{no_reason}.{_describe_cause(observation, ways)}"
    if observation.gpus and isinstance(observation.gpus, tuple):
        use = mean_use(observation.gpus)
        if use >= IN_USE:
            message += f" The GPUs are {use:.0f}% busy: first look for a process that still runs."
    yield Advice("gone", f"{message} {_how_to_resume(observation, ways)}", ways.resume)
    stands_still = chain_fact(observation) in (ChainFact.GONE, ChainFact.FAILED, ChainFact.NONE)
    if ways.chain and ways.chain_waits and stands_still:
        message = "Start its chain once the job runs again, not before; it skips finished stages:"
        yield Advice("chain", message, ways.chain)


def _describe_cause(observation: HostObservation, ways: PatrolCommands) -> str:
    """What its log shows, or how to read it: a restart repeats a failure that nobody understood."""
    log = observation.log if isinstance(observation.log, LogEnd) else LogEnd()
    if log.failure:
        return f" Its log shows {log.failure}: {log.excerpt}. {log.advice}"
    if not ways.logs:
        return ""
    if ways.is_settled:  # then the cause of the end is known
        return f" `{ways.status}` shows how it ended, `{ways.logs}` shows its log."
    return f" First look for the cause: `{ways.status}`, and its log, `{ways.logs}`."


def _how_to_resume(observation: HostObservation, ways: PatrolCommands) -> str:
    from herorun.core.recovery.diagnosis import needs_fix

    if not ways.resume:
        return "Submit it again yourself: herorun does not know the command."
    if ways.stays_down:
        begins = _WITHOUT_RELAUNCH.get(ways.resume_verb, "To restart it anyway:")
        return f"{ways.stays_down}. {begins}"
    if ways.resume_verb in _WITHOUT_RELAUNCH:
        return _WITHOUT_RELAUNCH[ways.resume_verb]
    if ways.has_question:
        return f"The DRI decides (see `question` in `{ways.status}`). If yes:"
    if ways.dri_decides:
        name = f", {ways.dri}," if ways.dri else ""
        return f"The DRI{name} decides whether to relaunch it. If yes:"
    if isinstance(observation.log, LogEnd) and needs_fix(observation.log.failure):
        return "Once that is fixed, the next command is:"
    if ways.relaunches_itself:
        return "The babysitter relaunches it at a next tick if its rules allow it; to do it now:"
    if not ways.is_settled and not _has_failure(observation) and ways.logs:
        return "Once you know it, the next command is:"
    return "The next command is:"


def _has_failure(observation: HostObservation) -> bool:
    return isinstance(observation.log, LogEnd) and bool(observation.log.failure)


def _advise_undecided(
    observation: HostObservation, state: PatrolState, ways: PatrolCommands
) -> Iterator[Advice]:
    if observation.alive is Liveness.UNKNOWN and ways.doctor:
        message = (
            "Whether the job runs is unknown, so the patrol restarts nothing. See which back end "
            "answers, then repeat the patrol:"
        )
        yield Advice("unread", message, ways.doctor)
    chain = observation.chain
    is_unproven = isinstance(chain, ChainState) and not chain.waits and chain.stage
    if state is PatrolState.UNKNOWN and observation.alive is Liveness.NO and is_unproven:
        message = (
            "Whether the training is done is unknown: the chain waits for nothing, so its stages "
            "do not show it. Read the job's log before you restart anything"
        )
        yield Advice("undecided", f"{message}{':' if ways.logs else '.'}", ways.logs)


def _advise_results(observation: HostObservation) -> Iterator[Advice]:
    for path, output in observation.results.items():
        if isinstance(output, CommandOutput):
            note = "" if output.complete else "\n(cut: it is longer than a result file)"
            yield Advice("result", f"{path}:\n{output.text.rstrip()}{note}", critical=False)


def _advise_copies(observation: HostObservation, ways: PatrolCommands) -> Iterator[Advice]:
    for copy in observation.copies:
        if copy.is_complete is False:
            message = (
                f"{copy.path} has {_describe_count(copy, True)} "
                f"of the {_describe_count(copy, False)} in "
                f"{copy.source}. Resume the transfer:"
            )
            yield Advice("copy", message, ways.sends(copy.path))
        elif copy.is_complete is None:
            blind = next(
                e
                for e in (copy.remote, copy.local, MachineUnread("there is no such folder here"))
                if isinstance(e, MachineUnread)
            )
            yield Advice(
                "copy",
                f"{copy.path} could not be compared with {copy.source}: {blind.why}.",
                critical=False,
            )


def _describe_count(copy: FolderCopy, of_remote: bool) -> str:
    copy_count = copy.remote if of_remote else copy.local
    if copy_count is None or isinstance(copy_count, MachineUnread):
        return "none"
    return f"{count(copy_count.files, 'file')} ({count(copy_count.bytes, 'byte')})"


def _advise_done(
    observation: HostObservation, state: PatrolState, ways: PatrolCommands
) -> Iterator[Advice]:
    if state is not PatrolState.DONE:
        return
    message = "Everything is done."
    if is_success_alone(observation) and observation.launched_at is None:
        # a job without a contract has neither signs that could be declared nor a patrol to remove
        lack = "the contract declares no marker, result or success pattern, so "
        message = (
            "The scheduler reports that the job succeeded; "
            f"{lack if ways.remove else ''}nothing else confirms it."
        )
    if ways.may_seal:
        name = f", {ways.dri}," if ways.dri else ""
        message += f" The DRI{name} decides whether to seal the run: see `{ways.status}`."
    message += " If a timer runs the patrol, remove it:" if ways.remove else ""
    yield Advice("done", message, ways.remove, critical=False)
