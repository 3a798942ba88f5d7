"""The source bundle: an archive that `git archive` made of a commit says which in its first header."""

import re

from herorun.core.contract import Contract
from herorun.core.evidence import Bundle, Nothing
from herorun.core.ports import Store
from herorun.system.git import Repository

_COMMIT = re.compile(r"(?:git:)?([0-9a-f]{7,64})")
_ARCHIVE = (".tar", ".tar.gz", ".tgz")


def read_bundle(contract: Contract, repository: Repository, store: Store) -> Bundle | Nothing:
    """`git:<sha>`, or the path or URL of an archive; a relative path is relative to the repository's top."""
    name = contract.runtime.bundle
    if name is None:
        return Nothing("the contract names no source bundle")
    named = _COMMIT.fullmatch(name)
    if named:
        return Bundle(name, named[1])
    if not name.endswith(_ARCHIVE):
        return Bundle(name)
    path = name if "://" in name or name.startswith("/") else str(repository.top / name)
    return Bundle(name, _commit_of(repository, store.read(path)))


def _commit_of(repository: Repository, archive: bytes) -> str | None:
    """As `git get-tar-commit-id` reads it: a global pax header's comment. None: the archive does not say."""
    if archive[:2] == b"\x1f\x8b":
        import gzip

        try:
            archive = gzip.decompress(archive)
        except (OSError, EOFError) as error:
            raise OSError(f"the bundle is no whole gzip file: {error}") from None
    answer = repository.git("get-tar-commit-id", stdin=archive[:1024], ok=(0, 1, 128))
    return answer.text.strip() or None if answer.code == 0 else None
