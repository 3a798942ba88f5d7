"""The shipped signatures of failures, and their reading. The rows are the TOML files of this
folder; core.triage judges.

Python takes 20 ms to read that TOML, a tenth of `herorun status`, so `docs/generate.py` prints the
same as JSON. It counts for the very bytes that it was made of.
"""

import json
import os
import stat
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from herorun.core.canonical_json import sha256
from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook, WrongUse, describe_error
from herorun.core.triage.parse import parse
from herorun.core.triage.signatures import SignatureSet, UnreadSignatureSet
from herorun.core.untrusted_toml import parse_toml

SHIPPED_FILE = Path(__file__).parent / "shipped.json"
MAX_BYTES = 4 << 20  # bytes of one file of signatures


_reading = Lock()  # a fleet's first ticks come at once, and each would read them


def load_signature_set() -> SignatureSet:
    """The signatures as they are installed."""
    with _reading:
        return _load_shipped_set()


@cache
def _load_shipped_set() -> SignatureSet:
    return UnreadSignatureSet(f"sha256:{_digest_of(_texts())}", _read_rows)


def _read_rows() -> SignatureSet:
    with _reading:
        return _rows()


@cache
def _rows() -> SignatureSet:
    if f"sha256:{_digest_of(_texts())}" != _load_shipped_set().digest:
        raise CouldNotLook("Another herorun was installed since: start this command again.")
    return parse(_documents())


def with_own(*paths: Path) -> SignatureSet:
    """The same behind a user's files of [[signature]] tables. Raises WrongUse where one cannot be
    read or is wrong.
    """
    if not paths:
        return load_signature_set()
    texts = tuple((str(path), _read_text(path)) for path in paths)
    with _reading:
        return _with(texts)


def of_contract(contract: Contract, top: Path) -> SignatureSet:
    """With what `[babysit] signatures` names, relative to the repository's top. Raises WrongUse as
    `with_own` does.
    """
    own_file = contract.babysit.signatures
    return with_own(top / own_file) if own_file else load_signature_set()


@lru_cache(maxsize=4)
def _with(texts: tuple[tuple[str, str], ...]) -> SignatureSet:
    return parse(_documents(), [(name, _parse_own_table(name, text)) for name, text in texts])


def _documents() -> list[dict[str, object]]:
    texts = _texts()
    try:
        content = json.loads(SHIPPED_FILE.read_bytes())
        documents: list[dict[str, object]] = content["documents"]
        is_same = content["of"] == _digest_of(texts)
    except (OSError, ValueError, KeyError, TypeError):
        is_same = False
    return documents if is_same else [tomllib.loads(text.decode()) for text in texts]


def shipped_json() -> str:
    """What `shipped.json` is to hold."""
    texts = _texts()
    documents = [tomllib.loads(text.decode()) for text in texts]
    content = {"of": _digest_of(texts), "documents": documents}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _texts() -> list[bytes]:
    return [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.toml"))]


def _digest_of(texts: Sequence[bytes]) -> str:
    return sha256(b"\0".join(texts)).hexdigest()


def _read_text(path: Path) -> str:
    try:
        facts = path.stat()
        of_kernel = os.path.realpath(path).startswith(("/proc/", "/sys/"))  # may never end
        if not stat.S_ISREG(facts.st_mode) or of_kernel or facts.st_size > MAX_BYTES:
            raise WrongUse(
                f"{path} is no file of signatures: not a file, or larger than "
                f"{MAX_BYTES >> 20} MiB."
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"The signatures cannot be read: {describe_error(error)}.") from None
    except UnicodeDecodeError as error:
        raise WrongUse(f"{path} is no TOML: {error}.") from None


def _parse_own_table(name: str, text: str) -> dict[str, object]:
    try:
        return parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{name} is no TOML: {error}.") from None
