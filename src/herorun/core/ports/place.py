"""What an adapter is given: its options, and its surroundings (run, repository and folders)."""

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import BaseModel, ConfigDict
from herorun.core.remote.target import RemoteTarget


class AdapterOptions(BaseModel):
    """The keys of an adapter in the contract. An unknown key is an error: it may be mistyped."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Place:
    """Where an adapter finds itself. Every adapter module has `Options` and
    `connect(options, place)`.
    """

    slug: str
    state: str  # the run's private folder, `.herorun/<slug>` of the main work tree
    output_root: str
    repository: str  # the top of the work tree
    # of the machine where paths without a scheme lie; None: this one
    reach: RemoteTarget | None = None
