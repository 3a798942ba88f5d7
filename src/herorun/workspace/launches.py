"""What a record tells of its run's launches, as evidence: the newest one's final step and plan, the parent run's start."""

from functools import lru_cache

from herorun.core.contract import SLUG, Contract, parse_contract
from herorun.core.errors import HerorunError, in_words
from herorun.core.event import Launching
from herorun.core.evidence import FinalStep, Nothing, PriorLaunch, SourceRun, Unavailable
from herorun.core.journal import Memory
from herorun.core.scrub import scrub
from herorun.record import Record
from herorun.system.git import Repository

NOT_LAUNCHED = Nothing("nothing was launched yet")


def newest(memory: Memory) -> Launching | None:
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


def launched_contract(repository: Repository, launching: Launching) -> Contract:
    """The contract at the commit of a launch."""
    return contract_at(repository, str(launching.plan["commit"]["value"]), launching.contract_file)


def final_step(memory: Memory) -> FinalStep | Nothing:
    """As the newest launch resolved it."""
    launching = newest(memory)
    if launching is None:
        return NOT_LAUNCHED
    told = launching.plan["final_step"]
    return FinalStep(told["value"], str(told["source"]))


def prior_launch(memory: Memory) -> PriorLaunch | Nothing:
    """The newest launch that became an instance, or whose outcome nobody knows yet."""
    started = {instance.name for instance in memory.instances}
    waiting = memory.unsettled.instance if memory.unsettled else ""
    known = [each for name, each in memory.launchings.items() if name in started or name == waiting]
    if not known:
        return NOT_LAUNCHED
    last = max(known, key=lambda launching: launching.number)
    plan = {name: told["value"] for name, told in last.plan.items()}
    return PriorLaunch(last.instance, plan, last.adopts is not None)


def source_run(repository: Repository, contract: Contract) -> SourceRun | Nothing | Unavailable:
    """What the record of `[start] source_run` tells of that run: where it wrote, and what nobody should go on from."""
    slug = contract.start.source_run
    if slug is None:
        return Nothing("the contract names no source_run")
    ref = f"refs/herorun/record/{slug}"
    try:
        if not SLUG.fullmatch(slug) or repository.resolve(ref) is None:
            fetch = f"git fetch {contract.record_remote} herorun/{slug}:{ref}"
            return Unavailable(f"the record of {slug} is not in this clone: `{fetch}`")
        memory = Record.found(repository, slug).memory()
        return _told_by(repository, slug, memory)
    except (HerorunError, OSError) as error:
        return Unavailable(scrub(in_words(error)))


def _told_by(repository: Repository, slug: str, memory: Memory) -> SourceRun:
    launching, history = newest(memory), memory.history
    rejected = launched_contract(repository, launching).start.rejected if launching else ()
    roots = dict.fromkeys(root for instance in history.instances for root in instance.roots)
    return SourceRun(slug, tuple(roots), rejected, history.foreign, history.taints, history.given_up)
