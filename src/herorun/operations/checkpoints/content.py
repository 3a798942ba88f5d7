"""The content of the checkpoint to seal. If reading it would take long, it is read without the
run's lock.
"""

from herorun.core.errors import CouldNotLook, describe_error, sentence
from herorun.core.seal.manifest import Manifest
from herorun.operations.checkpoints.digest_log import DigestLog
from herorun.operations.checkpoints.manifest import read_contents, read_manifest
from herorun.runs import Run

AT_ONCE = 1 << 30  # bytes that are read while the run is locked: about a second on each core


class NotDigested(CouldNotLook):
    """There is too much to read while the run is locked: call `digest_now`, then seal again."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Nothing was tagged: {path} changed while it was read. Wait until nothing writes to "
            "it, then seal again."
        )
        self.path = path


def sealed_content(run: Run, path: str) -> Manifest:
    """The manifest that `[seal] digest` requires. A file that `digest_now` has read is not read
    again unless it changed.
    """
    listing = read_manifest(run.store, path)
    if run.contract.seal.digest == "sizes":
        return listing
    log = DigestLog(run.state, path)
    if _count_unread_bytes(listing, log) > AT_ONCE:
        raise NotDigested(path)
    return read_contents(run.store, listing, log)


def digest_now(run: Run, path: str) -> None:
    """Digest the checkpoint, file by file. If the process is killed, only the files in progress are
    read again.
    """
    try:
        read_contents(run.store, read_manifest(run.store, path), DigestLog(run.state, path))
    except OSError as error:
        raise CouldNotLook(
            sentence(f"Nothing was tagged: {path} could not be read: {describe_error(error)}")
        ) from None


def _count_unread_bytes(listing: Manifest, log: DigestLog) -> int:
    digests = log.digests
    alone = listing.path.rpartition("/")[2]
    return sum(
        file.size
        for file in listing.files
        if not file.version and (file.name or alone) not in digests
    )
