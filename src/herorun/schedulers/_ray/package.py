"""The code folder and the admission as one zip, named by its content, for the packages API."""

import hashlib
import io
import os
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

from herorun.core.errors import WrongUse, describe_error
from herorun.schedulers._ray.request import ADMISSION

MAX_PACKAGE = 100 * 2**20  # bytes: what Ray's dashboard takes in one upload
_LEFT_OUT = (".git", "__pycache__", ".herorun")


def package(code: str, admission: str) -> tuple[str, bytes]:
    """Its URI and its bytes. The same files give the same URI, whenever and wherever they are
    packed.
    """
    buffer = io.BytesIO()
    try:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
            for name, path in [*_list_package_files(Path(code)), (ADMISSION, Path(admission))]:
                _add(file, name, path)
                if buffer.tell() > MAX_PACKAGE:
                    raise WrongUse(
                        f"{code} is larger than the {MAX_PACKAGE // 2**20} MiB that Ray accepts as "
                        'an upload: set [scheduler] code = "shared" if the cluster sees the '
                        "folder, or keep large files out of git."
                    )
    except OSError as error:
        raise WrongUse(
            f"The code cannot be packed for the cluster: {describe_error(error)}."
        ) from None
    data = buffer.getvalue()
    return f"gcs://_ray_pkg_{hashlib.sha256(data).hexdigest()[:40]}.zip", data


def _add(file: zipfile.ZipFile, name: str, path: Path) -> None:
    """Permissions matter to scripts; times and owners would make equal files differ."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = (stat.S_IFREG | (0o755 if os.access(path, os.X_OK) else 0o644)) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    file.writestr(info, path.read_bytes())


def _list_package_files(top: Path) -> Iterator[tuple[str, Path]]:
    """Every file, sorted, by its name in the package. A link counts as its target: Ray's zips have
    no links.
    """
    if not top.is_dir():
        raise WrongUse(f"{top} is not a folder that can be packed for the cluster.")
    for folder, folders, files in os.walk(top, followlinks=False):
        parent = Path(folder)
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        linked_folders = [name for name in folders if (parent / name).is_symlink()]
        if linked_folders:
            raise WrongUse(
                f"{parent / linked_folders[0]} is a link to a folder, which an upload to Ray "
                'cannot hold: replace it, or set [scheduler] code = "shared" where the cluster '
                "sees the folder."
            )
        for name in sorted(files):
            # a link that leads nowhere is nothing that could be read there either
            if (parent / name).exists():
                yield (parent / name).relative_to(top).as_posix(), parent / name
