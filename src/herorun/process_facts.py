"""What the job's process really uses, for the comparison with its admission: command line,
environment, modules, files, packages and devices.

Standard library only: it runs inside the job, and is shipped as part of herorun-checkin.
"""

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from .core.admission import UNSAID, JobFacts, seen_devices
from .core.module_provenance import strays

HASHING = 0.040  # seconds that hashing the code may take; the receipt counts the files seen by then
READING = 2.0  # seconds for which an admission is tried again that is there and cannot be read
_MISSING = (FileNotFoundError, NotADirectoryError, IsADirectoryError)  # there is no such file


def process_facts(
    admission: Mapping[str, Any],
    config: Any,
    output_root: str | os.PathLike[str] | None,
    tracker_id: str | None,
    checkpoint: str | os.PathLike[str] | None,
    devices: Any,
) -> JobFacts:
    """What this process really uses: what the script passes, and otherwise what its command line,
    environment, modules and files show.
    """
    says_what_it_loaded = checkpoint is not UNSAID
    code = os.environ.get("HERORUN_CODE") or str(
        admission.get("code", "")
    )  # a cluster unpacks it where it likes
    unread_files: dict[str, str] = {}
    files, hashed_count = _hash_files(code, admission.get("files") or {}, unread_files)
    elsewhere, modules = strays(
        _list_loaded_files(),
        (code, os.path.realpath(code)),
        admission.get("files") or {},
        admission.get("roots") or (),
    )
    return JobFacts(
        argv=list(getattr(sys, "orig_argv", sys.argv)),
        main=os.environ.get("HERORUN_MAIN_PID") == str(os.getpid()),
        config_digests={
            name: _digest(code, name, unread_files)
            for name in admission.get("config_digests") or {}
        },
        config=config,
        output_root=_spell_path(output_root, admission.get("output_root")),
        tracker_id=_tracker_id(admission, tracker_id),
        loaded=_spell_path(checkpoint, admission.get("start")) if says_what_it_loaded else None,
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


def _list_loaded_files() -> dict[str, str]:
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


def _spell_path(path: str | os.PathLike[str] | None, admitted_text: str | None) -> str | None:
    """A path as the admission spells it where both lead to the same place, otherwise absolute. URLs
    stay as they are.
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
    """What the script says; otherwise what the tracker's client would take from the environment."""
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


def read_patiently(path: str) -> bytes:
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
