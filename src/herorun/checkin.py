"""Check-in: inside the job, before it trains, compare what runs with what was admitted.

Standard library only, no network, no git. Imports of herorun's own are relative, because the same
files are shipped as herorun-checkin (`checkin/pyproject.toml`). Every rank compares; rank 0, and
any rank that refuses, writes the receipt where it can, and one line `HERORUN_RECEIPT {...}` to
standard error always. Only a difference refuses, with exit code 78.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .core.admission import FAIL, PASS, SCHEMA, UNSAID, Item, JobFacts, compare, list_refused_items

EXIT_REFUSED = 78
# A launcher's own rank comes first: the last is the number of a pod of a Job or a JobSet, in which
# a launcher may start several processes.
_RANKS = (
    "RANK",
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "JAX_PROCESS_ID",
    "JOB_COMPLETION_INDEX",
)


class Refused(SystemExit):
    """The job is not what was admitted. It ends the process with exit code 78 unless it is
    caught.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__(EXIT_REFUSED)
        self.items = tuple(items)


def check_in(
    *,
    config: Any = None,
    output_root: str | os.PathLike[str] | None = None,
    tracker_id: str | None = None,
    loaded: str | os.PathLike[str] | None = UNSAID,
    devices: Any = None,
    required: bool = False,
) -> dict[str, Any] | None:
    """Compare this process with its admission, and return the receipt: a table with `instance`,
    `attempt`, `rank`, `outcome` ("pass"), `items` (what was compared: each with `item`, `outcome`,
    `message`), `commit`, `record`, `loaded` and `at` (UTC).

    Pass what the script really uses: its resolved `config` (nested tables, dataclasses, namespaces
    or models), the `output_root` that it writes to, the `tracker_id` that it reports under, the
    checkpoint that it `loaded` (None: from scratch), and the `devices` that it trains on:
    `jax.devices()`, or `{"accelerator": "H100", "count": 8}`. Other values are read from the
    command line, the environment, the config files, and JAX or torch if the script already uses
    them; the receipt names what could not be read.

    Without an admission in the environment (`HERORUN_ADMISSION`) it prints one line and returns
    None; with `required=True` it raises `Refused`. So does a difference (exit code 78).
    """
    path = os.environ.get("HERORUN_ADMISSION")
    if not path:
        _print_error(
            "herorun: no admission in the environment (HERORUN_ADMISSION); this run is not "
            "governed."
        )
        if required:
            _refuse([Item("admission", FAIL, "required, and there is none in the environment")])
        return None
    from .process_facts import process_facts

    admission = _read_admission(path)
    job_values = process_facts(admission, config, output_root, tracker_id, loaded, devices)
    items = compare(admission, job_values)
    receipt = _receipt(admission, items, job_values)
    if rank() == 0 or list_refused_items(items):
        receipt = _write_receipt(admission, receipt)
        _print_error("HERORUN_RECEIPT " + json.dumps(receipt, sort_keys=True))
    if list_refused_items(items):
        _refuse(list_refused_items(items))
    return receipt


def _read_admission(path: str) -> dict[str, Any]:
    from .process_facts import read_patiently

    try:
        admission = json.loads(read_patiently(path))
    except (OSError, ValueError, RecursionError) as error:
        _refuse([Item("admission", FAIL, f"{path} cannot be read: {error}")])
    if not isinstance(admission, dict) or admission.get("schema") != SCHEMA:
        _refuse(
            [
                Item(
                    "admission",
                    FAIL,
                    f"{path} is not an admission that this herorun can compare with",
                )
            ]
        )
    return admission


def _refuse(items: Sequence[Item]) -> NoReturn:
    for item in items:
        _print_error(f"herorun: refused: {item.item}: {item.message}")
    _print_error(
        "herorun: this job is not what was admitted; launch it again with `herorun launch`. Exit "
        "code 78."
    )
    raise Refused(items)


def _print_error(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def rank() -> int:
    """This process among those of the job, by what its launcher set; 0 if that is unset."""
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 0


def _attempt() -> int:
    """The back end's own restart count, 1 if it reports none, plus that of the launcher."""
    restarts = os.environ.get("SLURM_RESTART_COUNT", "")
    ours = os.environ.get("HERORUN_ATTEMPT", "")
    within = os.environ.get("TORCHELASTIC_RESTART_COUNT", "")
    first = int(restarts) + 1 if restarts.isdigit() else int(ours) if ours.isdigit() else 1
    return first + (int(within) if within.isdigit() else 0)


def _receipt(
    admission: Mapping[str, Any], items: Sequence[Item], job_values: JobFacts
) -> dict[str, Any]:
    return {
        "schema": 1,
        "instance": str(admission.get("instance", "")),
        "attempt": _attempt(),
        "rank": rank(),
        "outcome": FAIL if list_refused_items(items) else PASS,
        "items": [item._asdict() for item in items],
        "commit": admission.get("commit"),
        "record": admission.get("record"),
        "loaded": job_values.loaded,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _write_receipt(admission: Mapping[str, Any], receipt: dict[str, Any]) -> dict[str, Any]:
    """The receipt as it was written; a root that cannot be written is reported in the log."""
    root = str(admission.get("output_root", ""))
    if not root or "://" in root:
        return receipt
    from .receipt_file import write_receipt

    folder = os.path.join(root, "_herorun", "receipts")
    try:
        return write_receipt(folder, receipt)
    except OSError as error:
        _print_error(
            f"herorun: the receipt could not be written under {folder}: {error.strerror}; it is "
            "in this log."
        )
        return receipt
