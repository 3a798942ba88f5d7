"""How checks speak of excursions, so that all of them say the same things in the same order."""

from collections.abc import Callable, Iterable

from herorun.core.evidence import Excursion, History, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed


def judged(
    metrics: Metrics,
    history: History,
    excursions: Iterable[Excursion],
    lasts: Callable[[Excursion], bool],
    calm: str,
    tell: Callable[[Excursion], Verdict] | None = None,
) -> list[Verdict]:
    """One answer for each excursion that lasts, open or ended since the last look; else that all is calm."""
    if not history.wrote(metrics):
        return [not_applicable("no row of this instance yet")]
    found = [(tell or wrong)(excursion) for excursion in excursions if lasts(excursion)]
    return found or [passed(f"{calm} up to step {metrics.step}")]


def wrong(excursion: Excursion) -> Verdict:
    return failed(said(excursion), subject=subject(excursion))


def subject(excursion: Excursion) -> str:
    return f"{excursion.metric} from step {excursion.first_step}"


def said(excursion: Excursion) -> str:
    until = "still going on" if excursion.open else f"over at step {excursion.last_step}"
    return (
        f"{excursion.metric} up to {excursion.peak:.3g} times the expected {excursion.expected:.4g} "
        f"for {excursion.steps} steps from step {excursion.first_step}, {until}"
    )


def at_zero(excursion: Excursion) -> Verdict:
    """One answer for a metric that is exactly zero, where it was not."""
    until = "still going on" if excursion.open else f"over at step {excursion.last_step}"
    said = f"{excursion.metric} is exactly 0 for {excursion.steps} steps from step {excursion.first_step}, {until}"
    return failed(f"{said}; it was about {excursion.expected:.4g}", subject=subject(excursion))


def two_write(metrics: Metrics) -> str:
    """Why no attempt can be compared with the one before; empty where one can."""
    names = {"mixed": "mixed-rows", "doubled": "doubled-rows"}
    found = next((names[e.kind] for e in metrics.of(*names) if e.open), "")
    return f"not comparable: more than one writes these rows, see `{found}`" if found else ""
