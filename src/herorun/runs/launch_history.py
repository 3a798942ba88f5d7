"""What a record holds of its run's launches, as evidence: the newest one's final step and plan, the
parent run's start.
"""

from functools import lru_cache

from herorun.core.contract import SLUG, Contract, parse_contract
from herorun.core.errors import HerorunError, describe_error
from herorun.core.event import Launching
from herorun.core.evidence import (
    FinalStep,
    Nothing,
    PriorLaunch,
    RecordedLaunch,
    SourceLaunches,
    SourceRun,
    Unavailable,
)
from herorun.core.journal import Memory
from herorun.core.journal.launch_intents import plan_values
from herorun.core.lineage import is_under
from herorun.core.redaction.scrub import scrub
from herorun.record import Record
from herorun.system.git import Repository

MAX_CONTRACT_BYTES = 4 << 20  # bytes
NOT_LAUNCHED = Nothing("nothing was launched yet")


def newest(memory: Memory) -> Launching | None:
    return max(memory.launchings.values(), key=lambda launching: launching.number, default=None)


@lru_cache(maxsize=4096)
def contract_at(repository: Repository, commit: str, path: str) -> Contract:
    """The contract as a commit holds it, which no tick can find changed."""
    data = repository.read(commit, [path], MAX_CONTRACT_BYTES)[path]
    if data is None:
        raise HerorunError(
            f"The admitted contract {path} is not in commit {commit[:9]} of this clone: fetch it."
        )
    return parse_contract(data.decode(), f"{path} at {commit[:9]}")


def launched_contract(repository: Repository, launching: Launching) -> Contract:
    """The contract at the commit of a launch."""
    return contract_at(repository, str(launching.plan["commit"]["value"]), launching.contract_file)


def final_step(memory: Memory) -> FinalStep | Nothing:
    """As the newest launch resolved it."""
    launching = newest(memory)
    if launching is None:
        return NOT_LAUNCHED
    plan_entry = launching.plan["final_step"]
    return FinalStep(plan_entry["value"], str(plan_entry["source"]))


def prior_launch(memory: Memory) -> PriorLaunch | Nothing:
    """The newest launch that became an instance, or whose outcome is not known yet."""
    started_names = {instance.name for instance in memory.instances}
    unsettled_name = memory.unsettled.instance if memory.unsettled else ""
    launches = [
        each
        for name, each in memory.launchings.items()
        if name in started_names or name == unsettled_name
    ]
    if not launches:
        return NOT_LAUNCHED
    last = max(launches, key=lambda launching: launching.number)
    return PriorLaunch(last.instance, plan_values(last.plan), last.adopts is not None, last.secrets)


def source_run(repository: Repository, contract: Contract) -> SourceRun | Nothing | Unavailable:
    """What the record of `[start] source_run` holds of that run: where it wrote, and what no run
    should continue from.
    """
    slug = contract.start.source_run
    if slug is None:
        return Nothing("the contract names no source_run")
    if not SLUG.fullmatch(slug):
        return _cannot_be_a_run(slug)
    ref = f"refs/herorun/record/{slug}"
    try:
        if repository.resolve(ref) is None:
            fetch = f"git fetch {contract.record_remote} herorun/{slug}:{ref}"
            return Unavailable(f"the record of {slug} is not in this clone: `{fetch}`")
        memory = Record.discover(repository, slug).memory()
        return _source_of(repository, slug, memory)
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(describe_error(error)))


def _cannot_be_a_run(slug: str) -> Unavailable:
    """A name that no run can have is put into no ref and no proposed command."""
    return Unavailable(f"`[start] source_run` {slug!r} can be no run's name: a-z, 0-9 and -")


def _source_of(repository: Repository, slug: str, memory: Memory) -> SourceRun:
    launching, history = newest(memory), memory.history
    rejected_tags = launched_contract(repository, launching).start.rejected if launching else ()
    roots = dict.fromkeys(root for instance in history.instances for root in instance.roots)
    return SourceRun(
        slug, tuple(roots), rejected_tags, history.foreign, history.taints, history.given_up
    )


def source_launches(
    repository: Repository, contract: Contract
) -> SourceLaunches | Nothing | Unavailable:
    """The launches that may have written the checkpoint of `[start] from`: of `source_run`,
    otherwise of any recorded run.
    """
    start = contract.start
    if start.from_ is None:
        return Nothing("the contract names no checkpoint to start from")
    if start.source_run and not SLUG.fullmatch(start.source_run):
        return _cannot_be_a_run(start.source_run)
    try:
        if (
            start.source_run
            and repository.resolve(f"refs/herorun/record/{start.source_run}") is None
        ):
            return Unavailable(f"the record of {start.source_run} is not in this clone")
        slugs = [start.source_run] if start.source_run else _recorded_slugs(repository)
        launches = [each for slug in slugs for each in _launches_of(repository, slug)]
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(describe_error(error)))
    path = start.from_.rstrip("/")
    wrote = sorted(
        (each for each in launches if is_under(path, each.roots)), key=lambda each: each.at
    )
    if not wrote:
        return Nothing(f"no run that is recorded in this clone wrote {path}")
    return SourceLaunches(tuple(wrote))


def _recorded_slugs(repository: Repository) -> list[str]:
    refs = repository.git(
        "for-each-ref", "--format=%(refname)", "refs/herorun/record/"
    ).text.split()
    return [ref.removeprefix("refs/herorun/record/") for ref in refs]


def _launches_of(repository: Repository, slug: str) -> list[RecordedLaunch]:
    memory = Record.discover(repository, slug).memory()
    return [
        RecordedLaunch(
            slug, instance.name, instance.roots, launching.at, plan_values(launching.plan)
        )
        for instance in memory.instances
        if (launching := memory.launchings.get(instance.name))
    ]
