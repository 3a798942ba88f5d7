"""How checks describe excursions: all of them use the same words in the same order."""

import math
from collections.abc import Callable, Iterable

from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, count, failed, not_applicable, passed


def judge_excursions(
    metrics: Metrics,
    history: History,
    excursions: Iterable[Excursion],
    lasts: Callable[[Excursion], bool],
    calm: str,
    *,
    describe: Callable[[Excursion], str] | None = None,
    limit: Callable[[Excursion], str] | None = None,
    check: str = "",
) -> list[Verdict]:
    """One verdict for each excursion that lasts and is open, or ended since the last tick; without
    any, a pass with the message `calm`.

    `describe` formats what happened, and `limit` the threshold; the verdict has the steps of the
    excursion. If `check` needs more rows than there are, the verdict is not applicable.
    """
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    verdicts = [
        excursion_verdict(metrics, each, describe or format_ratio, _format_limit(each, limit))
        for each in excursions
        if lasts(each)
    ]
    if not verdicts and (why := metrics.why_not_judged(check)):
        return [not_applicable(f"not judged yet: {why}")]
    return verdicts or [passed(f"{calm} up to step {metrics.logged_step(metrics.step)}")]


def _format_limit(excursion: Excursion, limit: Callable[[Excursion], str] | None) -> str:
    text = limit(excursion) if limit else ""
    return f"; the limit is {text}" if text else ""


def excursion_verdict(
    metrics: Metrics,
    excursion: Excursion,
    describe: Callable[[Excursion], str],
    limit: str,
    more: str = "",
) -> Verdict:
    """A failure at the steps of the excursion. Its message has the log's own numbers; its subject,
    a name, counts completed updates, so that an alert keeps it.
    """
    return failed(
        describe(metrics.as_logged(excursion)) + limit,
        subject=f"{subject(excursion)}{more}",
        steps=(excursion.first_step, excursion.last_step),
    )


def subject(excursion: Excursion) -> str:
    return f"{excursion.metric} from step {excursion.first_step}"


def format_ratio(excursion: Excursion, reference: str = "the expected") -> str:
    change = "fell" if excursion.peak < 1 else "rose"
    return (
        f"{excursion.metric} {change} to {excursion.expected * excursion.peak:.4g} "
        f"({excursion.peak:.3g} times {reference} {excursion.expected:.4g}) "
        f"for {duration(excursion)}"
    )


def format_step(excursion: Excursion) -> str:
    """A new level of a loss that is below zero, or on both sides of zero."""
    new_level = excursion.expected + excursion.peak * excursion.noise
    return (
        f"{excursion.metric} rose from {excursion.expected:.4g} to {new_level:.4g}, by "
        f"{excursion.peak:.3g} times the range of the rows before, for {duration(excursion)}"
    )


def format_rise(excursion: Excursion) -> str:
    return format_step(excursion) if excursion.kind == "stepped" else format_ratio(excursion)


def format_slowdown(excursion: Excursion) -> str:
    """A slower pace in the metric's own unit and direction, by what it holds: a rate falls, a step
    time rises.
    """
    usual, slower = excursion.expected, excursion.usual
    if excursion.inverse:
        usual, slower = (usual if excursion.kind == "wall" else 1 / usual), 1 / slower
    name = "steps/s by the clock" if excursion.kind == "wall" else excursion.metric
    return (
        f"{name} was {usual * slower:.4g} instead of the usual {usual:.4g} "
        f"({100 * (slower - 1):+.0f} %) for {duration(excursion)}"
    )


def format_pace_limit(excursion: Excursion, slower: float) -> str:
    """A step time that is `slower` times the usual one, as `format_slowdown` states the value: a
    share of the usual rate is less, one of a step time more.
    """
    return f"{100 * ((1 / slower if excursion.inverse else slower) - 1):+.0f} %"


def format_zeros(excursion: Excursion) -> str:
    """Describes a metric that became exactly zero."""
    return (
        f"{excursion.metric} was exactly 0 for {duration(excursion)}; before, it was about "
        f"{excursion.expected:.4g}"
    )


def format_flat(flat: Excursion) -> str:
    """Describes a loss that has been flat since its first rows."""
    until = ", still in progress" if flat.open else ""
    claim = f"the run learned nothing up to step {flat.last_step}{until}"
    untrained_text = (
        f"{flat.expected:.4g}, the loss of untrained weights for {math.exp(flat.expected):.0f} "
        "classes"
    )
    if flat.kind == "chance":
        return f"{claim}: the loss has not gone below {untrained_text}"
    if flat.kind == "above":
        return f"{claim}: the loss has stayed above its first row, and above {untrained_text}"
    if flat.kind == "repeats":
        return (
            f"{claim}: the loss repeats its first rows, from {flat.expected:.6g} on, to the last "
            "digit"
        )
    return f"{claim}: the loss has not moved from {flat.expected:.4g} since its first rows"


def duration(excursion: Excursion) -> str:
    """`12 steps from step 40, ended at step 51`."""
    where = "at" if excursion.steps == 1 else "from"
    return (
        f"{count(excursion.steps, 'step')} {where} step {excursion.first_step}, {state(excursion)}"
    )


def state(excursion: Excursion) -> str:
    """Only the newest value shows that an excursion continues."""
    if not excursion.open:
        return f"ended at step {excursion.last_step}"
    return f"not seen since step {excursion.last_step}" if excursion.back else "still in progress"


def two_write(metrics: Metrics) -> str:
    """Why no attempt can be compared with the one before; empty where one can."""
    names = {"mixed": "interleaved-writers", "doubled": "duplicate-rows"}
    check_name = next((names[e.kind] for e in metrics.of(*names) if e.open), "")
    return (
        f"not comparable: these rows have more than one writer (see `{check_name}`)"
        if check_name
        else ""
    )
