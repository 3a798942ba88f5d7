"""One tick of a patrol: inspect, decide by the table, print one line. It only reads.

It stores its last tick on this machine, to report what changed.
"""

import shlex
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from herorun.core.canonical_json import canonical, plain
from herorun.core.contract import Recovery
from herorun.core.decode import decode
from herorun.core.durations import format_span
from herorun.core.errors import HerorunError
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.patrol.advice import PatrolAdvice, PatrolCommands, PatrolState
from herorun.core.patrol.observation import HostObservation, LogEnd, MemoryUse, PreviousTick
from herorun.core.patrol.state import patrol_state_of
from herorun.core.patrol.summary_line import facts_of, movement_of, patrol_line
from herorun.core.patrol.table import decide
from herorun.core.proposed_commands import herorun_argv, in_folder
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.job_chain import (
    chain_log,
    install_and_start,
    transfer,
    waits_for_the_job,
)
from herorun.core.remote.timer import removal
from herorun.core.remote.watchdog import WatchState, watchdog
from herorun.core.untrusted_json import read_json
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.propose import Proposer
from herorun.operations.orders.order import babysitter_runs, unwatched_warnings
from herorun.operations.orders.questions import continuation_command, open_questions
from herorun.operations.record.heartbeat import is_hung, last_tick_elsewhere
from herorun.operations.remote.probe import probe_host, source
from herorun.runs import Run
from herorun.schemas.machines import PatrolDocument
from herorun.system.clock import now
from herorun.system.files import write_atomic

MEMORY = "patrol.json"
NO_MONITOR = "no babysitter runs in this clone"


@dataclass(frozen=True)
class PatrolTick:
    observation: HostObservation
    assessment: PatrolAdvice
    line: str
    before: PreviousTick | None

    def document(self) -> PatrolDocument:
        return PatrolDocument.of(
            self,
            observation=self.observation,
            state=self.assessment.state,
            advice=self.assessment.advice,
        )


def patrol(run: Run) -> PatrolTick:
    """Inspect, decide and store. Its time is bounded, even if something hangs."""
    observation = probe_host(run)
    before = read_previous_tick(run)
    advice = decide_advice(run, observation, before)
    tick = PatrolTick(observation, advice, scrub(patrol_line(observation, advice, before)), before)
    remember(run, tick)
    return tick


def decide_advice(
    run: Run, observation: HostObservation, before: PreviousTick | None = None
) -> PatrolAdvice:
    """The advice by the table. If the run is down, the launch gate decides which command continues
    it now.

    A job that succeeded without a marker may have done its work, so no earlier checkpoint is
    proposed.
    """
    ways = ways_of(run)
    is_down = patrol_state_of(observation) is PatrolState.DOWN
    is_down = is_down and (not observation.succeeded or observation.health is RunHealth.DOWN)
    if _was_launched_here(run) and not run.contract.patrol.resume_command and is_down:
        memory = with_taints_now(run, run.record.memory())
        command = continuation_command(Proposer(run, memory))
        verb = command.split()[1]
        ways = replace(
            ways,
            resume=command.replace("herorun", _herorun(run), 1),
            resume_verb=verb,
            dri_decides=_dri_decides(run),
        )
    return decide(observation, ways, before)


def _dri_decides(run: Run) -> bool:
    """Whether herorun does not relaunch it, by the rules of a tick; where that cannot be read, the
    DRI decides.
    """
    with suppress(HerorunError, OSError):
        return evaluate(run)[0].stays_down
    return True


def ways_of(run: Run) -> PatrolCommands:
    """The commands, as typed on this machine. For a run that is down, `herorun status` shows the
    command that continues it.
    """
    patrol_keys, top = run.contract.patrol, run.place.repository
    status = f"{_herorun(run)} status {run.slug}"
    login = run.place.reach.login if run.place.reach else None
    is_ours = _was_launched_here(run)
    monitor, lack, is_silent = _monitor_of(run) if is_ours else ("", "", False)
    return PatrolCommands(
        resume=patrol_keys.resume_command or (status if is_ours else ""),
        chain=install_and_start(run.contract, top, login) if run.contract.chain.stage else "",
        transfer=tuple(
            (path, transfer(source(run, local), path, login))
            for path, local in patrol_keys.copies.items()
        ),
        remove=removal(run.slug),
        memory=patrol_keys.memory_fraction,
        chain_waits=waits_for_the_job(run.contract.chain),
        logs=f"{_herorun(run)} logs {run.slug}" if is_ours else "",
        status=status if is_ours else "",
        stop=f"{_herorun(run)} stop {run.slug}" if is_ours else "",
        restart=f"{_herorun(run)} relaunch {run.slug} --stop-first" if is_ours else "",
        has_question=bool(open_questions(run.record.memory())),
        relaunches_itself=run.contract.babysit.recovery is Recovery.RELAUNCH
        and babysitter_runs(run),
        stays_down=_stays_down(run.record.memory()),
        is_settled=_is_settled(run.record.memory()),
        chain_log=chain_log(run.contract.chain) if run.contract.chain.stage else "",
        doctor=f"{_herorun(run)} doctor {run.slug}" if is_ours else "",
        patrol=f"{_herorun(run)} box patrol {run.slug}",
        dri=run.dri,
        may_seal=is_ours and not run.record.memory().sealed,
        monitor=monitor or (NO_MONITOR if is_ours and not is_hung(run) else ""),
        unmonitored=lack,
        is_silent=is_silent,
    )


def _monitor_of(run: Run) -> tuple[str, str, bool]:
    """What monitors the run, for the line; or why it may be unmonitored, and what to do; and
    whether that is certain and has lasted for two cadences.
    """
    if babysitter_runs(run):
        return "a babysitter runs in this clone", "", False
    memory = run.record.memory()
    silence = watchdog(run.slug, memory, run.contract, {}, now())
    hangs = is_hung(run)
    if not hangs and silence.monitor is WatchState.FRESH and silence.last_seen:
        age = format_span(max(now() - silence.last_seen, timedelta(0)))
        return f"last tick in the record {age} ago", "", False
    warning = as_advice(run, " ".join(unwatched_warnings(run)))
    if hangs or silence.monitor is not WatchState.STALE:
        return "", warning, hangs
    if run.record.remote_unread and (run.other_babysit_owner or last_tick_elsewhere(run)):
        return "", warning, False  # its newest ticks may be there
    return "", describe_silent(silence.why, warning), True


def describe_silent(why: str, warning: str) -> str:
    return f"{why[:1].upper()}{why[1:]}. {warning}"


def as_advice(run: Run, message: str) -> str:
    """A warning as a sentence, with commands that can be typed in any folder."""
    text = in_folder(message, run.place.repository)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _stays_down(memory: Memory) -> str:
    """Which order keeps the babysitter from relaunching the newest instance; "" if none does."""
    if memory.current is None:
        return ""
    answer = memory.answers.get(memory.current.name)
    if answer and not answer.yes:
        return f"A relaunch was {answer.summary}"
    if by := memory.stopped_instances.get(memory.current.name):
        return f"Its stop was ordered by {by}"
    pause = memory.pause if memory.ledger.is_paused(now()) else None
    if pause is None:
        return ""
    return f"{pause.by} paused automatic relaunches until {pause.until:%Y-%m-%d %H:%M} UTC"


def _is_settled(memory: Memory) -> bool:
    name = memory.current.name if memory.current else ""
    answer = memory.answers.get(name)
    return name in memory.stopped_instances or (answer is not None and not answer.yes)


def _herorun(run: Run) -> str:
    return shlex.join(herorun_argv(run.place.repository, ()))


def _was_launched_here(run: Run) -> bool:
    """Whether herorun launched the job. If not, only [patrol] resume_command can state how to
    resume it.
    """
    return run.record.memory().current is not None


# --- the tick before ------------------------------------------------------------------------------


def read_previous_tick(run: Run) -> PreviousTick | None:
    """The last tick of this machine; None if its file is missing or damaged."""
    try:
        return decode(PreviousTick, read_json((run.state / MEMORY).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(run: Run, tick: PatrolTick) -> None:
    """Store the tick for the next comparison, unless the machine could not be reached."""
    if tick.observation.unreachable:
        return
    before, observation, movement = tick.before, tick.observation, movement_of(tick.observation)
    since = before.since if before and before.movement == movement else observation.at
    step = observation.log.step if isinstance(observation.log, LogEnd) else None
    kills = observation.memory.oom_kill if isinstance(observation.memory, MemoryUse) else None
    new = PreviousTick(
        observation.at, facts_of(observation, tick.assessment), step, since, scrub(movement), kills
    )
    with suppress(OSError, HerorunError):  # a full disk prevents the next comparison, not the tick
        run.prepare()
        write_atomic(run.state / MEMORY, (canonical(plain(new)) + "\n").encode())
