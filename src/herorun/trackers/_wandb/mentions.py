"""How a program names the run of W&B that it reports to."""

from herorun.core.plan import TrackerRun
from herorun.core.ports import Mention


def wandb_mentions(run: TrackerRun) -> tuple[Mention, ...]:
    """What the contract states of id, project and entity, as arguments of `wandb.init`."""
    contract_values = {"id": run.id, "project": run.project, "entity": run.entity}
    return tuple(
        Mention(key, value, "wandb.init", key) for key, value in contract_values.items() if value
    )
