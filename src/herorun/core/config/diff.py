"""What differs between two launches, key by key, and what each difference means."""

from collections.abc import Iterator, Mapping
from typing import Any

from herorun.core.config.command_keys import command_keys
from herorun.core.config.key_classes import class_of, is_volatile
from herorun.core.config.normalise import flatten, same, show_short
from herorun.core.contract import Config, KeyClass
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_LATE_SETTING = lazy_regex(r"\$\{(now|oc\.env):")  # Hydra fills it in when the job starts
_START = "{start}"
_HOLDS_FLAGS = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")  # of words as `--key=value`


class MissingValue:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = MissingValue()


@dataclass(frozen=True)
class ConfigChange:
    """One key that differs. `kind` of None is unclassified, which counts as trajectory."""

    key: str  # dotted; of the command line `argv.<flag>`, of the environment `env.<NAME>`
    before: Any
    after: Any
    kind: KeyClass | None

    @property
    def steers(self) -> bool:
        """Whether it is known to train another trajectory."""
        return self.kind in (None, KeyClass.TRAJECTORY)

    def __str__(self) -> str:
        return (
            f"{self.key}: {show_short(self.before)} -> {show_short(self.after)} "
            f"({self.kind or 'unclassified'})"
        )


def diff(
    before: Mapping[str, Any], after: Mapping[str, Any], config: Config, place: str = ""
) -> tuple[ConfigChange, ...]:
    """The keys of two configs that differ in meaning, by name; `place` is argv or env where it is
    not the config.
    """
    one, other = flatten(before), flatten(after)
    changes = []
    for key in sorted(one.keys() | other.keys()):
        was, now = one.get(key, ABSENT), other.get(key, ABSENT)
        if not same(was, now):
            kind = (
                KeyClass.VOLATILE
                if _is_late(was) and _is_late(now)
                else class_of(key, config, place)
            )
            changes.append(ConfigChange(f"{place}.{key}" if place else key, was, now, kind))
    return tuple(changes)


def _is_late(value: Any) -> bool:
    return isinstance(value, str) and _LATE_SETTING.search(value) is not None


def diff_launches(
    before: Mapping[str, Any], after: Mapping[str, Any], config: Config
) -> tuple[ConfigChange, ...]:
    """What differs between the values of two plans: config, command line, environment and data."""
    return tuple(_launches(before, after, config))


def _launches(
    before: Mapping[str, Any], after: Mapping[str, Any], config: Config
) -> Iterator[ConfigChange]:
    yield from diff(before.get("config") or {}, after.get("config") or {}, config)
    argv = before.get("argv") or ()
    yield from diff(command_keys(argv), command_keys(after.get("argv") or ()), config, "argv")
    yield from _resuming(
        before.get("resume_argv") or (), after.get("resume_argv") or (), argv, config
    )
    yield from diff(_variables(before.get("env")), _variables(after.get("env")), config, "env")
    one, other = before.get("data") or {}, after.get("data") or {}
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            was, now = one.get(path, ABSENT), other.get(path, ABSENT)
            yield ConfigChange(f"data.{path}", was, now, KeyClass.TRAJECTORY)


def _variables(env: Any) -> dict[str, Any]:
    """An environment by meaning: where a variable holds flags, each of them is a key, and their
    order says nothing.
    """
    table = env if isinstance(env, Mapping) else {}
    return {
        name: command_keys(str(value).split()) or value if name in _HOLDS_FLAGS else value
        for name, value in table.items()
    }


def _resuming(before: Any, after: Any, argv: Any, config: Config) -> Iterator[ConfigChange]:
    """A resume command line that is new is measured by what ran; only its start may be new."""
    if not after:
        return
    one, other = command_keys(before or argv), command_keys(after)
    for change in diff(one, other, config, "resume_argv"):
        if not (change.before is ABSENT and _START in str(change.after)):
            yield change


def without_volatile(
    config: Mapping[str, Any], rules: Config
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The config without the keys that the contract calls volatile, and their names.

    A table that loses all its keys goes with them: whether it is there at all may differ as well.
    """
    dropped_keys: list[str] = []
    remaining = (
        _drop_ignored(config, "", rules, dropped_keys)
        if rules.volatile or rules.classes
        else dict(config)
    )
    return remaining, tuple(dropped_keys)


def _drop_ignored(table: Any, at: str, config: Config, dropped_keys: list[str]) -> Any:
    if isinstance(table, (list, tuple)) and any(isinstance(item, Mapping) for item in table):
        return [
            _drop_ignored(item, f"{at}{n}.", config, dropped_keys) for n, item in enumerate(table)
        ]
    if not isinstance(table, Mapping):
        return table
    remaining = {}
    for key, value in table.items():
        if is_volatile(f"{at}{key}", config):
            dropped_keys.append(f"{at}{key}")
            continue
        kept_keys = _drop_ignored(value, f"{at}{key}.", config, dropped_keys)
        if kept_keys != {} or value == {}:
            remaining[key] = kept_keys
    return remaining
