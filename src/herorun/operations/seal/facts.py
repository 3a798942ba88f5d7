"""The result of a sealed run, as its seal states it. Reads only the record."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from herorun.core.evidence import FinalStep
from herorun.core.journal import Memory
from herorun.core.notify.notifications import progress
from herorun.core.run_summary import RunSummary
from herorun.core.seal.statement import facts_of
from herorun.operations.metrics.series import names_for
from herorun.record import MAX_BYTES
from herorun.runs import Run, final_step

_stated_facts: dict[
    str, Mapping[str, Any]
] = {}  # by the statement's digest, so an entry never changes


def facts_at_seal(run: Run, memory: Memory) -> Mapping[str, Any]:
    """Herorun's part of the statement; empty if the run is not sealed, or the record has no
    readable one.
    """
    if memory.sealed is None or run.record.tip is None:
        return {}
    from herorun.core.seal.parse import parse_statement

    digest = memory.sealed.statement_digest
    if digest not in _stated_facts:
        path = f"{run.record.files_path}/seal-{digest[7:19]}.json"
        data = run.repository.read(run.record.tip, [path], MAX_BYTES)[path]
        try:
            _stated_facts[digest] = facts_of(parse_statement(data)) if data else {}
        except ValueError:  # a form of another version of herorun
            return {}
    return _stated_facts[digest]


def summarise_sealed(run: Run, memory: Memory, summary: RunSummary) -> RunSummary:
    """The summary of a sealed run: the reached step, the planned final step, and the last loss."""
    facts = facts_at_seal(run, memory)
    final = final_step(memory)
    metrics = facts.get("final_metrics", {})
    losses = [metrics[name] for name in names_for(run).loss if isinstance(metrics.get(name), float)]
    return replace(
        summary,
        run="finished",
        awaited=(),
        step=facts.get("reached_step", summary.step),
        final_step=facts.get("final_step")
        or (final.value if isinstance(final, FinalStep) else None),
        loss=losses[0] if losses else summary.loss,
    )


def progress_at_seal(memory: Memory, summary: RunSummary) -> str:
    """The progress, such as `~900/900`; if the seal states no step, that of the last tick."""
    if summary.step is None and memory.last_decided:
        return memory.last_decided.progress
    return progress(summary.step, summary.final_step)
