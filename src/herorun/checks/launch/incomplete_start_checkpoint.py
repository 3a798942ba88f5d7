"""The checkpoint to start from is missing or incomplete, or `argv` has `{start}`, which only
`resume_argv` may have.

Why: a trainer that finds an incomplete checkpoint crashes, or starts from scratch under the run's
name.
Fix: name a complete checkpoint in `[start] from`: one with its marker (`metadata.json`, or that of
its layout) and its data; write `{start}` only in `[command] resume_argv`.
"""

from collections.abc import Iterator

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import (
    Adoptee,
    Checkpoints,
    Nothing,
    PriorLaunch,
    StartSiblings,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan

_NO_MARKS = str.maketrans("", "", "'\"")
# A path of its own; not a part of a name that the trainer formats, nor print(f"{start}").
_START = lazy_regex(r"(?:[\w./:=,+@-]*=)?\{start\}(?:/[\w./:=,+@-]*)?")


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def incomplete_start_checkpoint(
    plan: Plan,
    own: Checkpoints | Nothing,
    siblings: StartSiblings | Nothing | Unavailable,
    prior: PriorLaunch | Nothing | Unavailable,
    adoptee: Adoptee | Nothing,
) -> Verdict:
    """If the run continues from its own checkpoint, an unreadable parent does not matter. A
    `{start}` that an earlier launch or the job to adopt was started with is no reason to stop it.
    """
    is_new = not isinstance(adoptee, Adoptee) and not _was_launched_with_it(prior)
    if is_new and (place := next(_literal_starts(plan), "")):
        return failed(
            f"{place} has {{start}}, which is replaced in resume_argv only: the job would get it "
            "as it is",
            subject=place,
        )
    if plan.start.value is None:
        return not_applicable(plan.start.source)
    return _judge_start(plan.start.value.path, own, siblings)


def _judge_start(
    path: str, own: Checkpoints | Nothing, siblings: StartSiblings | Nothing | Unavailable
) -> Verdict:
    checkpoint = Checkpoints(candidates_of(own, siblings)).at(path)
    if checkpoint is None and isinstance(siblings, Unavailable):
        return unknown(f"{path} could not be read: {siblings.why}", subject=path)
    if checkpoint is None:
        return failed(f"{path} does not exist", subject=path)
    if not checkpoint.examined:
        return unknown(
            f"{path}: {checkpoint.problem or 'it was listed but not examined'}", subject=path
        )
    if checkpoint.problem:
        return failed(f"{path} is incomplete: {checkpoint.problem}", subject=path)
    return passed(f"{path} is complete, step {checkpoint.step}", subject=path)


def _was_launched_with_it(prior: PriorLaunch | Nothing | Unavailable) -> bool:
    return isinstance(prior, PriorLaunch) and any(map(_names_start, prior.plan.get("argv", ())))


def _literal_starts(plan: Plan) -> Iterator[str]:
    """Where the command that is run has `{start}` and nothing would replace it."""
    if plan.start.value is not None and plan.resume_argv.value:
        return
    for number, word in enumerate(plan.argv.value):
        if _names_start(word):
            yield f"argv[{number}]"


def _names_start(word: str) -> bool:
    """Whether a part of the word between blanks is it; a shell drops quotation marks."""
    return any(_START.fullmatch(part) for part in word.translate(_NO_MARKS).split())
