"""One run in one repository, with all its parts, opened only when they are used."""

from functools import cached_property
from pathlib import Path
from typing import Any

from herorun import adapter_declarations, adapters, discover
from herorun.adopted_scheduler import AdoptedScheduler, jobs_by_id
from herorun.core.check import Check, Gate, Mode
from herorun.core.contract import Contract, ContractFile, parse_contract
from herorun.core.errors import Blocked, CouldNotLook, WrongUse
from herorun.core.event import Launching
from herorun.core.evidence import (
    Adoptee,
    ContractDrift,
    FinalStep,
    IssuePage,
    Launcher,
    LaunchProof,
    Nothing,
    OpenLaunch,
    PriorLaunch,
    RecordLease,
    SourceRun,
    Unavailable,
)
from herorun.core.finding import Waiver
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.page_policy import is_the_dri
from herorun.core.ports import Layout, Place, Scheduler, Tracker
from herorun.record import Record
from herorun.runs.base import MonitoredRun
from herorun.runs.contract_trust import all_items, describe_untrusted
from herorun.runs.launch_history import final_step, prior_launch, source_run
from herorun.system import host
from herorun.system.disk_reserve import keep_reserve
from herorun.system.files import lock_file, make_folders, write_atomic
from herorun.system.git import Repository

NOTHING_ADOPTED = Nothing("no job is adopted")
NOT_COMPARED = Nothing("the contract was not compared with an admitted one")
UNPROVEN = Nothing("the record was not compared with a published commit")


@dataclass(kw_only=True)
class Run(MonitoredRun):
    """One run in one repository: its contract, its record and its adapters."""

    repository: Repository
    contract: Contract
    file: ContractFile
    drift: ContractDrift | Nothing | Unavailable = NOT_COMPARED
    unproven: LaunchProof | Nothing = UNPROVEN
    to_prove: tuple[Launching, ...] = ()  # of the record's launches, those that nothing proves
    # those that count, and of which the record alone tells something
    to_accept: tuple[Launching, ...] = ()
    closed: str = ""  # why nothing that its contract names is used; empty: it may be

    @cached_property
    def state(self) -> Path:
        """The run's private folder on this machine; `WrongUse` for a link that leads out of the
        repository.
        """
        main = self.repository.main
        folder = main / ".herorun" / self.slug
        for each in (folder.parent, folder):
            if each.is_symlink() and not each.resolve().is_relative_to(main.resolve()):
                raise WrongUse(
                    f"{each} is a symbolic link to {each.resolve()}, outside the repository, "
                    "where herorun would write private files. Remove the link."
                )
        return folder

    @property
    def top(self) -> Path:
        return self.repository.top

    @cached_property
    def place(self) -> Place:
        """Where it lies. All adapters are made from it, so nothing is used before it is trusted."""
        self.must_be_open()
        with self.naming_lines():
            reach = adapter_declarations.scheduler_reach(self.contract)
        root = self.contract.output.root.rstrip("/")
        return Place(self.slug, str(self.state), root, str(self.repository.top), reach)

    @property
    def closed_reason(self) -> str:
        """Why none of its adapters may be used: its launch is not proven, or a person has to trust
        it first.
        """
        return self.closed or describe_untrusted(self.contract, self.repository, self._trust_items)

    @cached_property
    def _trust_items(self) -> tuple[str, ...]:
        """Asked for with each adapter; whether they are trusted is read each time."""
        with self.naming_lines():
            return all_items(self.contract)

    def must_be_open(self) -> None:
        if why := self.closed_reason:
            raise CouldNotLook(why)

    @property
    def observe_only_reason(self) -> str:
        """A record with unproven lines is examined by a person before anything is
        done.
        """
        doubts = self.unproven.doubts if isinstance(self.unproven, LaunchProof) else ()
        return f"only observing: {doubts[0]}" if doubts else ""

    def must_be_proven(self) -> None:
        """`Blocked` if the record has unproven lines: a person looks before anything
        is done.
        """
        self.must_be_open()
        if isinstance(self.unproven, LaunchProof) and self.unproven.doubts:
            raise Blocked(
                f"Nothing was done: {self.unproven.doubts[0]}. Review it (`herorun logbook show "
                f"{self.slug}`), "
                f"then `herorun trust {self.slug} --reject` or `herorun trust {self.slug}`."
            )

    def must_take_orders(self) -> None:
        super().must_take_orders()
        self.must_be_proven()
        if self.record.memory().initialised is None:
            raise Blocked(f"{self.slug} has no record yet: `herorun init {self.slug}`.")

    def published_memory(self) -> Memory:
        return self.record.remote_memory()

    @property
    def name_to_type(self) -> str:
        return self.slug

    @cached_property
    def record(self) -> Record:
        contract = self.contract
        remote = (
            contract.record_remote if contract.record_remote in self.repository.remotes() else None
        )
        return Record(
            self.repository,
            self.slug,
            contract.record_branch,
            remote,
            _read_logbook_template,
            contract.logbook.path or "",
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        scheduler = self.contract.scheduler
        with self.naming_lines():
            adapter = adapters.connect(
                "schedulers",
                scheduler.kind,
                scheduler.options,
                self.place,
                adapters.scheduler_keys(self.contract),
            )
        return AdoptedScheduler(
            adapter, lambda: self.record.memory(), lambda: jobs_by_id(scheduler, self.place)
        )

    @cached_property
    def tracker(self) -> Tracker:
        tracker, own_keys = self.contract.tracker, adapters.tracker_keys(self.contract)
        with self.naming_lines():
            return adapters.connect("trackers", tracker.kind, tracker.options, self.place, own_keys)

    @cached_property
    def layout(self) -> Layout:
        layout = self.contract.checkpoints.layout
        with self.naming_lines():
            return adapters.connect("stores.layouts", layout, {}, self.place)

    @cached_property
    def committed_contract(self) -> Contract | None:
        """The contract as it is committed: what is only on disk was not reviewed."""
        if self.file.is_reviewable:
            return self.contract
        try:
            return parse_contract(self.file.committed or "", self.file.path)
        except WrongUse:
            return None

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        """Granting a waiver is a commit: those of an uncommitted contract do not count, those of
        HEAD's do.
        """
        return (
            tuple(waiver.as_signed_waiver() for waiver in self.committed_contract.waiver)
            if self.committed_contract
            else ()
        )

    @cached_property
    def mode(self) -> Mode:
        """How strictly the launch gate acts, by the committed contract. A hero run is never let
        off.
        """
        if (
            self.committed_contract is None
            or self.committed_contract.is_hero
            or self.contract.is_hero
        ):
            return Mode.ENFORCE
        return Mode(self.committed_contract.policy.mode)

    @property
    def health_checks(self) -> tuple[Check, ...]:
        """What the babysitter asks."""
        return discover.checks(Gate.HEALTH)

    def lock(self, name: str) -> Path:
        return lock_file(self.repository.common, self.slug, name)

    @cached_property
    def launcher(self) -> Launcher:
        name = self.repository.config("user.name") or host.user()
        return Launcher(host.owner(), name, host.temporary_folder(), str(self.repository.main))

    @property
    def dri(self) -> str:
        """Who is responsible, labelled where it is only inferred."""
        if self.contract.dri:
            return self.contract.dri
        launched_by = self.record.memory().launched_by
        if launched_by and launched_by != self.launcher.owner:
            return f"{launched_by} (inferred: launched the run)"
        return f"{self.launcher.user or 'unknown'} (inferred: the launching user)"

    @property
    def launched_by_dri(self) -> bool:
        """Whether the person who launches from here is the DRI, by any of their names."""
        names = (self.launcher.user, host.user(), self.repository.config("user.email") or "")
        return is_the_dri(self.contract.dri, names)

    @property
    def other_babysit_owner(self) -> str:
        """The other machine whose babysitter is to monitor the run, by its last handoff, or else by
        the contract; empty if there is none.
        """
        babysit, handover = self.contract.babysit, self.record.memory().handed
        owner = handover.to if handover else babysit.owner
        is_here = babysit.declined or owner in (None, "", self.launcher.owner)
        return "" if is_here else str(owner)

    def base_evidence(self, memory: Memory) -> dict[Any, Any]:
        """Evidence that needs no reading, and what sources read from."""
        return {
            **super().base_evidence(memory),
            Repository: self.repository,
            Tracker: self.tracker,
            Layout: self.layout,
            Adoptee: NOTHING_ADOPTED,
            type(memory.edits): memory.edits,
            FinalStep: final_step(memory),
            PriorLaunch: prior_launch(memory),
            IssuePage: IssuePage(memory.initialised.issue if memory.initialised else ""),
            ContractDrift: self.drift,
            LaunchProof: self.unproven,
            OpenLaunch: Nothing("no launch is open under an earlier scheduler"),
            SourceRun: source_run(self.repository, self.contract),
            RecordLease: RecordLease(memory.lease)
            if memory.lease
            else Nothing("it lies in the output root"),
        }

    def prepare(self) -> None:
        """Make the private state folder, invisible to git."""
        make_folders(self.state)
        hide_from_git(self.repository.main / ".herorun")
        keep_reserve(self.repository.main / ".herorun" / "reserve")
        if (
            self.state.stat().st_dev != self.repository.common.stat().st_dev
        ):  # the record's disk has one of its own
            keep_reserve(self.repository.common / "herorun" / "reserve")


def _read_logbook_template() -> str:
    from herorun.system.templates import template  # for a new logbook alone

    return template("logbook.md")


def hide_output(repository: Repository, file: Path) -> bool:
    """Let git ignore a file that is to be written, if it lies in our folder of the work tree;
    whether it does. A linked work tree or a fresh clone has no such folder yet.
    """
    folder = repository.top / ".herorun"
    is_in_it = folder in file.resolve().parents
    if is_in_it:
        hide_from_git(folder)
    return is_in_it


def hide_from_git(folder: Path) -> None:
    """Let git ignore a folder of ours and what is in it."""
    make_folders(folder)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write_atomic(ignore, b"*\n", 0o644)


def log_of(run: Run, instance: str) -> str:
    """Where an instance's log is on this machine; empty where its scheduler does not report it."""
    where = getattr(run.scheduler, "log", None)
    return str(where(instance)) if callable(where) else ""
