"""The identity of the data that the contract pins: a digest of its content, or its store's
version.
"""

import hashlib
import re

from herorun.core.contract import Contract
from herorun.core.errors import HerorunError, describe_error
from herorun.core.evidence import DataFound, WorkTree
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Store
from herorun.system.git import Repository
from herorun.system.git.commit_content import in_repository

MAX_BYTES = 64 << 20  # bytes that are read to be hashed
_POINTER = lazy_regex(
    rb"version https://git-lfs\.github\.com/spec/v1\n.*?^oid sha256:([0-9a-f]{64})$", re.S | re.M
)


def read_data_found(
    repository: Repository, contract: Contract, tree: WorkTree, store: Store
) -> DataFound:
    """Relative paths are read from the commit, below `[command] cwd`; absolute ones and URLs from
    their store.
    """
    results: dict[str, str | None] = {}
    unreadable: dict[str, str] = {}
    for path, pinned_digest in contract.data.manifests.items():
        try:
            if path.startswith("/") or "://" in path:
                results[path] = _in_store(store, path, pinned_digest)
            else:
                results[path] = _in_commit(
                    repository,
                    tree.commit,
                    in_repository(contract.command.cwd, path),
                    pinned_digest,
                )
        except FileNotFoundError:
            results[path] = None
        except (OSError, HerorunError) as error:
            unreadable[path] = describe_error(error)
    return DataFound(results, unreadable)


def _in_commit(repository: Repository, commit: str, path: str, pinned_digest: str) -> str | None:
    if pinned_digest.startswith("generation:"):
        raise OSError("only a file of an object store has a generation: pin this one by its sha256")
    data = repository.read(commit, [path])[path]
    if data is None:
        return None
    pointer = _POINTER.match(data)  # Git LFS names the content's own digest
    return f"sha256:{pointer[1].decode()}" if pointer else _digest(data)


def _in_store(store: Store, path: str, pinned_digest: str) -> str:
    if pinned_digest.startswith("generation:"):
        return f"generation:{store.generation(path)}"
    data = store.end(path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(
            f"it is larger than {MAX_BYTES >> 20} MiB, too large to be read at each launch: pin it "
            "by its"
            " generation, or pin a smaller manifest that names its parts"
        )
    return _digest(data)


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
