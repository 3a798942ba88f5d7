"""Proposes commands to type, each verified at the gate to work now.

Everything that proposes a command uses this: escalations, `status`, refusals. A command that would
be refused is replaced by the next one that works; `herorun preflight`, which only shows the
blocking findings, always works.
"""

import shlex
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property

from herorun import discover
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, HerorunError
from herorun.core.event import Word
from herorun.core.evidence import Evidence, GivenUp, History, LiveJobs
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import (
    ACK_WHILE_DOWN,
    Option,
    ProposedCommand,
    command_of,
    proposal,
)
from herorun.core.plan import Plan
from herorun.core.record.lease import takeover_command
from herorun.core.recovery.classify import Cause
from herorun.gather import gather
from herorun.operations.launch.relaunch import gate_of, must_be_resumable, plan_resume
from herorun.operations.launch.rollback_target import RollbackPreview, choose, steps_to_go_back_to
from herorun.runs import Run
from herorun.system.clock import now

# seconds for all reads of a gate: a question must not wait for a store that hangs
DEADLINE = 30.0
TRIES = 5  # checkpoints that are tried, newest first
LEASE_HELD = "second-babysitter"  # the check that a takeover satisfies
STOPS = frozenset({Option.STOP_AND_RELAUNCH, Option.STOP_AND_ROLLBACK})


def reason_option(reason: str) -> str:
    """The end of a proposed order, so that a person who types it gives the reason again.

    >>> reason_option("the loss rose"), reason_option("")
    (" --reason 'the loss rose'", '')
    """
    return f" --reason {shlex.quote(reason)}" if reason else ""


@dataclass(frozen=True)
class Proposer:
    """Proposes commands about a run. `memory` may be ahead of the record by the present tick;
    `evidence` contains that tick's evidence, which must not be read again.
    """

    run: Run
    memory: Memory
    evidence: Evidence = field(default_factory=dict)
    reason: str = ""  # that a person gave for the order; the proposed one keeps it
    takes_over: bool = False  # the person first takes the run over, so its lease refuses nothing

    def proposals(
        self, ways: Sequence[Option], about: str = "", before: int | None = None, ask: bool = True
    ) -> tuple[ProposedCommand, ...]:
        """One command for each way, without duplicates. `before` is the first step of the problem;
        without `ask`, an answer is not about a relaunch.
        """
        offers = [each for way in ways if (each := self._offer(way, about, before, ask))]
        return tuple({each.command: each for each in offers}.values())

    def markdown(
        self, ways: Sequence[Option], about: str = "", before: int | None = None, ask: bool = True
    ) -> str:
        """One choice a line, as Markdown that can be read as plain text too."""
        proposals = self.proposals(ways, about, before, ask)
        return "\n".join(f"- `{each.command}`: {each.effect}" for each in proposals)

    def _offer(
        self, way: Option, about: str, before: int | None, ask: bool
    ) -> ProposedCommand | None:
        match way:
            case Option.RELAUNCH | Option.STOP_AND_RELAUNCH:
                return self._relaunch(way) or self._back_or_away(way, before)
            case Option.ROLLBACK | Option.STOP_AND_ROLLBACK:
                return self._back_or_away(way, before)
            case Option.APPROVE if ask:
                return (
                    proposal(way, self.run.slug) if self._start is not None else self._preflight()
                )
            case Option.FORK:
                return self._fork(before) or self._preflight()
            case Option.LAUNCH:
                return self._preflight()
            case Option.TAKE:  # the lease is watched first, so the command says for how long
                take = takeover_command(self.run.slug, self.run.contract.babysit.cadence)
                return replace(proposal(way, self.run.slug, about, ask), command=take)
            case Option.ACK if self._is_down:
                return ProposedCommand(command_of(way, self.run.slug, about), ACK_WHILE_DOWN)
        return proposal(way, self.run.slug, about, ask)

    def _back_or_away(self, way: Option, before: int | None) -> ProposedCommand:
        """A rollback; or a fork, if the run must not continue under its own id; or preflight."""
        never = self.run.contract.tracker.resume == "never"
        way_out = self._fork(before) if never else self._rollback(way in STOPS, before)
        return way_out or self._preflight()

    def _preflight(self) -> ProposedCommand:
        return proposal(Option.PREFLIGHT, self.run.slug)

    def _relaunch(self, way: Option) -> ProposedCommand | None:
        ending = self.memory.endings.get(self._instance)
        if self._start is None or (ending and ending.cause is Cause.NUMERIC):
            return None
        again = self._once_more(Word.RELAUNCH, (self._origin,))
        return ProposedCommand(
            f"{command_of(way, self.run.slug)}{again}", _effect(way in STOPS, self._start)
        )

    def _rollback(self, stop: bool, before: int | None) -> ProposedCommand | None:
        back = self._back(before)
        if back is None:
            return None
        way, step = Option.STOP_AND_ROLLBACK if stop else Option.ROLLBACK, back.target.step
        key = write_key(Verb.ROLLBACK, self._origin, step)
        again = self._once_more(Word.ROLLBACK, (self._origin, key))
        command = command_of(way, self.run.slug, step=step)
        what = (
            f"go back to the checkpoint of step {step}; later relaunches do not use the "
            "checkpoints saved after it"
        )
        return ProposedCommand(f"{command}{again}", f"stop the job and {what}" if stop else what)

    def _fork(self, before: int | None) -> ProposedCommand | None:
        """A fork, which only writes a new contract to read and commit."""
        steps = self._steps(before)
        if not steps:
            return None
        command = command_of(Option.FORK, self.run.slug, self._new_slug(), step=steps[0])
        what = f"write the contract of a new run from step {steps[0]}, for you to read and commit"
        return ProposedCommand(f'{command} --reason "continued from {self.run.slug}"', what)

    # --- what works -------------------------------------------------------------------------------

    @property
    def _is_down(self) -> bool:
        last = self.memory.last_decided
        return last is not None and last.run == RunHealth.DOWN

    @property
    def _instance(self) -> str:
        return self.memory.current.name if self.memory.current else ""

    @property
    def _origin(self) -> str:
        launching = self.memory.launchings.get(self._instance)
        return launching.relaunch_of if launching else ""

    def _once_more(self, word: Word, about: tuple[str, ...]) -> str:
        """The person's reason; or one that makes the order differ from an identical recent one,
        which would count as a repetition.
        """
        if self.reason:
            return reason_option(self.reason)
        repeated_order = self.memory.just_ordered(word, about, self.run.person, "", now())
        return f' --reason "{self._instance} ended too"' if repeated_order else ""

    @cached_property
    def _start(self) -> Plan | None:
        """The plan that a relaunch would follow now; None where it would be refused."""
        try:
            must_be_resumable(self.run)
            plan = plan_resume(self.run, self.memory, self._instance)
        except (HerorunError, OSError):
            return None
        return plan if self._passes(plan) else None

    def _back(self, before: int | None) -> RollbackPreview | None:
        try:
            must_be_resumable(self.run)
        except Blocked:
            return None
        for step in self._steps(before)[:TRIES]:
            back = self._rollback_to(step)
            if back and self._passes(back.plan, (back.given_up(),)):
                return back
        return None

    def _rollback_to(self, step: int) -> RollbackPreview | None:
        try:
            return choose(self.run, self._instance, step, "", self.memory, self.evidence)
        except (HerorunError, OSError):
            return None

    def _steps(self, before: int | None) -> list[int]:
        try:
            steps = steps_to_go_back_to(self.run, self.memory)
        except (HerorunError, OSError):
            return []
        return [step for step in steps if before is None or step < before]

    def _passes(self, plan: Plan, given_up: tuple[GivenUp, ...] = ()) -> bool:
        """Whether the gate would allow the plan, once the current instance has ended. True if the
        gate cannot read everything in time: the command itself will report that.
        """
        inputs = {**self.evidence, History: self.memory.history, LiveJobs: self._other_jobs}
        try:
            report = gate_of(self.run, plan, given_up, inputs, DEADLINE)
            blocking = {each.check for each in report.blocking}
            by_lease = self.takes_over and blocking == {LEASE_HELD}
            return report.verdict != "blocked" or by_lease
        except Blocked:
            return False
        except (HerorunError, OSError):
            return True

    @cached_property
    def _other_jobs(self) -> object:
        live = gather(
            [LiveJobs], discover.sources(), self.run.base_evidence(self.memory), DEADLINE
        )[LiveJobs]
        if not isinstance(live, LiveJobs):
            return live
        return LiveJobs(tuple(job for job in live.jobs if job.instance != self._instance))

    def _new_slug(self) -> str:
        folder, base = self.run.repository.top / "runs", self.run.slug[:44].rstrip("-")
        numbers = (
            number for number in range(2, 1000) if not (folder / f"{base}-{number}.toml").exists()
        )
        return f"{base}-{next(numbers)}"


def _effect(stop: bool, plan: Plan) -> str:
    start = plan.start.value
    what = f"start it again from step {start.step}" if start else "start it again from scratch"
    return f"stop the job and {what}" if stop else what
