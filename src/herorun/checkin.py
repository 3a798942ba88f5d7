"""Check-in: inside the job, before it trains, compare what runs with what was admitted.

Standard library only, no network, no git. Imports of herorun's own are relative, because the same
files are shipped as herorun-checkin (`checkin/pyproject.toml`). Every rank compares; rank 0, and
any rank that refuses, writes the receipt where it can, and one line `HERORUN_RECEIPT {...}` to
standard error always. Only a difference refuses, with exit code 78.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from .core.admission import (
    FAIL,
    PASS,
    SCHEMA,
    Item,
    Presented,
    compare,
    refused,
    seen_devices,
)

EXIT_REFUSED = 78
READING = 2.0  # seconds for which an admission is tried again that is there and cannot be read
HASHING = 0.040  # seconds that hashing the code may take; what was seen until then is said
UNSAID = "\0unsaid"  # not passed at all: another thing than None, which is "from scratch"
_MISSING = (FileNotFoundError, NotADirectoryError, IsADirectoryError)  # there is no such file
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JAX_PROCESS_ID")


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
    """Compare this process with its admission, and return the receipt.

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
    admission = _read_admission(path)
    job_values = _present(admission, config, output_root, tracker_id, loaded, devices)
    items = compare(admission, job_values)
    receipt = _receipt(admission, items, job_values)
    if rank() == 0 or refused(items):
        receipt = _write_receipt(admission, receipt)
        _print_error("HERORUN_RECEIPT " + json.dumps(receipt, sort_keys=True))
    if refused(items):
        _refuse(refused(items))
    return receipt


def _read_admission(path: str) -> dict[str, Any]:
    try:
        admission = json.loads(_read_patiently(path))
    except (OSError, ValueError, RecursionError) as error:
        _refuse([Item("admission", FAIL, f"{path} cannot be read: {error}")])
    if not isinstance(admission, dict) or admission.get("schema") != SCHEMA:
        _refuse(
            [Item("admission", FAIL, f"{path} is no admission that this herorun can compare with")]
        )
    return admission


def _read_patiently(path: str) -> bytes:
    """A file that is there may be out of reach for a moment, as on a network file system."""
    until = time.monotonic() + READING
    while True:
        try:
            with open(path, "rb") as file:
                return file.read()
        except _MISSING:
            raise
        except OSError:
            if time.monotonic() >= until:
                raise
        time.sleep(0.1)


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


def _present(
    admission: Mapping[str, Any],
    config: Any,
    output_root: str | os.PathLike[str] | None,
    tracker_id: str | None,
    loaded: str | os.PathLike[str] | None,
    devices: Any,
) -> Presented:
    from .core.module_provenance import strays

    says_what_it_loaded = loaded is not UNSAID
    code = os.environ.get("HERORUN_CODE") or str(
        admission.get("code", "")
    )  # a cluster unpacks it where it likes
    unread_files: dict[str, str] = {}
    files, hashed_count = _hash_files(code, admission.get("files") or {}, unread_files)
    elsewhere, modules = strays(
        _loaded(),
        (code, os.path.realpath(code)),
        admission.get("files") or {},
        admission.get("roots") or (),
    )
    return Presented(
        argv=list(getattr(sys, "orig_argv", sys.argv)),
        main=os.environ.get("HERORUN_MAIN_PID") == str(os.getpid()),
        config_digests={
            name: _digest(code, name, unread_files)
            for name in admission.get("config_digests") or {}
        },
        config=config,
        output_root=_spelled(output_root, admission.get("output_root")),
        tracker_id=_tracker_id(admission, tracker_id),
        loaded=_spelled(loaded, admission.get("start")) if says_what_it_loaded else None,
        loaded_said=says_what_it_loaded,
        files=files,
        files_seen=hashed_count,
        files_total=len(admission.get("files") or {}),
        unread=unread_files,
        modules_seen=modules,
        modules_elsewhere=elsewhere,
        packages=_versions(admission.get("packages") or {}),
        devices=seen_devices(devices, sys.modules, os.environ),
        environment=_read_environment(),
    )


def _read_environment() -> dict[str, str]:
    """As this process was given it: what the script itself has set since is code, and was reviewed
    as such.

    A process that was forked, or whose system does not tell, shows it as it is now.
    """
    now = dict(os.environ)
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [part.partition(b"=") for part in file.read().split(b"\0") if part]
    except OSError:
        return now
    first_environment = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    same = first_environment.get("HERORUN_ADMISSION") == now.get("HERORUN_ADMISSION")
    return first_environment if same else now


def _loaded() -> dict[str, str]:
    """Every module that was loaded from a file, by its own name; the script under the name that it
    would import as.

    Python's own are left out: a `src/types.py` in the tree does not make `types` the run's.
    """
    files = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and name.partition(".")[0] not in sys.stdlib_module_names:
            files[name] = os.path.abspath(file)
    script = files.pop("__main__", "")
    if script.endswith(".py"):
        spec = getattr(sys.modules["__main__"], "__spec__", None)  # of `python -m package.module`
        files.setdefault(spec.name if spec else os.path.basename(script)[:-3], script)
    return files


def _versions(packages: Mapping[str, str]) -> dict[str, str | None] | None:
    if not packages:
        return {}
    from importlib.metadata import PackageNotFoundError, version

    versions: dict[str, str | None] = {}
    for name in packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = None
        except (OSError, ValueError):  # damaged metadata is no difference
            return None
    return versions


def _spelled(path: str | os.PathLike[str] | None, admitted_text: str | None) -> str | None:
    """A path as the admission spells it where both lead to the same place, else absolute. URLs stay
    as they are.
    """
    text = None if path is None else os.fspath(path)
    if not text or "://" in text:
        return text
    try:
        if admitted_text and os.path.realpath(text) == os.path.realpath(admitted_text):
            return admitted_text
    except (OSError, ValueError):  # it cannot be followed: then its text counts
        pass
    return os.path.abspath(text)


def _tracker_id(admission: Mapping[str, Any], id_in_job: str | None) -> str | None:
    """What the script says; else what the tracker's client would take from the environment."""
    variable = admission.get("tracker_id_variable")
    if id_in_job is not None or not isinstance(variable, str):
        return id_in_job
    return os.environ.get(variable)


def _hash_files(
    code: str, digests: Mapping[str, str], unread_files: dict[str, str]
) -> tuple[dict[str, str | None], int]:
    """Digests of the files that differ or are missing, and how many were looked at in time."""
    until = time.perf_counter() + HASHING
    wrong: dict[str, str | None] = {}
    count = 0
    for name in _first_those_that_run(digests):
        digest = _digest(code, name, unread_files)
        count += 1
        if digest != digests[name] and name not in unread_files:
            wrong[name] = digest
        if time.perf_counter() > until:
            break
    return wrong, count


def _first_those_that_run(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (not name.endswith(".py"), name.count("/"), name))


def _digest(code: str, name: str, unread_files: dict[str, str]) -> str | None:
    """`sha256:...` of a file; None where there is none, and where it cannot be read, which
    `unread_files` then tells.
    """
    try:
        with open(os.path.join(code, name), "rb") as file:
            return "sha256:" + hashlib.sha256(file.read()).hexdigest()
    except _MISSING:
        return None
    except OSError as error:
        unread_files[name] = error.strerror or str(error)
        return None


def rank() -> int:
    """This process among those of the job, by what its launcher set; 0 where there is no word of
    it.
    """
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return 0


def _attempt() -> int:
    """The back end's own restart count, where it tells one, else 1; and the launcher's on top."""
    restarts = os.environ.get("SLURM_RESTART_COUNT", "")
    ours = os.environ.get("HERORUN_ATTEMPT", "")
    within = os.environ.get("TORCHELASTIC_RESTART_COUNT", "")
    first = int(restarts) + 1 if restarts.isdigit() else int(ours) if ours.isdigit() else 1
    return first + (int(within) if within.isdigit() else 0)


def _receipt(
    admission: Mapping[str, Any], items: Sequence[Item], job_values: Presented
) -> dict[str, Any]:
    return {
        "schema": 1,
        "instance": str(admission.get("instance", "")),
        "attempt": _attempt(),
        "rank": rank(),
        "outcome": FAIL if refused(items) else PASS,
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
