"""The command that a person types next about a run."""

from typing import TYPE_CHECKING

from herorun.core.babysit.tick import RECEIPT, RunHealth, Tick
from herorun.core.evidence import Checkpoints, Evidence, FinalStep, LeaseSeen, Metrics
from herorun.core.finding import failed
from herorun.core.journal import Memory
from herorun.core.lineage import final_checkpoint
from herorun.core.notify.escalation import Option
from herorun.core.record.lease import takeover_command
from herorun.operations.orders.order import babysitter_runs
from herorun.operations.orders.questions import continuation_command, open_questions
from herorun.operations.report.babysitter_state import is_babysitter_lost, is_monitored_elsewhere
from herorun.operations.report.overview import stage_of
from herorun.runs import Run
from herorun.system.clock import now

if TYPE_CHECKING:
    from herorun.operations.launch.propose import Proposer


# what only the lease's owner may do
_BY_OWNER = tuple(f"herorun {order} " for order in ("launch", "relaunch", "rollback", "seal"))
JOB_END = "job-not-succeeded"  # the check that a seal of a failed job must waive


def next_command(run: Run, result: Tick | None, memory: Memory, evidence: Evidence) -> str:
    """The command that a person types next; "" if monitoring is enough. `memory` already includes
    the present evidence.
    """
    health = result.run.value if result else ""
    metrics = {Metrics: evidence[Metrics]} if Metrics in evidence else {}
    is_elsewhere = _is_leased_elsewhere(evidence)
    if result and health == RunHealth.DOWN:
        if _is_complete(evidence) and not memory.ledger.taints:
            return _seal_command(run, memory)  # a relaunch would train nothing
        return _up_again(run, result, _proposer(run, memory, metrics, is_elsewhere))
    if run.record.remote_fault:
        return f"herorun verify {run.slug}"  # it names each fault; until then nothing is pushed
    if memory.ledger.taints and not memory.sealed:
        way = Option.ROLLBACK if health == RunHealth.FINISHED else Option.STOP_AND_ROLLBACK
        proposer = _proposer(run, memory, metrics, is_elsewhere)
        return proposer.proposals((way,))[0].command
    if health == RunHealth.FINISHED and memory.unacknowledged_alerts and not memory.sealed:
        # the seal gate waits for it, and an order needs a tick that recorded the alert
        is_recorded = run.record.memory().unacknowledged_alerts
        can_ack = is_recorded or is_elsewhere
        return f"herorun ack {run.slug}" if can_ack else f"herorun babysit {run.slug} --once"
    if (
        health == RunHealth.FINISHED
        and result
        and any(each.evidence == "receipt" for each in result.awaited)
    ):
        # and for this waiver: nothing else replaces a check-in
        return f"herorun waive {RECEIPT} {run.slug}"
    commands = {
        "not initialised": f"herorun init {run.slug}",
        "initialised": f"herorun preflight {run.slug}",
        "launched": f"herorun seal {run.slug}"
        if health == RunHealth.FINISHED
        else _watched_again(run),
    }
    return commands.get(stage_of(run), "")


def typed_here(run: Run, command: str, evidence: Evidence) -> str:
    """The command as it works in this clone: what only the lease's owner may do takes the run over
    first.
    """
    if not _is_leased_elsewhere(evidence) or not command.startswith(_BY_OWNER):
        return command
    return f"{takeover_command(run.slug, run.contract.babysit.cadence)} && {command}"


def _is_leased_elsewhere(evidence: Evidence) -> bool:
    lease = evidence.get(LeaseSeen)
    return isinstance(lease, LeaseSeen) and not lease.mine


def _is_complete(evidence: Evidence) -> bool:
    """Whether the checkpoint of the final step was read now and is complete."""
    final, checkpoints = evidence.get(FinalStep), evidence.get(Checkpoints)
    if not isinstance(final, FinalStep) or not isinstance(checkpoints, Checkpoints):
        return False
    return bool(final_checkpoint(final, checkpoints))


def _seal_command(run: Run, memory: Memory) -> str:
    """A waiver of the job's end first; one that is committed is not proposed again."""
    end = failed("", subject=memory.current.name if memory.current else "")
    if not any(waiver.covers(JOB_END, end, now()) for waiver in run.waivers):
        return f"herorun waive {JOB_END} {run.slug}"
    return f"herorun {'ack' if memory.unacknowledged_alerts else 'seal'} {run.slug}"


def _watched_again(run: Run) -> str:
    return f"herorun babysit {run.slug}" if is_babysitter_lost(run) else ""


def _proposer(run: Run, memory: Memory, evidence: Evidence, takes_over: bool) -> "Proposer":
    """Imported only if there is something to propose: a healthy run does not need it."""
    from herorun.operations.launch.propose import Proposer

    return Proposer(run, memory, evidence, takes_over=takes_over)


def _up_again(run: Run, result: Tick, proposer: "Proposer") -> str:
    """The command for a run that is down: an answer to an open question; "" while a babysitter that
    relaunches it runs.
    """
    memory = proposer.memory
    name = memory.current.name if memory.current else ""
    answer = memory.answers.get(name)
    is_settled = name in memory.stopped_instances or (
        answer is not None and not answer.yes
    )  # a person decided that it stays down
    is_watched = (
        babysitter_runs(run) or is_monitored_elsewhere(run)
    ) and run.contract.babysit.recovery == "relaunch"
    waits = (
        is_watched
        and not result.stays_down
        and not is_settled
        and not memory.ledger.is_paused(now())
        and not memory.ledger.taints
    )
    if waits and not open_questions(memory):
        return ""
    return continuation_command(proposer)
