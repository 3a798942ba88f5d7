"""What an adapter is given about its surroundings: run, repository and folders."""

from herorun.core.lazy_dataclass import dataclass
from herorun.core.remote.target import RemoteTarget


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
