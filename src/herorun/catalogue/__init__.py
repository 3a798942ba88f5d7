"""The shipped signatures of failures, and their reading. The rows are the TOML files of this folder; core.triage judges."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from herorun.core.errors import WrongUse, in_words
from herorun.core.triage.catalogue import Catalogue
from herorun.core.triage.parse import parse


@cache
def shipped() -> Catalogue:
    """The catalogue as it is installed."""
    return parse(_documents())


def with_own(*paths: Path) -> Catalogue:
    """The same, and a user's files of [[signature]] tables. Raises WrongUse where one cannot be read or is wrong."""
    return parse(_documents(), [(str(path), _own(path)) for path in paths]) if paths else shipped()


def _documents() -> list[dict[str, object]]:
    rows = sorted(
        (row for row in files(__name__).iterdir() if row.name.endswith(".toml")), key=lambda row: row.name
    )
    return [tomllib.loads(row.read_text(encoding="utf-8")) for row in rows]


def _own(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"The catalogue cannot be read: {in_words(error)}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path} is no TOML: {error}.") from None
