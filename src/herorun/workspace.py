"""From the word RUN to everything that a command needs, opened only when it is used."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from herorun import __version__, discover
from herorun.adopted import WithAdopted, jobs_by_id
from herorun.core.asking import Way, choices
from herorun.core.check import Check, Gate, Mode
from herorun.core.contract import SLUG, Contract, ContractFile, parse_contract, plan_part
from herorun.core.drift import differences
from herorun.core.errors import HerorunError, WrongUse, in_words
from herorun.core.event import Launching
from herorun.core.evidence import (
    Adoptee,
    Cadence,
    ContractDrift,
    FinalStep,
    IssuePage,
    Launcher,
    Nothing,
    OwnVersion,
    PriorLaunch,
    RecordLease,
    SourceRun,
    Unavailable,
    Undelivered,
    Waivers,
)
from herorun.core.finding import Waiver
from herorun.core.journal import Memory
from herorun.core.ports import Channels, IssueTracker, Layout, Notifier, Place, Scheduler, Store, Tracker
from herorun.core.scrub import scrub
from herorun.record import Record
from herorun.routed import RoutedStore
from herorun.system import host
from herorun.system.files import lock_file, make_folders, write_whole
from herorun.system.git import GitFailed, Repository, find_repository


def template(name: str) -> str:
    """A file of `templates/`, from the wheel or from the checkout."""
    packaged = files("herorun") / "templates" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "templates" / name).read_text(encoding="utf-8")


NOTHING_ADOPTED = Nothing("no job is adopted")
UNCOMPARED = Nothing("the contract was compared with no admitted one")


@dataclass
class Run:
    """One run in one repository: its contract, its record and its adapters."""

    repository: Repository
    contract: Contract
    file: ContractFile
    drift: ContractDrift | Nothing | Unavailable = UNCOMPARED

    @property
    def slug(self) -> str:
        return self.contract.slug

    @cached_property
    def state(self) -> Path:
        """The run's private folder on this machine."""
        return self.repository.main / ".herorun" / self.slug

    @cached_property
    def place(self) -> Place:
        told = self.contract.scheduler
        return Place(
            self.slug,
            str(self.state),
            self.contract.output.root.rstrip("/"),
            str(self.repository.top),
            discover.reach(told.kind, told.options),
        )

    @cached_property
    def record(self) -> Record:
        contract = self.contract
        remote = contract.record_remote if contract.record_remote in self.repository.remotes() else None
        return Record(
            self.repository, self.slug, contract.record_branch, remote, lambda: template("logbook.md")
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        told = self.contract.scheduler
        adapter: Scheduler = discover.connect(
            "schedulers", told.kind, told.options, self.place, {"restarts": told.restarts}
        )
        return WithAdopted(adapter, lambda: self.record.memory(), lambda: jobs_by_id(told, self.place))

    @cached_property
    def tracker(self) -> Tracker:
        told = self.contract.tracker
        identity = told.id or self.slug
        stated = {**told.model_dump(exclude=set(told.options)), "id": identity, "name": told.name or identity}
        adapter: Tracker = discover.connect("trackers", told.kind, told.options, self.place, stated)
        return adapter

    @cached_property
    def store(self) -> Store:
        return RoutedStore(self.place)

    @cached_property
    def layout(self) -> Layout:
        adapter: Layout = discover.connect("stores.layouts", self.contract.checkpoints.layout, {}, self.place)
        return adapter

    @cached_property
    def issue(self) -> IssueTracker:
        told, begun = self.contract.issue, self.record.memory().initialised
        stated = {"repo": told.repo, "number": told.number, "known": begun.issue if begun else None}
        adapter: IssueTracker = discover.connect("notifiers", told.kind, told.options, self.place, stated)
        return adapter

    @cached_property
    def terminal(self) -> Notifier:
        adapter: Notifier = discover.connect("notifiers", "terminal", {}, self.place)
        return adapter

    @cached_property
    def channels(self) -> Channels:
        names = self.contract.notify.targets
        return Channels(
            tuple(discover.connect("notifiers", "channel", {"variable": name}, self.place) for name in names)
        )

    @cached_property
    def limits(self) -> dict[str, Any]:
        return discover.limits(self.contract)

    @cached_property
    def signed(self) -> Contract | None:
        """The contract as it is committed: what is only on disk, nobody has reviewed."""
        if self.file.signed:
            return self.contract
        try:
            return parse_contract(self.file.committed or "", self.file.path)
        except WrongUse:
            return None

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        """Granting a waiver is a commit: those of an uncommitted contract do not count, those of HEAD's do."""
        return tuple(waiver.signed() for waiver in self.signed.waiver) if self.signed else ()

    @cached_property
    def mode(self) -> Mode:
        """How strictly the launch gate acts, by the committed contract. A hero run is never let off."""
        if self.signed is None or self.signed.is_hero or self.contract.is_hero:
            return Mode.ENFORCE
        return Mode(self.signed.policy.mode)

    @property
    def health_checks(self) -> tuple[Check, ...]:
        """What the babysitter asks."""
        return discover.checks(Gate.HEALTH)

    def answers(self, ways: Sequence[Way], about: str = "") -> str:
        """What a person can do, as commands to copy."""
        return choices(ways, self.slug, about)

    def lock(self, name: str) -> Path:
        return lock_file(self.repository.common, self.slug, name)

    @cached_property
    def launcher(self) -> Launcher:
        name = self.repository.config("user.name") or host.user()
        return Launcher(host.owner(), name, host.temporary_folder())

    @property
    def dri(self) -> str:
        """Who is responsible, labelled where it is only inferred."""
        if self.contract.dri:
            return self.contract.dri
        return f"{self.launcher.user or 'unknown'} (inferred: the launching user)"

    def given(self, memory: Memory) -> dict[Any, Any]:
        """Evidence that needs no reading, and what sources read from."""
        return {
            Repository: self.repository,
            Contract: self.contract,
            ContractFile: self.file,
            Place: self.place,
            Scheduler: self.scheduler,
            Tracker: self.tracker,
            Store: self.store,
            Layout: self.layout,
            Launcher: self.launcher,
            Channels: self.channels,
            Undelivered: Undelivered(tuple((one.title, one.since, one.why) for one in memory.not_told)),
            Waivers: Waivers(self.waivers),
            Adoptee: NOTHING_ADOPTED,
            Cadence: Cadence(self.contract.babysit.cadence),
            type(memory.history): memory.history,
            type(memory.unfinished): memory.unfinished,
            type(memory.edits): memory.edits,
            FinalStep: _final_step(memory),
            PriorLaunch: _prior_launch(memory),
            IssuePage: IssuePage(memory.initialised.issue if memory.initialised else ""),
            ContractDrift: self.drift,
            OwnVersion: OwnVersion(__version__, self.contract.herorun or ""),
            SourceRun: _source_run(self),
            RecordLease: RecordLease(memory.lease) if memory.lease else Nothing("it lies in the output root"),
        }

    def prepare(self) -> None:
        """Make the private state folder, invisible to git."""
        make_folders(self.state)
        ignore = self.repository.main / ".herorun" / ".gitignore"
        if not ignore.exists():
            write_whole(ignore, b"*\n", 0o644)


def contract_path(repository: Repository, name: str, start: Path) -> Path:
    """RUN is a slug, which names `runs/<slug>.toml`, or a path."""
    if "/" in name or name.endswith(".toml"):
        path = (start / name).resolve()
        _inside(repository, path)
        return path
    if not SLUG.fullmatch(name):
        raise WrongUse(
            f"{name!r} is neither a slug (a-z, 0-9 and -, at most 48, beginning with a letter or digit) nor a path to a .toml file."
        )
    return repository.top / "runs" / f"{name}.toml"


def _instead(path: Path, name: str) -> str:
    """What to type in the place of a run that is not there: one that is, where the name is near to it."""
    from difflib import get_close_matches

    init = f"`herorun init {name}` writes one"
    if near := get_close_matches(path.stem, sorted(each.stem for each in path.parent.glob("*.toml")), 1):
        return f"did you mean {near[0]}? If not, {init}"
    return init


def open_run(name: str, start: Path) -> Run:
    """The run that RUN names, with the contract as it is on disk."""
    repository = find_repository(start)
    path = contract_path(repository, name, start)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise WrongUse(f"There is no contract {path}: {_instead(path, name)}.") from None
    except UnicodeDecodeError:
        raise WrongUse(f"The contract {path} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise WrongUse(f"The contract cannot be read: {in_words(error)}.") from None
    shown = _inside(repository, path)
    run = Run(
        repository, parse_contract(text, shown), ContractFile(shown, text, _committed(repository, shown))
    )
    if run.slug != path.stem:
        raise WrongUse(
            f"{shown} says slug = {run.slug!r}: a slug names its file. Rename the one or the other."
        )
    discover.limits(run.contract)
    _must_read_its_catalogue(run)
    return run


def _must_read_its_catalogue(run: Run) -> None:
    """A wrong row is said when the contract is read, not on the day that a log is."""
    if run.contract.babysit.catalogue:
        from herorun import catalogue

        catalogue.of_contract(run.contract, run.repository.top)


def _committed(repository: Repository, path: str) -> str | None:
    try:
        data = repository.read("HEAD", [path])[path]
    except GitFailed:  # as before the first commit
        if repository.resolve("HEAD"):
            raise
        return None
    return data.decode("utf-8", "replace") if data is not None else None


def _inside(repository: Repository, path: Path) -> str:
    try:
        return str(path.relative_to(repository.top))
    except ValueError:
        raise WrongUse(
            f"The contract {path} lies outside the repository {repository.top}: it must be committed with the code."
        ) from None


def watched_run(name: str, start: Path) -> tuple[Run, str]:
    """The run as a babysitter sees it, and what is wrong with the contract on disk (empty if nothing).

    The file is followed while it parses and its plan part is the admitted one; else the admitted contract stands.
    """
    try:
        run, problem = open_run(name, start), ""
    except HerorunError as error:
        run, problem = _admitted_by_name(name, start, error), str(error)
    run.record.fetch()
    admitted = admitted_contract(run)
    run.drift = drift_from(run, admitted, problem)
    if admitted is None or plan_part(admitted) == plan_part(run.contract):
        return run, problem
    return replace_contract(run, admitted), problem or f"{run.file.path} was changed since the launch"


def replace_contract(run: Run, contract: Contract) -> Run:
    return Run(run.repository, contract, replace(run.file), run.drift)


def drift_from(run: Run, admitted: Contract | None, problem: str = "") -> ContractDrift | Nothing:
    """What differs between the run's contract and the admitted one, or why the file cannot be followed."""
    newest = _newest(run.record.memory())
    if admitted is None or newest is None:
        return Nothing("nothing was launched yet")
    return ContractDrift(
        newest.instance, differences(plan_part(admitted), plan_part(run.contract)), scrub(problem)
    )


def log_of(run: Run, instance: str) -> str:
    """Where an instance's log is on this machine; empty where its scheduler does not tell."""
    where = getattr(run.scheduler, "log", None)
    return str(where(instance)) if callable(where) else ""


def contract_drift(run: Run) -> ContractDrift | Nothing | Unavailable:
    """The same, for a run that goes by the contract on disk."""
    try:
        return drift_from(run, admitted_contract(run))
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(in_words(error)))


def admitted_contract(run: Run) -> Contract | None:
    """The contract at the commit of the newest launch; None before one."""
    newest = _newest(run.record.memory())
    if newest is None:
        return None
    return contract_at(run.repository, str(newest.plan["commit"]["value"]), newest.contract_file)


def _newest(memory: Memory) -> Launching | None:
    return max(memory.launchings.values(), key=lambda launching: launching.number, default=None)


@lru_cache(maxsize=4096)
def contract_at(repository: Repository, commit: str, path: str) -> Contract:
    """The contract as a commit holds it, which no tick can find changed."""
    data = repository.read(commit, [path])[path]
    if data is None:
        raise HerorunError(
            f"The admitted contract {path} is not in commit {commit[:9]} of this clone: fetch it."
        )
    return parse_contract(data.decode(), f"{path} at {commit[:9]}")


def _admitted_by_name(name: str, start: Path, error: HerorunError) -> Run:
    """The contract file is gone or broken: go by the record of that slug, if there is one."""
    repository = find_repository(start)
    slug = Path(name).stem
    if not SLUG.fullmatch(slug) or repository.resolve(f"refs/herorun/record/{slug}") is None:
        raise error
    record = Record(repository, slug, f"herorun/{slug}", None, lambda: "")
    launchings = list(record.memory().launchings.values())
    if not launchings:
        raise error
    newest = max(launchings, key=lambda launching: launching.number)
    contract = contract_at(repository, str(newest.plan["commit"]["value"]), newest.contract_file)
    return Run(repository, contract, ContractFile(newest.contract_file, ""))


def known_slugs(repository: Repository) -> Iterator[str]:
    """Every run that has a contract or a record here."""
    refs = repository.git("for-each-ref", "--format=%(refname)", "refs/herorun/record/").text.split()
    recorded = {ref.removeprefix("refs/herorun/record/") for ref in refs}
    written = {path.stem for path in (repository.top / "runs").glob("*.toml") if _is_meant_as_contract(path)}
    yield from sorted(recorded | written)


def _is_meant_as_contract(path: Path) -> bool:
    """Whatever cannot be read is: it must be told of. A config that lies beside the contracts names no slug."""
    if not SLUG.fullmatch(path.stem):
        return False
    try:
        return "slug" in tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return True


def _final_step(memory: Memory) -> FinalStep | Nothing:
    """As the newest launch resolved it."""
    if not memory.launchings:
        return Nothing("nothing was launched yet")
    newest = max(memory.launchings.values(), key=lambda launching: launching.number)
    told = newest.plan["final_step"]
    return FinalStep(told["value"], str(told["source"]))


def _prior_launch(memory: Memory) -> PriorLaunch | Nothing:
    """The newest launch that became an instance, or whose outcome nobody knows yet."""
    started = {instance.name for instance in memory.instances}
    waiting = memory.unsettled.instance if memory.unsettled else ""
    known = [each for name, each in memory.launchings.items() if name in started or name == waiting]
    if not known:
        return Nothing("nothing was launched yet")
    newest = max(known, key=lambda launching: launching.number)
    plan = {name: told["value"] for name, told in newest.plan.items()}
    return PriorLaunch(newest.instance, plan, newest.adopts is not None)


def _source_run(run: Run) -> SourceRun | Nothing | Unavailable:
    """What the record of `[start] source_run` tells of that run: where it wrote, and what nobody should go on from."""
    slug = run.contract.start.source_run
    if slug is None:
        return Nothing("the contract names no source_run")
    ref = f"refs/herorun/record/{slug}"
    try:
        if not SLUG.fullmatch(slug) or run.repository.resolve(ref) is None:
            fetch = f"git fetch {run.contract.record_remote} herorun/{slug}:{ref}"
            return Unavailable(f"the record of {slug} is not in this clone: `{fetch}`")
        memory = Record(run.repository, slug, f"herorun/{slug}", None, lambda: "").memory()
        return _told_by(run.repository, slug, memory)
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(in_words(error)))


def _told_by(repository: Repository, slug: str, memory: Memory) -> SourceRun:
    newest, history = _newest(memory), memory.history
    rejected: tuple[str, ...] = ()
    if newest is not None:
        commit = str(newest.plan["commit"]["value"])
        rejected = contract_at(repository, commit, newest.contract_file).start.rejected
    roots = dict.fromkeys(root for instance in history.instances for root in instance.roots)
    return SourceRun(slug, tuple(roots), rejected, history.foreign, history.taints, history.given_up)
