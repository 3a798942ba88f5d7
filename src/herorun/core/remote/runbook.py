"""The runbook: what a person or an agent without context needs to take a run over. Pure text."""

from collections.abc import Iterator, Sequence

from herorun.core.contract import Contract
from herorun.core.lazy_dataclass import dataclass
from herorun.core.patrol.advice import PatrolCommands
from herorun.core.record.lease import takeover_wait
from herorun.core.remote.job_chain import waits_for_the_job


@dataclass(frozen=True, kw_only=True)
class RunbookFacts:
    """What the record and this machine tell."""

    top: str  # of the work tree
    where: str  # the machine of the job, for people
    login: str  # the command that logs in there; empty where it is this one
    owner: str  # who writes this page, as user@machine
    instances: Sequence[tuple[str, str, str]]  # name, job id, start
    sealed: str
    branch: str
    remote: str  # that has the record; empty: it lies on this machine alone
    written_at: str


def render_runbook(contract: Contract, ways: PatrolCommands, facts: RunbookFacts) -> str:
    return (
        "\n".join(
            [
                *_head(contract, facts),
                *_signs(contract, facts),
                *_commands(contract, ways, facts),
                *_write_ways(ways),
                *_rules(contract.slug),
            ]
        )
        + "\n"
    )


def _head(contract: Contract, facts: RunbookFacts) -> Iterator[str]:
    yield f"# Taking over {contract.slug}"
    yield ""
    yield f"Written {facts.written_at} by {facts.owner}, from the contract and the record."
    yield ""
    yield from _write_fetch(contract.slug, facts)
    yield "## The first command"
    yield from _write_code(f"herorun -C {facts.top} box patrol {contract.slug}")
    yield "It prints the state in one line, then what to do, with the exact command."
    yield 'Rely on its result, not on a dashboard that shows "running".'
    yield "`herorun box watchers --dry-run` lists the waits and babysitters of this machine."
    yield ""
    yield "## The run"
    yield ""
    yield f"- goal: {contract.goal or 'none given'}"
    yield (
        f"- responsible: {contract.dri or 'the launching user'}; stop when: "
        f"{contract.stop_when or 'none given'}"
    )
    yield f"- where it runs: {facts.where}, scheduler `{contract.scheduler.kind}`" + (
        f"; log in with `{facts.login}`" if facts.login else ""
    )
    yield f"- output: `{contract.output.root}`"
    yield f"- record: branch `{facts.branch}`; sealed: {facts.sealed or 'no'}"
    yield from (
        f"- instance `{name}`: job `{job}`, submitted {started_at}"
        for name, job, started_at in facts.instances
    )
    yield ""


def _write_fetch(slug: str, facts: RunbookFacts) -> Iterator[str]:
    if not (facts.remote and facts.instances):
        return
    yield "## On another machine"
    yield ""
    yield f"Clone the repository to `{facts.top}`, or write your clone's path instead of it in all"
    yield "commands of this page. Fetch the record:"
    ref = f"refs/herorun/record/{slug}"
    yield from _write_code(
        f"git -C {facts.top} fetch {facts.remote} refs/heads/{facts.branch}:{ref}"
    )


def _signs(contract: Contract, facts: RunbookFacts) -> Iterator[str]:
    patrol, chain = contract.patrol, contract.chain
    yield "## The run is done when all of these are there"
    yield ""
    yield from (f"- marker `{path}`" for path in (*patrol.markers, *map(chain.marker, chain.stage)))
    yield from (f"- result `{path}`" for path in patrol.results)
    yield from (
        f"- `{path}` has as many files and bytes as `{local}` here"
        for path, local in patrol.copies.items()
    )
    if patrol.success_pattern:
        log = f"the log `{patrol.log}`" if patrol.log else "the job's log"
        yield f"- {log} contains `{patrol.success_pattern}`"
    if not (patrol.markers or chain.stage or patrol.results or patrol.success_pattern):
        also = f", and `herorun status {contract.slug}` says `finished`" if facts.instances else ""
        yield f"- the scheduler reports success{also}; the contract declares nothing else"
    yield ""


def _commands(contract: Contract, ways: PatrolCommands, facts: RunbookFacts) -> Iterator[str]:
    yield "## Commands"
    yield ""
    if ways.resume:
        own = contract.patrol.resume_command
        how = "relaunch it:" if own else "read its state:"
        yield f"If the patrol says that the run is down, {how}"
        yield from _write_code(ways.resume)
        if not own:
            yield from _rows_of_status()
            yield ""
    else:
        yield (
            "The command that resumes the run is unknown: herorun did not start it, and "
            "[patrol] resume_command is empty."
        )
        yield "Ask the responsible person, and write the command there."
        yield ""
    for path, command in ways.transfer:
        yield f"If `{path}` is incomplete, continue its transfer:"
        yield from _write_code(command)
    run = f"herorun -C {facts.top}"
    if facts.instances and not facts.sealed:
        wait = takeover_wait(contract.babysit.cadence)
        yield "Monitor the run with one babysitter. If the old one died, `herorun handoff` below"
        yield f"watches its lease for two cadences, at most {wait}, before it takes the run over."
        yield "`herorun babysit` ends with your session: type the line in `tmux` or `screen`:"
        yield from _write_code(
            f"{run} handoff {contract.slug} --take --wait {wait} && {run} babysit {contract.slug}"
        )
    if not facts.sealed:
        yield "Wait for the end of the run, for at most 3 hours (120 queries, one every 90 s):"
        yield from _write_code(f"{run} box wait {contract.slug}")
    if contract.chain.stage:
        yield from _write_chain(contract, ways)


def _rows_of_status() -> Iterator[str]:
    """What a person does by the rows of a status; not all of them are always there."""
    yield "Read its rows `alert`, `question`, `unfinished` and `unknown`, and the log. Then:"
    yield ""
    yield "| status has | do |"
    yield "| --- | --- |"
    yield "| `next` | type it; before an `ack` read the alert, and tell the DRI |"
    yield "| `if yes`, `roll back` or `to seal` | the DRI decides: ask the DRI first |"
    yield "| `to restart` | ask the person whom `stop`, `paused`, `answer` or `alert` names |"
    yield "| `after fix` | type it once the cause is fixed |"
    yield "| `if gone` | the DRI decides: ask the DRI, then do what `note` says |"
    yield "| `babysitter` with `overdue`, `handed over` or `not running` | do what that row says |"
    yield "| `unknown` | nothing is relaunched: do what `alert`, `unknown` and `next` say |"
    yield "| `down`, and no row above | nothing: the babysitter relaunches it by its rules |"


def _write_chain(contract: Contract, ways: PatrolCommands) -> Iterator[str]:
    """The last commands of the page: a chain without a wait would start during the training."""
    yield "The chain runs these stages on the machine, one after the other:"
    yield ""
    yield from (f"1. `{stage.name}`: `{stage.run}`" for stage in contract.chain.stage)
    yield ""
    if waits_for_the_job(contract.chain):
        yield "It waits for the end of the training. Once the job runs,"
    else:
        yield "It does not wait for the training. Once the training is done, and not before,"
    yield "copy it there and start it. It skips finished stages, runs an interrupted one again"
    yield "from its beginning, and refuses to start while another one runs:"
    yield from _write_code(ways.chain)


def _write_ways(ways: PatrolCommands) -> Iterator[str]:
    yield "## What to do after a patrol"
    yield ""
    yield "| the patrol prints | do |"
    yield "| --- | --- |"
    yield (
        "| unknown | what the patrol advises. If the machine does not answer, check in the "
        "provider's console whether it is on and its bill is paid. Restart nothing: the job may "
        "still run |"
    )
    yield "| running | nothing, or what the patrol advises below its line |"
    yield (
        "| down | follow the table under Commands. If the training itself is done, the patrol says "
        "which results are missing |"
    )
    yield "| not done | the job ended, and the run is not done: as for down |"
    to = ways.dri or "the responsible person"
    yield f"| the content of a result file | send it to {to}, unchanged |"
    yield "| files 90/100 (for example) | continue the transfer |"
    yield f"| done | tell {to}, who decides whether to seal, and remove the patrol as below |"
    yield from _write_code(ways.remove)


def _rules(slug: str) -> Iterator[str]:
    yield "## Rules"
    yield ""
    yield "- A lost connection is not a dead job: run the patrol before each restart."
    yield (
        "- Only the signs above prove that the run is done; an unchanged log, an existing folder "
        "or a missing process does not."
    )
    yield (
        "- Keep one babysitter for each run. If the old one still runs, type "
        f"`herorun handoff {slug} --to USER@MACHINE` on its machine: it gives the run to that "
        "owner, and the old babysitter ends."
    )
    yield "- Keep the ssh keys on this machine: never give them to a cloud runner."


def _write_code(*lines: str) -> Iterator[str]:
    yield ""
    yield "```sh"
    yield from lines
    yield "```"
    yield ""
