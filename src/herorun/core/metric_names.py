"""Which columns of a tracker's rows hold the loss, the gradient norm and others: by the contract,
and by their usual names.
"""

from collections.abc import Mapping

from herorun.core.contract import Contract
from herorun.core.detectors.names import Names


def names_of(contract: Contract) -> Names:
    """Which columns are which, the contract's names first."""
    own_names, usual = contract.tracker.metrics, Names()
    own_metrics = tuple(name for ours, name in own_names.items() if ours not in ("loss", "step"))
    stated_bands = contract.babysit.thresholds.get("metric-out-of-band", {}).get("bands", ())
    bands = [band.split() for band in stated_bands]
    return Names(
        loss=(own_names["loss"],) if "loss" in own_names else usual.loss,
        watched=(*own_metrics, *usual.watched),
        first_step=contract.tracker.first_step,
        norm=_merge_names(own_names, ("grad_norm",), usual.norm),
        rate=_merge_names(own_names, ("lr", "learning_rate"), usual.rate),
        time=_merge_names(own_names, ("step_time", "step_time_s"), usual.time),
        speed=_merge_names(own_names, ("tokens_per_s", "samples_per_s"), usual.speed),
        skipped=_merge_names(own_names, ("skipped",), usual.skipped),
        declared=tuple(dict.fromkeys((*own_metrics, *(band[0] for band in bands)))),
        bands=tuple((name, float(least), float(most)) for name, least, most in sorted(bands)),
        phases=tuple(sorted(phase.step for phase in contract.phase)),
    )


def _merge_names(
    own_names: Mapping[str, str], ours: tuple[str, ...], usual: tuple[str, ...]
) -> tuple[str, ...]:
    """The contract's own name for it before the usual ones."""
    return (*(own_names[name] for name in ours if name in own_names), *usual)
