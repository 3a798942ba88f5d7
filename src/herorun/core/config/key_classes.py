"""The class of a changed key: first by the contract, then by the built-in table.

A shipped pattern is compared with the lower-case, snake-case parts of a key: `batch_size` with its
last part, `optimizer.*` with any table above it, `optimizer.name` with both. What no pattern knows
is unclassified, and counts as trajectory.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from herorun.core.config.default_classes import KEYS
from herorun.core.config.environment_classes import ENVIRONMENT
from herorun.core.contract import Config, KeyClass
from herorun.core.lazy_regex import lazy_regex

NO_CLASS = None
_CAMEL = lazy_regex(r"(?<=[a-z0-9])(?=[A-Z])")


def class_of(key: str, config: Config, place: str = "") -> KeyClass | None:
    """The class of a key of the config, or with `place` of a key of `argv` or `env`; None:
    unclassified.
    """
    names = (key, f"{place}.{key}") if place else (key,)
    if any(_covers(glob, name) for glob in config.volatile for name in names):
        return KeyClass.VOLATILE
    for glob, kind in config.classes.items():
        if any(_covers(glob, name) for name in names):
            return kind
    return _shipped_environment(key) if place == "env" else _match_shipped_patterns(key)


def is_volatile(key: str, config: Config) -> bool:
    """Whether the contract itself calls a key of the config volatile."""
    if any(_covers(glob, key) for glob in config.volatile):
        return True
    first = next((kind for glob, kind in config.classes.items() if _covers(glob, key)), None)
    return first is KeyClass.VOLATILE


def unmatched_patterns(config: Config, names: Sequence[str]) -> list[str]:
    """The patterns of `[config.classes]` that cover none of these keys. Left out are those of
    variables, which only the launching shell may have, and of volatile keys, which are in no plan.
    """
    return [
        pattern
        for pattern, kind in config.classes.items()
        if kind is not KeyClass.VOLATILE
        and not (pattern.startswith("env.") or pattern.isupper())
        and not any(_covers(pattern, name) for name in names)
    ]


def with_tables(keys: Iterable[str]) -> list[str]:
    """The keys as people name them in a pattern: also the tables, as `optimizer.*`.

    >>> with_tables(["optimizer.lr", "seed"])
    ['optimizer', 'optimizer.*', 'optimizer.lr', 'seed']
    """
    names = {name for key in keys for name in _upwards(key)}
    return sorted({*names, *(f"{name.rpartition('.')[0]}.*" for name in names if "." in name)})


def _covers(glob: str, key: str) -> bool:
    """A glob covers a key, and all below a table that it names; `*` crosses the dots."""
    glob = _one_spelling(glob)
    return any(fnmatchcase(above, glob) for above in _upwards(_one_spelling(key)))


def _upwards(key: str) -> Iterable[str]:
    """`a.b.c`, `a.b`, `a`."""
    while key:
        yield key
        key = key.rpartition(".")[0]


def _one_spelling(name: str) -> str:
    return name.replace("-", "_")


def _shipped_environment(name: str) -> KeyClass | None:
    for kind, globs in ENVIRONMENT:
        if any(fnmatchcase(name.upper(), glob) for glob in globs.split()):
            return kind
    return NO_CLASS


def _match_shipped_patterns(key: str) -> KeyClass | None:
    *above, last = snake_parts(key)
    for kind, patterns in KEYS:
        if any(_matches_pattern(pattern, above, last) for pattern in patterns.split()):
            return kind
    return NO_CLASS


def _matches_pattern(pattern: str, above: list[str], last: str) -> bool:
    table, dot, leaf = pattern.rpartition(".")
    if not fnmatchcase(last, leaf):
        return False
    return not dot or any(fnmatchcase(part, table) for part in above)


def environment_classes(config: Config) -> list[tuple[str, bool]]:
    """Globs of variables, the first that fits wins, and whether one of them steers the training."""
    own = [*((glob, KeyClass.VOLATILE) for glob in config.volatile), *config.classes.items()]
    own_globs = [(glob.removeprefix("env."), kind) for glob, kind in own]
    shipped_classes = [(glob, kind) for kind, globs in ENVIRONMENT for glob in globs.split()]
    steering = (KeyClass.TRAJECTORY, KeyClass.RESUME_BREAKING)
    return [(glob, kind in steering) for glob, kind in (*own_globs, *shipped_classes)]


def snake_parts(key: str) -> list[str]:
    """`trainer.perDevice-batch` -> trainer, per_device_batch."""
    return [
        _CAMEL.sub("_", part).replace("-", "_").lower() for part in key.replace("/", ".").split(".")
    ]
