"""A path in the contract, the command or the config names an older checkpoint than the newest one.

Why: an old path discards the steps since then, or is silently ignored.
Fix: name the newest one, or none; or name the intended one in `[start] from`, with a
`[start] reason`.
Source: marin-community/marin, PR #8890: a launcher still pointed at step-54000 while the run was
paused at 58014; some 4,000 steps of 704 accelerators.
"""

from collections.abc import Iterator

from herorun.core.check import Gate, Response, check
from herorun.core.config.normalise import flatten
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lineage import acceptable
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK)
def outdated_checkpoint_path(
    contract: Contract, plan: Plan, history: History, own: Checkpoints
) -> list[Verdict]:
    """One verdict for each path. A relaunch by the babysitter passes the newest checkpoint
    itself.
    """
    newest = acceptable(own.candidates, contract, history).newest if history.instances else None
    if newest is None:
        return [not_applicable("the run has no complete checkpoint of its own")]
    if contract.start.reason:
        return [not_applicable(f"the start was chosen because: {contract.start.reason}")]
    older = {c.path: c.step for c in own.candidates if c.step < newest.step}
    mentions = {
        path: where
        for where, text in _texts(contract, plan)
        for path in older
        if _mentions_path(text, path)
    }
    return [
        failed(
            f"{where} names {path} (step {older[path]}), but {newest.path} is complete at step "
            f"{newest.step}: "
            f"{count(newest.step - older[path], 'step')} would be lost",
            subject=path,
        )
        for path, where in sorted(mentions.items())
    ] or [passed(f"nothing names an older checkpoint than {newest.path}")]


def _texts(contract: Contract, plan: Plan) -> Iterator[tuple[str, str]]:
    """What could pass a checkpoint to the job, by where it is stated."""
    for key, value in flatten(plan.config.value).items():
        if isinstance(value, str):
            yield f"the config's {key}", value
    for name, value in plan.env.value.items():
        yield f"[command] env {name}", value
    for part in plan.command_line:
        yield "the command", part
    yield "[start] from", contract.start.from_ or ""


def _mentions_path(text: str, path: str) -> bool:
    """Whether the text contains the whole path: step-54 does not name step-5."""
    _, mention, after = text.rpartition(path)
    return bool(mention) and not after[:1].isalnum()
