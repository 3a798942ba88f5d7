"""`ray start` of the parts that herorun asks. Runs in `.venv-services`.

Ray starts seven processes more that show or serve something else. Each imports Ray, and together
they take a twelfth of a core for as long as the head is there.
"""

import inspect
import sys
from functools import partial
from typing import Any

from ray._private import node, services
from ray.scripts.scripts import main

# /api/jobs and packages, the number of the head, cluster_status, and /api/v0
PARTS = "JobHead,NodeHead,ReportHead,StateHead"
_start_process, _start_raylet = services.start_ray_process, services.start_raylet


def start_process(command: list[str], kind: str, **options: Any) -> Any:
    parts = [f"--modules-to-load={PARTS}"] if kind == "dashboard" else []
    return _start_process([*command, *parts], kind, **options)


def start_raylet(setup_worker: str, *args: Any, **options: Any) -> Any:
    """With workers that begin by this program."""
    bound_arguments = inspect.signature(_start_raylet).bind(*args, **options)
    bound_arguments.arguments["setup_worker_path"] = setup_worker
    return _start_raylet(*bound_arguments.args, **bound_arguments.kwargs)


if __name__ == "__main__":
    if sys.argv[1].endswith(".py"):
        services.start_raylet = partial(start_raylet, sys.argv.pop(1))
    services.start_ray_process = start_process
    node.Node.start_ray_client_server = lambda self: None  # for drivers elsewhere
    main()
