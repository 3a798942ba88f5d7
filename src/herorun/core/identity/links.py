"""Links to the tracker's pages of a run."""

import re
from collections.abc import Iterable

from herorun.core.contract import Contract

WANDB = "https://wandb.ai"
_RUN = re.compile(r"([\w.-]+)/([\w.-]+)/([\w.-]+)")


def tracker_links(contract: Contract, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Of the contract's own run, and of those that a log names as `entity/project/id`; none for other trackers.

    >>> from herorun.core.contract import contract_from
    >>> stated = {"slug": "tiny", "command": {"argv": ["x"]}, "output": {"root": "/data"}}
    >>> stated["tracker"] = {"kind": "wandb", "entity": "lab", "project": "pre", "id": "t1"}
    >>> tracker_links(contract_from(stated, "here"), ["lab/pre/t1", "lab/pre/t2"])
    ('https://wandb.ai/lab/pre/runs/t1', 'https://wandb.ai/lab/pre/runs/t2')
    """
    told = contract.tracker
    if told.kind != "wandb":
        return ()
    base = str(told.options.get("base_url") or WANDB).rstrip("/")
    own = [f"{told.entity}/{told.project}/{told.id or contract.slug}"] if told.entity and told.project else []
    parts = (found.groups() for run in (*own, *named) if (found := _RUN.fullmatch(run)))
    return tuple(dict.fromkeys(f"{base}/{entity}/{project}/runs/{id}" for entity, project, id in parts))
