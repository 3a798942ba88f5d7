"""The loss of the run whose checkpoint this one starts from: its first rows, and those before that
checkpoint.

Uses the rows that a babysitter of this machine stored; the tracker is not queried.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from herorun.core.contract import Contract
from herorun.core.evidence import History, Nothing, PriorLaunch, SourceLoss
from herorun.core.health.first_losses import ROWS, weights_of
from herorun.core.lazy_statistics import fmean
from herorun.core.metric_names import names_of
from herorun.core.ports import Place
from herorun.sources.metrics import COLUMNS

if TYPE_CHECKING:
    from herorun.system.metrics_cache import FetchedRows

NEAR = 200  # steps before the checkpoint
MEAN_ROWS = 50  # rows, at most


def read_source_loss(
    contract: Contract, place: Place, history: History, prior: PriorLaunch | Nothing
) -> SourceLoss | Nothing:
    """The source run's loss; only while the first instance runs, because later ones start from the
    run's own checkpoints.
    """
    slug = contract.start.source_run
    if (
        not slug
        or Path(slug).name != slug
        or not isinstance(prior, PriorLaunch)
        or not weights_of(prior, history)
    ):
        return Nothing("the run starts from no other run's checkpoint, or continues from its own")
    from herorun.system.metrics_cache import read_fetched

    cache = read_fetched(Path(place.state).parent / slug / COLUMNS)
    name = next((each for each in names_of(contract).loss if cache and each in cache.names), "")
    if cache is None or not name:
        return Nothing(f"no rows of {slug} are kept on this machine")
    opening = tuple(islice(_losses(cache, name), ROWS))
    start = prior.plan.get("start")
    step = start.get("step") if isinstance(start, Mapping) else None
    before = (
        list(_losses(cache, name, step - NEAR, step))[-MEAN_ROWS:] if isinstance(step, int) else []
    )
    return SourceLoss(slug, opening, fmean(before) if before else None)


def _losses(
    cache: "FetchedRows", name: str, first: int | None = None, last: int | None = None
) -> Iterator[float]:
    return (point.value for point in cache.points(name, first, last) if math.isfinite(point.value))
