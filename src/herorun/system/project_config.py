"""`[tool.herorun]` of the nearest pyproject.toml: preferences of a repository, never a part of a
plan.

Only the contract defines a run. `[tool.herorun.init]` has values for new contracts, which people
then read and commit; changing it later changes no run.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

TABLE = "[tool.herorun]"
MAX_BYTES = 4 << 20  # bytes of a pyproject.toml
KEYS = {"run": "the default RUN of the commands that only read"}
INIT = {
    "dri": "who is responsible, as @handle",
    "output_root": "a folder or URL; a run's own root is <output_root>/<slug>",
    "scheduler": "kind under [scheduler]",
    "tracker": "kind under [tracker]; entity and project alone stand for one",
    "entity": "under [tracker]",
    "project": "under [tracker]",
    "issue": "kind under [issue]; repo alone means github",
    "repo": "under [issue], owner/name",
}


class Settings(NamedTuple):  # read before each command, where `dataclasses` is not loaded yet
    """`path` is None if no pyproject.toml has the table."""

    path: Path | None = None
    run: str = ""
    init: Mapping[str, str] = MappingProxyType({})


def read_settings(start: Path) -> Settings:
    """The settings of the nearest pyproject.toml with the table, up to the repository's top.
    `WrongUse` for a wrong key.
    """
    for folder in (absolute := start.absolute(), *absolute.parents):
        path = folder / "pyproject.toml"
        if path.is_file() and (table := _read_table(path)) is not None:
            return _settings(path, table)
        if (folder / ".git").exists():
            break
    return Settings()


def _read_table(path: Path) -> Any:
    from herorun.core.untrusted_toml import parse_toml
    from herorun.system.files import read_regular

    try:
        document = parse_toml(read_regular(path, MAX_BYTES).decode())
    except OSError as error:
        raise _wrong(f"{TABLE} cannot be read: {error.filename}: {error.strerror}.") from None
    except ValueError as error:  # of TOML and of UTF-8
        raise _wrong(f"{path} is not valid TOML: {error}.") from None
    tool = document.get("tool", {})
    return tool.get("herorun") if isinstance(tool, dict) else None


def _settings(path: Path, table: Any) -> Settings:
    if not isinstance(table, dict):
        raise _wrong(f"{path}: {TABLE} is {table!r}, and must be a table.")
    init = table.pop("init", {})
    if not isinstance(init, dict):
        raise _wrong(f"{path}: [tool.herorun.init] is {init!r}, and must be a table.")
    faults = [
        *_wrong_keys(path, TABLE, table, KEYS, "init"),
        *_wrong_keys(path, "[tool.herorun.init]", init, INIT),
    ]
    if len(faults) > 1:
        from herorun.core.finding import count  # not imported at every start of a command

        raise _wrong("\n  ".join([f"{path} has {count(len(faults), 'fault')}:", *faults]))
    if faults:
        raise _wrong(f"{path}: {faults[0]}")
    return Settings(path, table.get("run", ""), init)


def _wrong_keys(
    path: Path, name: str, table: Mapping[str, Any], known_keys: Mapping[str, str], *more: str
) -> Iterator[str]:
    for key, value in table.items():
        if key not in known_keys:
            line = _line_of(path, name, key)
            yield f"{line}{name} has an unknown key `{key}`.{_suggest(key, known_keys, more)}"
        elif not isinstance(value, str) or not value.strip():
            line = _line_of(path, name, key)
            yield f"{line}{name} `{key}` is {value!r}, and must be text: {known_keys[key]}."


def _suggest(key: str, known_keys: Mapping[str, str], more: Sequence[str]) -> str:
    from herorun.core.suggestions import did_you_mean

    return did_you_mean(key, known_keys) or (
        f" There are {', '.join([*known_keys, *more])}. "
        "The keys of a run belong in its contract, runs/<slug>.toml."
    )


def _line_of(path: Path, table: str, key: str) -> str:
    from herorun.core.contract.toml_lines import line_of

    line = line_of(path.read_text(encoding="utf-8"), (*table.strip("[]").split("."), key))
    return f"line {line}: " if line else ""


def _wrong(message: str) -> Exception:
    """A `WrongUse`; its module is imported only now, because --help does not need it."""
    from herorun.core.errors import WrongUse

    return WrongUse(message)
