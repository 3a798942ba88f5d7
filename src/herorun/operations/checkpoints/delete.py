"""Deletes one checkpoint completely: its markers first, then the rest, then its folders."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from herorun.core.errors import HerorunError, describe_error
from herorun.operations.checkpoints.manifest import read_manifest, walk
from herorun.runs import Run

# The files by which a layout recognises a complete checkpoint. All layouts are covered, in case the
# contract names the wrong one.
MARKERS = (
    *("metadata.json", "commit_success.txt", "_CHECKPOINT_METADATA", ".metadata"),
    *("trainer_state.json", "meta.pt"),
)
AT_ONCE = 32  # files that are deleted at the same time
MAX_NAMES = 3  # of the files that could not be deleted


def delete_checkpoint(run: Run, path: str) -> None:
    """Markers, then the rest, then the folders from the deepest up. A missing checkpoint counts
    as deleted.
    """
    try:
        files, folders = walk(run.store, path)
    except NotADirectoryError:
        run.store.delete(path)
        return
    except FileNotFoundError:
        return
    names = sorted(file.name for file in files)
    _all(run.store.delete, [f"{path}/{name}" for name in names if _is_marker(name)])
    _all(run.store.delete, [f"{path}/{name}" for name in names if not _is_marker(name)])
    for depth in sorted({folder.count("/") for folder in folders}, reverse=True):
        level = [f"{path}/{folder}".rstrip("/") for folder in folders if folder.count("/") == depth]
        _all(run.store.delete_folder, level)
    _all(run.store.delete_folder, [path])
    if _has_files(run, path):
        raise OSError(f"{path} is still there: something was written into it meanwhile")


def _is_marker(name: str) -> bool:
    return name.rpartition("/")[2] in MARKERS


def _all(delete: Callable[[str], None], paths: Sequence[str]) -> None:
    """Delete `AT_ONCE` files at a time: over ssh they share one connection. After a failure no
    further group is started.
    """
    with ThreadPoolExecutor(AT_ONCE) as at_once:
        for start in range(0, len(paths), AT_ONCE):
            answers = at_once.map(
                lambda path: _delete_one(delete, path), paths[start : start + AT_ONCE]
            )
            if errors := [error for error in answers if error is not None]:
                raise errors[0] if len(errors) == 1 else OSError(_describe_errors(errors))


def _delete_one(delete: Callable[[str], None], path: str) -> Exception | None:
    """The error, or None. A missing file counts as deleted."""
    try:
        delete(path)
    except FileNotFoundError:
        return None
    except (HerorunError, OSError) as error:
        return error
    return None


def _describe_errors(errors: Sequence[Exception]) -> str:
    more = f"; and {len(errors) - MAX_NAMES} more" if len(errors) > MAX_NAMES else ""
    return "; ".join(describe_error(error).rstrip(".") for error in errors[:MAX_NAMES]) + more


def _has_files(run: Run, path: str) -> bool:
    try:
        return bool(read_manifest(run.store, path).files)
    except FileNotFoundError:
        return False
