"""Every file of a checkpoint, folder by folder, each by one delimited listing."""

from herorun.core.ports import Entry, Store
from herorun.core.sealing.manifest import FileSeen, Manifest

MOST_FOLDERS = 20_000  # of one checkpoint; more is a link that leads back, or no checkpoint


def read_manifest(store: Store, path: str) -> Manifest:
    """All files, sorted by name. A missing checkpoint raises FileNotFoundError, one that cannot be listed OSError."""
    path = path.rstrip("/")
    try:
        files, _ = walk(store, path)
    except NotADirectoryError:
        folder, _, name = path.rpartition("/")
        entry = next((e for e in store.entries(folder or "/") if e.name == name), None)
        if entry is None:
            raise FileNotFoundError(f"{path} is not there") from None
        return Manifest(path, (_seen("", entry),))
    return Manifest(path, files)


def walk(store: Store, path: str) -> tuple[tuple[FileSeen, ...], tuple[str, ...]]:
    """All files under a folder, and all its folders, relative to it; the deepest folders come last."""
    files: list[FileSeen] = []
    folders = [""]
    for inside in folders:  # which grows meanwhile
        for entry in store.entries(f"{path}/{inside}".rstrip("/")):
            if entry.name.endswith("/") and not entry.link:
                folders.append(inside + entry.name)
            else:
                files.append(_seen(inside + entry.name.rstrip("/"), entry))
        if len(folders) > MOST_FOLDERS:
            raise OSError(f"{path} holds more than {MOST_FOLDERS:,} folders")
    return tuple(sorted(files, key=lambda file: file.name)), tuple(folders[1:])


def _seen(name: str, entry: Entry) -> FileSeen:
    return FileSeen(name, entry.size or 0, entry.checksum)
