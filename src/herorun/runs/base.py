"""The run that a babysitter monitors: a run of a repository, or a job without a contract."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herorun import __version__, adapters
from herorun.core.babysit.actions import Tell
from herorun.core.check import Check
from herorun.core.contract import Contract, ContractFile, Recovery, locate_faults
from herorun.core.errors import WrongTable
from herorun.core.evidence import Cadence, Evidence, Launcher, OwnVersion, Undelivered, Waivers
from herorun.core.finding import Waiver
from herorun.core.journal import Memory
from herorun.core.notify.escalation import Option
from herorun.core.ports import (
    Channels,
    IssueTracker,
    Notifier,
    Place,
    Scheduler,
    SendOnlyNotifier,
    Store,
)
from herorun.record import RunRecord
from herorun.runs.notifiers import connect_channel, connect_issue, connect_send_only
from herorun.runs.thresholds import check_limits
from herorun.store_router import RoutedStore

if TYPE_CHECKING:
    from herorun.core.adhoc_jobs.cause import JobCause


class MonitoredRun(ABC):
    """All that the engine asks of what it watches. `Run` and `JobRun` are the two."""

    contract: Contract
    file: ContractFile

    @property
    @abstractmethod
    def record(self) -> RunRecord:
        """Where all that happens to it is written down."""

    @property
    @abstractmethod
    def scheduler(self) -> Scheduler:
        """Where it runs."""

    @property
    @abstractmethod
    def place(self) -> Place:
        """Which run this is, and where its parts lie."""

    @property
    def top(self) -> Path | None:
        """The folder of its repository; None for a job without a contract."""
        return None

    @property
    @abstractmethod
    def state(self) -> Path:
        """Its private folder on this machine."""

    @property
    @abstractmethod
    def launcher(self) -> Launcher:
        """Who acts, and from where."""

    @property
    @abstractmethod
    def dri(self) -> str:
        """Who is responsible, labelled where it is only inferred."""

    @property
    def why_only_observed(self) -> str:
        """Why herorun never relaunches it by itself; empty where it may."""
        if self.contract.babysit.recovery is not Recovery.OBSERVE:
            return ""
        if self.top is None:
            return "its babysitter has no resubmit command"
        return '[babysit] recovery is "observe"'

    @property
    def person(self) -> str:
        """Who types here."""
        return self.launcher.user or self.launcher.owner

    @property
    @abstractmethod
    def waivers(self) -> tuple[Waiver, ...]:
        """What was signed for, so it is not reported again."""

    @property
    @abstractmethod
    def health_checks(self) -> tuple[Check, ...]:
        """What the babysitter asks."""

    @abstractmethod
    def lock(self, name: str) -> Path:
        """The file by which processes on this machine exclude each other."""

    def base_evidence(self, memory: Memory) -> dict[Any, Any]:
        """Evidence that needs no reading, and what sources read from."""
        return {
            Contract: self.contract,
            ContractFile: self.file,
            Place: self.place,
            Scheduler: self.scheduler,
            Store: self.store,
            Launcher: self.launcher,
            Channels: self.channels,
            Undelivered: Undelivered(
                tuple((one.title, one.since, one.why) for one in memory.undelivered_alerts)
            ),
            Waivers: Waivers(self.waivers),
            Cadence: Cadence(self.contract.babysit.cadence),
            OwnVersion: OwnVersion(__version__, self.contract.herorun or ""),
            type(memory.history): memory.history,
            type(memory.unfinished_actions): memory.unfinished_actions,
        }

    def must_take_orders(self) -> None:
        """An error says why no order may be carried out."""
        self.record.must_understand()

    def published_memory(self) -> Memory:
        """The record as others can read it; a job has only this one."""
        return self.record.memory()

    @property
    def name_to_type(self) -> str:
        """What commands take as RUN; empty for a job, which they take by --job."""
        return ""

    @property
    def observe_only_reason(self) -> str:
        """Why the babysitter only observes, whatever else allows it to act; empty: nothing keeps
        it.
        """
        return ""

    @abstractmethod
    def prepare(self) -> None:
        """Make the private state folder."""

    def submit_again(self, instance: str, why: str) -> str:
        """Start the next instance of a job without a contract; a run with one goes through the
        launch gate.
        """
        raise NotImplementedError

    def answers(self, ways: Sequence[Option], about: str = "") -> str:
        """What a person may decide about a job without a contract, as Markdown; a run with one asks
        its gate.
        """
        raise NotImplementedError

    @property
    def ends_with_job(self) -> bool:
        """Whether nothing is left to watch once the job has ended, as where nobody seals it."""
        return False

    def own_news(self, evidence: Evidence, cause: "JobCause | None") -> list[Tell]:
        """What this tick reports for the first time, besides the alerts and the milestones."""
        return []

    def own_doubts(self, evidence: Evidence) -> list[str]:
        """What a person should know about this tick besides its findings."""
        return []

    def cause(self, evidence: Evidence) -> "JobCause | None":
        """Why the job failed, of a run that no launch gate will ask about it."""
        return None

    def furthest_before(self, step: int | None) -> int | None:
        """The highest step of an earlier tick, where steps are trained again without a word from
        the tracker; `step` is this tick's. None if it is not kept.
        """
        return None

    @property
    def status_command(self) -> str:
        """What a person types to see how it stands."""
        return shlex.join(["herorun", "status", self.slug])

    @property
    def slug(self) -> str:
        return self.contract.slug

    @cached_property
    def store(self) -> Store:
        return RoutedStore(self.place)

    @contextmanager
    def naming_lines(self, table: str = "") -> Iterator[None]:
        """What an adapter does not take of its table, or of this one, is named by its line, with
        what is wrong in the other tables.
        """
        try:
            yield
        except WrongTable as error:
            from herorun.runs.adapter_tables import other_faults  # imported for a fault alone

            error.table = table or error.table
            errors = [error, *other_faults(self.contract, self.top)]
            raise locate_faults(errors, self.file) from None

    @cached_property
    def issue(self) -> IssueTracker:
        table, init_event = self.contract.issue, self.record.memory().initialised
        stated_options = {
            "repo": table.repo,
            "number": table.number,
            "recorded_issue": init_event.issue if init_event else None,
        }
        with self.naming_lines():
            return connect_issue(table.kind, table.options, self.place, stated_options)

    @cached_property
    def terminal(self) -> Notifier:
        return adapters.connect("notifiers", "terminal", {}, self.place)

    @cached_property
    def channels(self) -> Channels:
        notify = self.contract.notify
        addressed_channels = (
            connect_channel(name, self.place) for name in notify.address_variables
        )
        return Channels((*addressed_channels, *map(self._send_only, notify.kinds)))

    def _send_only(self, kind: str) -> SendOnlyNotifier:
        options = self.contract.notify.options.get(kind, {})
        with self.naming_lines(f"notify.{kind}"):
            return connect_send_only(kind, options, self.place)

    @cached_property
    def limits(self) -> dict[str, Any]:
        return check_limits(self.contract)
