"""Replays the last day when the herorun version has changed, before the new version may act: once
per change, by the journal.
"""

from herorun import __version__
from herorun.core.babysit.actions import Escalate, Tell
from herorun.core.babysit.tick import Rules
from herorun.core.event import Replayed
from herorun.core.finding import count
from herorun.core.journal import Memory
from herorun.core.notify.escalation import QUESTION_WAYS, EscalationReason
from herorun.core.version_gate import REPLAY_WINDOW, must_replay, observe_reason
from herorun.operations.babysit.perform import ActionResult, perform
from herorun.runs import MonitoredRun
from herorun.system.clock import now


def replay_for_upgrade(run: MonitoredRun, rules: Rules) -> tuple[tuple[ActionResult, ...], str]:
    """Replay if needed. Returns the notifications, and why this version only observes ("" if it may
    act).
    """
    judge, pin = run.record.memory().judge, run.contract.herorun or ""
    if must_replay(judge, __version__, pin):
        from herorun.core.version_change import summarize_replays
        from herorun.operations.babysit.replay import replays

        at = now()
        since = at - REPLAY_WINDOW
        run.record.append(
            summarize_replays(judge, __version__, pin, at, list(replays(run, rules, since)))
        )
    memory = run.record.memory()
    return _ask_about_upgrade(run, memory), observe_reason(memory.judge, __version__)


def _ask_about_upgrade(run: MonitoredRun, memory: Memory) -> tuple[ActionResult, ...]:
    """Ask whether the new version may act, or report that it decides differently with the same
    actions; once.
    """
    replay = memory.judge.replayed
    if (
        replay is None
        or replay.version != __version__
        or not replay.key
        or _has_action(memory, replay.key)
    ):
        return ()
    return (perform(run, _upgrade_action(run, replay)),)


def _has_action(memory: Memory, key: str) -> bool:
    return key in memory.done or key in memory.intended or key in memory.queued


def _upgrade_action(run: MonitoredRun, replay: Replayed) -> Tell | Escalate:
    otherwise = "; ".join(replay.changed)
    if not replay.why:
        title = f"herorun {replay.version} judges differently, but would act the same"
        return Tell(
            replay.key,
            title,
            f"different results at {replay.differ} of {count(replay.ticks, 'tick')}: {otherwise}",
        )
    why = f"{replay.why}{f' {otherwise}.' if otherwise else ''}"
    title = f"herorun {replay.version} asks whether it may act"
    return Escalate(
        key=replay.key, title=title, why=why, reason=EscalationReason.UNVERIFIED, ways=QUESTION_WAYS
    )
