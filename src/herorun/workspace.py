"""From the word RUN to everything that a command needs, opened only when it is used."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from herorun import discover
from herorun.core.contract import SLUG, Contract, ContractFile, parse_contract, plan_part
from herorun.core.errors import HerorunError, WrongUse, in_words
from herorun.core.evidence import Cadence, FinalStep, Launcher, Nothing
from herorun.core.finding import Waiver
from herorun.core.journal import Memory
from herorun.core.ports import IssueTracker, Layout, Notifier, Place, Scheduler, Store, Tracker
from herorun.record import Record
from herorun.system import host
from herorun.system.files import write_whole
from herorun.system.git import Repository, find_repository


def template(name: str) -> str:
    """A file of `templates/`, from the wheel or from the checkout."""
    packaged = files("herorun") / "templates" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "templates" / name).read_text(encoding="utf-8")


@dataclass
class Run:
    """One run in one repository: its contract, its record and its adapters."""

    repository: Repository
    contract: Contract
    file: ContractFile

    @property
    def slug(self) -> str:
        return self.contract.slug

    @cached_property
    def state(self) -> Path:
        """The run's private folder on this machine."""
        return self.repository.main / ".herorun" / self.slug

    @cached_property
    def place(self) -> Place:
        return Place(
            self.slug, str(self.state), self.contract.output.root.rstrip("/"), str(self.repository.top)
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
        adapter: Scheduler = discover.connect("schedulers", told.kind, told.options, self.place)
        return adapter

    @cached_property
    def tracker(self) -> Tracker:
        told = self.contract.tracker
        adapter: Tracker = discover.connect("trackers", told.kind, told.options, self.place)
        return adapter

    @cached_property
    def store(self) -> Store:
        root = self.contract.output.root
        kind = root.partition("://")[0] if "://" in root else "local"
        adapter: Store = discover.connect("stores", kind, {}, self.place)
        return adapter

    @cached_property
    def layout(self) -> Layout:
        adapter: Layout = discover.connect("stores.layouts", self.contract.checkpoints.layout, {}, self.place)
        return adapter

    @cached_property
    def issue(self) -> IssueTracker:
        adapter: IssueTracker = discover.connect("notifiers", self.contract.issue.kind, {}, self.place)
        return adapter

    @cached_property
    def terminal(self) -> Notifier:
        adapter: Notifier = discover.connect("notifiers", "terminal", {}, self.place)
        return adapter

    @cached_property
    def limits(self) -> dict[str, Any]:
        return discover.limits(self.contract)

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        """Granting a waiver is a commit: those of an uncommitted contract do not count, those of HEAD's do."""
        contract: Contract | None = self.contract
        if not self.file.signed:
            try:
                contract = parse_contract(self.file.committed or "", self.file.path)
            except WrongUse:
                contract = None
        return tuple(waiver.signed() for waiver in contract.waiver) if contract else ()

    def lock(self, name: str) -> Path:
        """Locks lie in the git directory that all work trees of this clone share."""
        return self.repository.common / "herorun" / f"{self.slug}.{name}.lock"

    @cached_property
    def launcher(self) -> Launcher:
        return Launcher(host.owner(), self.repository.config("user.name") or host.user())

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
            Cadence: Cadence(self.contract.babysit.cadence),
            type(memory.history): memory.history,
            type(memory.unfinished): memory.unfinished,
            FinalStep: _final_step(memory),
        }

    def prepare(self) -> None:
        """Make the private state folder, invisible to git."""
        self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
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


def open_run(name: str, start: Path) -> Run:
    """The run that RUN names, with the contract as it is on disk."""
    repository = find_repository(start)
    path = contract_path(repository, name, start)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise WrongUse(f"There is no contract {path}: `herorun init {name}` writes one.") from None
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
    return run


def _committed(repository: Repository, path: str) -> str | None:
    head = repository.resolve("HEAD")
    data = repository.read(head, [path])[path] if head else None
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
    if admitted is None or plan_part(admitted) == plan_part(run.contract):
        return run, problem
    return replace_contract(run, admitted), problem or f"{run.file.path} was changed since the launch"


def replace_contract(run: Run, contract: Contract) -> Run:
    return Run(run.repository, contract, replace(run.file))


def admitted_contract(run: Run) -> Contract | None:
    """The contract at the commit of the newest launch; None before one."""
    launchings = list(run.record.memory().launchings.values())
    if not launchings:
        return None
    newest = max(launchings, key=lambda launching: launching.number)
    return contract_at(run.repository, str(newest.plan["commit"]["value"]), newest.contract_file)


def contract_at(repository: Repository, commit: str, path: str) -> Contract:
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
    written = {path.stem for path in (repository.top / "runs").glob("*.toml") if SLUG.fullmatch(path.stem)}
    yield from sorted(recorded | written)


def _final_step(memory: Memory) -> FinalStep | Nothing:
    """As the newest launch resolved it."""
    if not memory.launchings:
        return Nothing("nothing was launched yet")
    newest = max(memory.launchings.values(), key=lambda launching: launching.number)
    told = newest.plan["final_step"]
    return FinalStep(told["value"], str(told["source"]))
