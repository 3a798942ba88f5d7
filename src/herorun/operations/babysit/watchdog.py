"""The watchdog: reads the published record and reports whether the run is still monitored."""

from dataclasses import replace
from pathlib import Path

from herorun import discover
from herorun.core.check import Gate
from herorun.core.errors import CouldNotLook
from herorun.core.journal import Memory
from herorun.core.markdown import without_markup
from herorun.core.notify.page_policy import Urgency
from herorun.core.ports import Post
from herorun.core.proposed_commands import elsewhere, in_tmux
from herorun.core.record.lease import takeover_command
from herorun.core.remote.watchdog import MonitorSilence, WatchState, watchdog
from herorun.operations.record.page import send_pages
from herorun.operations.record.post import deliver, post_intent
from herorun.runs import Run, watched_run
from herorun.schemas.machines import WatchedRun
from herorun.system.clock import now


def watch_run(name: str, start: Path, comment: bool, is_named: bool = True) -> WatchedRun:
    """Check one run by its published record; posted to the issue once per silence if `comment`
    is set.

    Without a published record, a run that a person named (`is_named`) raises `CouldNotLook`: only
    the machine that launched it may have its record. Among all runs it counts as never initialised.
    """
    run, _ = watched_run(name, start)
    memory = run.record.remote_memory()
    if run.record.remote and memory.initialised is None:
        missing = f"{run.record.remote} has no branch {run.record.branch}"
        if is_named:
            status = elsewhere(f"herorun status {run.slug}")
            raise CouldNotLook(
                f"{missing}, so it is unknown whether {run.slug} was launched and needs a monitor: "
                f"see {status} on the machine that would have launched it."
            )
        why = f"{missing}: it was never initialised, or its record was deleted there"
        return WatchedRun(slug=run.slug, monitor=WatchState.NOT_WATCHED, why=why)
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    silence = watchdog(run.slug, memory, run.contract, checks, now())
    post_url = (
        _post_silence(run, memory, silence)
        if comment and silence.monitor is WatchState.STALE
        else ""
    )
    last = memory.last_decided
    return WatchedRun.of(
        silence,
        run=last.run if last else "unknown",
        issue_comment=post_url,
        takeover=propose_takeover(run) if silence.monitor is WatchState.STALE else "",
    )


def _post_silence(run: Run, memory: Memory, silence: MonitorSilence) -> str:
    """Post the silence unless the issue has it already: the machine that runs this keeps no
    journal.
    """
    if memory.initialised is None:
        raise CouldNotLook(f"{run.slug} has no published record, so its issue is unknown.")
    title = _title(run)
    body = f"**{title}**\n\n{_describe_silence(run, memory, silence)}"
    return run.issue.find(silence.key) or run.issue.post(Post(silence.key, title, body))


def _title(run: Run) -> str:
    return f"No sign of the babysitter of {run.slug}"


def propose_takeover(run: Run) -> str:
    """What monitors the run from another machine, if the one of its owner is gone."""
    take = takeover_command(run.slug, run.contract.babysit.cadence)
    return f"{take} && herorun babysit {run.slug}"


def _describe_silence(run: Run, memory: Memory, silence: MonitorSilence) -> str:
    return (
        f"{without_markup(silence.why)}. The state of the run itself is unknown meanwhile: at the "
        f"last tick it was {memory.last_decided.run if memory.last_decided else 'unknown'}."
        f"\n\n{run.dri}: check the machine of its babysitter, and start it there "
        f"{in_tmux(f'`herorun babysit {run.slug}`')}. If that machine is "
        f"gone, type in `tmux` on one that reaches the output root: `{propose_takeover(run)}`. "
        "`herorun handoff` watches the lease for two cadences before it takes the run over."
    )


def raise_alarm(name: str, start: Path) -> str:
    """Report a silence from the machine that has the record: a page and a post, once per silence.

    Returns the message; empty while the run is monitored.
    """
    run, _ = watched_run(name, start)
    memory = run.record.memory()
    checks = {check.name: check for check in discover.checks(Gate.HEALTH)}
    silence = watchdog(run.slug, memory, run.contract, checks, now())
    if silence.monitor is not WatchState.STALE:
        return ""
    if silence.key not in {*memory.done, *memory.intended, *memory.queued}:
        lines = {
            "Status": _title(run),
            "Evidence": silence.why,
            "Decision": "notify",
            "Next": "a person checks the babysitter",
        }
        intent = post_intent(
            run,
            silence.key,
            title=_title(run),
            why=_describe_silence(run, memory, silence),
            lines=lines,
            at=now(),
        )
        run.record.append(replace(intent, page=Urgency.MUST))
    try:
        memory = run.record.memory()
        if silence.key not in memory.done:
            deliver(run, {**memory.queued, **memory.intended}[silence.key])
    finally:
        send_pages(run)
        run.record.push()
    return f"{_title(run)}: {silence.why}"
