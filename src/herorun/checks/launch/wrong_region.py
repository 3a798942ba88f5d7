"""An output root, or the start checkpoint, is in another region than the hardware.

Why: every save and restore then crosses regions, which is slow and billed by the byte.
Fix: put the root where the hardware is, or copy the checkpoint there first; correct
`[hardware] region` if it is wrong.
"""

import re

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import RootFacts
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown

# Google's dual regions. The multi-regions `us` and `asia` need no entry: the names of their regions
# begin with them.
PAIRS = {
    "nam4": ("us-central1", "us-east1"),
    "eur4": ("europe-north1", "europe-west4"),
    "eur5": ("europe-west1", "europe-west2"),
    "eur7": ("europe-west2", "europe-west3"),
    "eur8": ("europe-west3", "europe-west6"),
    "asia1": ("asia-northeast1", "asia-northeast2"),
    "eu": ("europe",),
}


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def wrong_region(contract: Contract, roots: RootFacts) -> list[Verdict]:
    """One verdict for each root whose region is known, or could not be read."""
    hardware_region = contract.hardware.region
    if not hardware_region:
        return [not_applicable("the contract states no [hardware] region")]
    unknowns = [
        unknown(f"could not read the region of {root}: {why}", why, subject=root)
        for root, why in roots.unknown_regions.items()
    ]
    verdicts = [
        _judge_region(root, region, hardware_region)
        for root, region in roots.regions.items()
        if region
    ]
    return [*verdicts, *unknowns] or [not_applicable("no store reports the region of a root")]


def _judge_region(root: str, region: str, hardware_region: str) -> Verdict:
    if is_same_region(region, hardware_region):
        return passed(
            f"{root} lies in {region}, with the hardware in {hardware_region}", subject=root
        )
    return failed(
        f"{root} lies in {region}, but the hardware is in {hardware_region}", subject=root
    )


def is_same_region(region: str, hardware_region: str) -> bool:
    """Whether one of the two is the other or lies within it; spellings may differ.

    >>> is_same_region("US-CENTRAL1", "us-central1-a"), is_same_region("US", "us-east1")
    (True, True)
    >>> is_same_region("us-east1", "us-east10")
    False
    """
    other = hardware_region.strip().lower()
    parts = [part.strip() for part in region.lower().split("+")]
    names = [*parts, *(name for part in parts for name in PAIRS.get(part, ()))]
    return any(_within(other, name) or _within(name, other) for name in names)


def _within(inner: str, outer: str) -> bool:
    """`us-central1-a` and `us-east-1a` are zones of a region; `us-east1` lies in `us`."""
    suffix = inner.removeprefix(outer)
    zone = r"-[a-z0-9]+|[a-z]" if "-" in outer else r"-.+"
    return inner == outer or (suffix != inner and bool(re.fullmatch(zone, suffix)))
