"""The code as an archive in the output store, which each pod fetches, checks by its digest and
unpacks before the run's own container starts.
"""

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from herorun.core.errors import WrongUse, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._kubernetes.options import Options
from herorun.schedulers._kubernetes.request import literal

CODE_FOLDER = "/herorun-code/code"  # in the container
MAX_BUNDLE = 100 << 20  # bytes, as Ray and Iris take
_VOLUME, _ARCHIVE = "herorun-code", "/herorun-code/bundle.tar"
_LEFT_OUT = (".git", "__pycache__", ".herorun")
_MODIFICATION_TIME = 315532800  # 1980-01-01: equal files must not differ by when they were exported
# Of the container that runs, what the one that fetches needs to reach the same store.
_SHARED_FIELDS = ("image", "imagePullPolicy", "env", "envFrom", "volumeMounts", "securityContext")
# $0 is the digest and "$@" the command that fetches. A node may run it a second time. 78 is "not
# as admitted", after which nothing is relaunched.
_SCRIPT = f"""\
"$@"
echo "$0  {_ARCHIVE}" | sha256sum -c - >/dev/null || {{
  echo "herorun: the bundle does not have the digest sha256:$0"; exit 78
}}
rm -rf {CODE_FOLDER}; mkdir {CODE_FOLDER}
tar -xf {_ARCHIVE} -C {CODE_FOLDER}
rm {_ARCHIVE}"""


@dataclass(frozen=True)
class CodeArchive:
    path: str  # in the output store, by its digest
    digest: str  # SHA-256, in hexadecimal
    data: bytes = b""


def bundle_of(code: str, output_root: str) -> CodeArchive:
    """The same files give the same bundle, whenever and wherever they are packed."""
    if code.startswith("<"):  # only shown
        return CodeArchive(f"{output_root}/_herorun/code/<digest>.tar", "<digest>")
    data = _pack_folder(Path(code))
    digest = hashlib.sha256(data).hexdigest()
    return CodeArchive(f"{output_root}/_herorun/code/{digest}.tar", digest, data)


def _pack_folder(top: Path) -> bytes:
    buffer = io.BytesIO()
    try:
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in _list_code_files(top):
                if buffer.tell() + path.lstat().st_size > MAX_BUNDLE:
                    raise WrongUse(
                        f"{top} is larger than the {MAX_BUNDLE >> 20} MiB that a bundle may have: "
                        'put the code into the image ([scheduler] code = "image"), or keep large '
                        "files out of git."
                    )
                _add_file(tar, path.relative_to(top).as_posix(), path)
    except OSError as error:
        raise WrongUse(
            f"The code cannot be packed for the pods: {describe_error(error)}."
        ) from None
    return buffer.getvalue()


def _list_code_files(top: Path) -> Iterator[Path]:
    if not top.is_dir():
        raise WrongUse(f"{top} is not a folder that can be packed for the pods.")
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        links = [name for name in folders if (Path(folder) / name).is_symlink()]
        yield from (Path(folder) / name for name in sorted([*files, *links]))


def _add_file(tar: tarfile.TarFile, name: str, path: Path) -> None:
    entry = tarfile.TarInfo(name)
    entry.mtime = _MODIFICATION_TIME
    if path.is_symlink():
        entry.type, entry.linkname = tarfile.SYMTYPE, os.readlink(path)
        tar.addfile(entry)
    elif path.is_file():  # a socket or a pipe is no code
        content = path.read_bytes()
        entry.size, entry.mode = len(content), 0o755 if os.access(path, os.X_OK) else 0o644
        tar.addfile(entry, io.BytesIO(content))


# --- in the pod ----------------------------------------------------------------------------------


def with_bundle(pod: Mapping[str, Any], bundle: CodeArchive, options: Options) -> dict[str, Any]:
    """The pod template, whose first container is the run's, with a volume that holds the code and
    an init container that fills it.
    """
    spec, argv = pod["spec"], _fetch(bundle, options)
    mount = {"name": _VOLUME, "mountPath": f"/{_VOLUME}"}
    main, *others = spec["containers"]
    main = {**main, "volumeMounts": [*main.get("volumeMounts", ()), mount]}
    fetching = {
        "name": _VOLUME,
        **{name: main[name] for name in (*_SHARED_FIELDS, "resources") if name in main},
        "command": [literal(word) for word in ("sh", "-ec", _SCRIPT, bundle.digest, *argv)],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    return {
        **pod,
        "spec": {
            **spec,
            "containers": [main, *others],
            "initContainers": [fetching, *spec.get("initContainers", ())],
            "volumes": [*spec.get("volumes", ()), {"name": _VOLUME, "emptyDir": {}}],
        },
    }


def _fetch(bundle: CodeArchive, options: Options) -> list[str]:
    if "://" in bundle.path and not options.fetch:
        raise WrongUse(
            f"A pod cannot read {bundle.path.partition('/_herorun/')[0]} by itself: name a command "
            "of the image that copies from there under [scheduler] fetch, such as "
            '["gcloud", "storage", "cp", "{from}", "{to}"].'
        )
    argv = options.fetch or ("cp", "{from}", "{to}")
    return [word.replace("{from}", bundle.path).replace("{to}", _ARCHIVE) for word in argv]
