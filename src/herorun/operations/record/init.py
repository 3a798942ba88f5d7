"""Beginning a run's record and issue, each once, linking them both ways, and amending what they say
of the contract.
"""

from collections.abc import Mapping
from dataclasses import replace
from string import Template

from herorun.adapter_declarations import issue_address, tracker_links
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.config.final_step import resolve_final_step
from herorun.core.contract import Contract
from herorun.core.contract.toml_lines import line_of
from herorun.core.errors import HerorunError, WrongUse, describe_error
from herorun.core.event import Amended, Initialised
from herorun.core.evidence import Sourced
from herorun.core.identity.links import file_link
from herorun.core.lazy_dataclass import dataclass
from herorun.core.markdown import mention_dri, one_line, quote_line
from herorun.core.plan import Plan
from herorun.core.ports import Post, tracker_traits
from herorun.core.redaction.scrub import scrub, scrub_tree
from herorun.core.responsible import NOT_STATED
from herorun.runs import MonitoredRun, Run
from herorun.system.clock import now
from herorun.system.files import hold_lock
from herorun.system.git.commit_content import resolved_config

UNRESOLVED_CONFIG = "the config could not be resolved"


@dataclass(frozen=True)
class InitOutcome:
    """What `init` found or made. `warning` says why the record is not pushed."""

    created: tuple[str, ...]
    issue: str
    warning: str
    adopted: tuple[str, ...] = ()  # what was there before


def initialise(run: Run) -> InitOutcome:
    """Begin the record and the issue; a run that has them keeps them."""
    run.prepare()
    with hold_lock(run.lock("act")):
        run.record.fetch()
        run.record.must_understand()
        init_event = run.record.memory().initialised
        if init_event:
            reopen(run)
            return InitOutcome((), init_event.issue, run.record.push().why)
        final = _admissible(run)
        adopted_job = (
            run.contract.issue.number is not None or run.issue.find(issue_key(run)) is not None
        )
        issue = run.issue.open(
            _issue(run, _describe_final_step(run, final)), run.contract.issue.labels
        )
        lines = contract_lines(run, issue, final)
        run.record.append(
            Initialised(now(), run.slug, lines, issue, run.contract.logbook.path or "")
        )
        push_result = run.record.push()
    logbook = f"{run.record.logbook_path} on branch {run.record.branch}"
    page = f"issue {issue}"
    return InitOutcome(
        (logbook, *(() if adopted_job else (page,))),
        issue,
        push_result.why,
        (page,) if adopted_job else (),
    )


def _admissible(run: Run) -> Sourced[int | None]:
    """The final step of a contract that a record may begin with: committed, and its `final_step` is
    there.
    """
    path = run.file.path
    if not run.file.is_reviewable:
        raise WrongUse(
            f"{path} is not committed in its present form, and a record must name a committed "
            "contract: commit and push it "
            f"(`git add {path} && git commit`), then `herorun init {run.slug}` again."
        )
    _connect(run)
    final = resolved_final_step(run)
    missing = final.value is None and not final.source.startswith(UNRESOLVED_CONFIG)
    if isinstance(run.contract.final_step, str) and missing:
        line = line_of(run.file.text, ("final_step",))
        raise WrongUse(
            f"{path}, line {line}, says final_step = {run.contract.final_step!r}, but "
            f"{final.source}: correct one of them."
        )
    return final


def _connect(run: Run) -> None:
    """Build the adapters that the contract names; `WrongUse` for a key that their kind does not
    have, which every later command would refuse.
    """
    _ = run.scheduler, run.tracker, run.layout, run.channels


def resolved_final_step(run: Run) -> Sourced[int | None]:
    """As the config of HEAD has it. A [config] command that fails here may still work where the
    launch is planned.
    """
    contract, path = run.contract, run.file.path
    if isinstance(contract.final_step, int):
        return Sourced(contract.final_step, path)
    try:
        config, source = resolved_config(
            run.repository, contract, str(run.repository.resolve("HEAD"))
        )
    except HerorunError as error:
        if not contract.config.command:
            raise
        return Sourced(None, f"{UNRESOLVED_CONFIG}: {scrub(describe_error(error))}")
    return resolve_final_step(contract, config, source, path)


def reopen(run: MonitoredRun) -> None:
    """Open the issue's page where the record is begun and the page is not here, as in another
    clone.

    What was posted on the lost page is not posted again. Errors are the issue tracker's.
    """
    if (
        not isinstance(run, Run)
        or run.record.memory().initialised is None
        or run.issue.find(issue_key(run))
    ):
        return
    run.prepare()
    page = _issue(run, stated_contract(run).get("Final step", ""))
    again = f"{page.body}\n\nThis page was created again: earlier entries are in the logbook."
    run.issue.open(replace(page, body=again), run.contract.issue.labels)


def issue_key(run: MonitoredRun) -> str:
    return write_key(Verb.ISSUE, run.slug)


def _issue(run: Run, final_step: str) -> Post:
    contract, record = run.contract, run.record
    init_event = record.memory().initialised
    page = init_event.issue if init_event else issue_address(contract)
    remote = run.repository.remotes().get(record.remote or "", "")
    facts = {
        "kind": "Hero run" if contract.is_hero else "Run",
        "slug": run.slug,
        "goal": quote_line(contract.goal),
        "dri": mention_dri(run.dri),
        "flops": f"{contract.model_flops:.3g}" if contract.model_flops else "not stated",
        "tokens": f"{contract.tokens:.3g}" if contract.tokens else "not stated",
        "cluster": quote_line(_cluster(contract)),
        "output_root": quote_line(contract.output.root),
        "final_step": quote_line(final_step),
        "tracker_name": tracker_traits(run.tracker).label,
        "tracker": one_line("; ".join((_describe_tracker(run), *tracker_links(contract)))),
        "stop_when": quote_line(contract.stop_when),
        "logbook": file_link(record.logbook_path, record.branch, remote, page),
    }
    from herorun.system.templates import template  # for a new page alone

    body = Template(template("issue.md")).safe_substitute(
        {name: _cell(value) for name, value in facts.items()}
    )
    return Post(issue_key(run), f"{facts['kind']}: {run.slug}", body)


def _cluster(contract: Contract) -> str:
    """`local, 8 x H100, 1x8, region`, those parts that are stated."""
    hardware = contract.hardware
    chips = " x ".join(str(part) for part in (hardware.count, hardware.accelerator) if part)
    where = (contract.scheduler.kind, chips, hardware.topology, hardware.region)
    return ", ".join(part for part in where if part)


def _cell(text: str) -> str:
    """Text that stays in its cell of a table."""
    return text.replace("|", "\\|")


def contract_lines(run: Run, issue: str, final: Sourced[int | None]) -> dict[str, str]:
    """The logbook's Run Contract section, in the seed's order."""
    contract = run.contract
    lines = {
        "DRI": run.dri,
        "Goal": contract.goal,
        "Stop/escalation criteria": contract.stop_when,
        "Issue": issue,
        tracker_traits(run.tracker).label: _describe_tracker(run),
        "Output root": contract.output.root,
        "Final step": _describe_final_step(run, final),
        "Contract": run.file.path,
    }
    return {name: one_line(value) for name, value in lines.items()}


def _describe_final_step(run: Run, final: Sourced[int | None]) -> str:
    """The number and its key; the key alone if it could not be resolved here."""
    if final.value is not None:
        return str(final)
    return f"{run.contract.final_step or 'not stated'} (not resolved: {final.source})"


def amendment(run: Run, plan: Plan, instance: str) -> Amended | None:
    """What the contract that this launch is admitted under says otherwise than the record; None
    where it is the same.
    """
    before = {_plain_name(name): text for name, text in stated_contract(run).items()}
    if not before:
        return None
    after = contract_lines(run, before.get("Issue", ""), plan.final_step)
    changes = {
        name: f"{before.get(_plain_name(name)) or NOT_STATED} -> {text or NOT_STATED}"
        for name, text in scrub_tree(after).items()
        if before.get(_plain_name(name), "") != text
    }
    return Amended(now(), instance, changes, after) if changes else None


def stated_contract(run: Run) -> Mapping[str, str]:
    """The Run Contract lines that hold, by the record: those of its beginning, or as they were
    amended last.
    """
    events = (line.event for line in reversed(run.record.lines()))
    return next((e.contract for e in events if isinstance(e, (Amended, Initialised))), {})


def _plain_name(name: str) -> str:
    """Older records call every tracker W&B."""
    return "Tracker" if name == "W&B" else name


def _describe_tracker(run: Run) -> str:
    tracker = run.contract.tracker
    where = "/".join(part for part in (tracker.entity, tracker.project) if part)
    place = f"{where}/" if where else ""
    return f"{tracker.kind} {place}{tracker.id or run.slug} (resume {tracker.resume})"
