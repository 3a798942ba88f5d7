"""Every file of a checkpoint, with one listing for each folder; and the digests of their
content.
"""

from dataclasses import replace

from herorun.core.ports import FileDigest, FileEntry, Store
from herorun.core.seal.manifest import FileRecord, Manifest
from herorun.operations.checkpoints.digest_log import DigestLog
from herorun.system import progress

MAX_FOLDERS = 20_000  # of one checkpoint; more suggests a link to a parent, or no checkpoint


def read_manifest(store: Store, path: str) -> Manifest:
    """All files, sorted by name. A missing checkpoint raises FileNotFoundError, one that cannot be
    listed OSError.
    """
    path = path.rstrip("/")
    try:
        files, _ = walk(store, path)
    except NotADirectoryError:
        folder, _, name = path.rpartition("/")
        entry = next((e for e in store.entries(folder or "/") if e.name == name), None)
        if entry is None:
            raise FileNotFoundError(f"{path} is not there") from None
        return Manifest(path, (_file_seen("", entry),))
    return Manifest(path, files)


def read_contents(store: Store, listing: Manifest, log: DigestLog | None = None) -> Manifest:
    """The manifest with a digest of each file: from the listing, or else as its store computes or
    stores it.

    Files whose digest is in `log` are not read again; new digests are added to it, file by file.
    """
    digests = _digests(store, listing, log)
    return replace(
        listing,
        files=tuple(
            replace(file, size=entry.size, checksum=entry.checksum, version=entry.version)
            if (entry := digests.get(file.name))
            else file
            for file in listing.files
        ),
    )


def _digests(store: Store, listing: Manifest, log: DigestLog | None) -> dict[str, FileDigest]:
    """The digests by name, of all files without a version in the listing: a listing with versions
    also has the store's digests.
    """
    files = [file for file in listing.files if not file.version]
    folder, _, own = listing.path.rpartition("/")
    alone = [file.name for file in listing.files] == [""]  # the checkpoint is one file
    place, names = (
        (folder or "/", [own]) if alone else (listing.path, [file.name for file in files])
    )
    old_digests, bytes_done, digests = log.digests if log else {}, 0, dict[str, FileDigest]()
    what, total = f"digest of {listing.path}", sum(file.size for file in files)
    try:
        for event in store.digests(place, names, old_digests) if files else ():
            if isinstance(event, int):
                bytes_done += event
            else:
                is_reused = event.stamp == "" or event == old_digests.get(event.name)
                bytes_done += event.size if is_reused else 0
                digests["" if alone else event.name] = event
                if log and event != old_digests.get(event.name):
                    log.add(event)
            progress.progress(what, min(bytes_done, total - 1), total)
    finally:
        progress.progress(what, total, total)
    return digests


def walk(store: Store, path: str) -> tuple[tuple[FileRecord, ...], tuple[str, ...]]:
    """All files under a folder, and all its folders, relative to it; the deepest folders come
    last.
    """
    files: list[FileRecord] = []
    folders = [""]
    for inside in folders:  # the list grows during the loop
        for entry in store.entries(f"{path}/{inside}".rstrip("/")):
            if entry.name.endswith("/") and not entry.link:
                folders.append(inside + entry.name)
            else:
                files.append(_file_seen(inside + entry.name.rstrip("/"), entry))
        if len(folders) > MAX_FOLDERS:
            raise OSError(f"{path} holds more than {MAX_FOLDERS:,} folders")
    return tuple(sorted(files, key=lambda file: file.name)), tuple(folders[1:])


def _file_seen(name: str, entry: FileEntry) -> FileRecord:
    return FileRecord(name, entry.size or 0, entry.checksum, entry.version)
