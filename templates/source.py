"""How hot the GPUs of this machine are."""

import shutil

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import GpuTemperature, Nothing
from herorun.core.ports import Place
from herorun.system.process import run

TIMEOUT = 10.0  # seconds
QUERY = ("nvidia-smi", "--query-gpu=index,temperature.gpu", "--format=csv,noheader")


def read_gpu_temperature(place: Place) -> GpuTemperature | Nothing:
    """Degrees Celsius by GPU.

    `Nothing` where this machine can never answer: the job runs elsewhere, or the tool is not
    installed. Its checks are then not applicable. `CouldNotLook` where an answer was due and did
    not come: its checks are then unknown, which blocks a launch and reports the babysitter as
    blind. A missing tool that raises would blind every run on every machine without it.
    """
    if place.reach:
        return Nothing("the job runs on another machine")
    if shutil.which(QUERY[0]) is None:
        return Nothing(f"there is no {QUERY[0]} on this machine")
    result = run(QUERY, TIMEOUT)
    if result.code:
        raise CouldNotLook(f"`{QUERY[0]}` failed: {result.complaint}")
    return parse(result.text)


def parse(text: str) -> GpuTemperature:
    """`0, 64` a line."""
    try:
        rows = [line.split(",") for line in text.splitlines()]
        return GpuTemperature({int(gpu): int(celsius) for gpu, celsius in rows})
    except ValueError:
        raise CouldNotLook(f"`{QUERY[0]}` printed something other than a table.") from None
