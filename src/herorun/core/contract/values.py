"""Types of the contract's values, and the base class of its tables."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar

from herorun.core.durations import format_duration
from herorun.core.git_ref_names import remote_name
from herorun.core.lazy_pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from herorun.core.lazy_regex import lazy_regex

SLUG = lazy_regex(r"[a-z0-9][a-z0-9-]{0,47}")
KIND = r"^[a-z][a-z0-9_]*$"
_DURATION = lazy_regex(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_UNIT = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(value: object) -> object:
    """`"15m"`, `"570s"`, `"1.5h"`; a timedelta passes through.

    >>> parse_duration("15m")
    datetime.timedelta(seconds=900)
    """
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if not match:
            raise ValueError(
                f'{value!r} is no duration: write it like "570s", "15m", "1.5h" or "2d"'
            )
        try:
            return timedelta(seconds=float(match[1]) * _UNIT[match[2]])
        except OverflowError:
            raise ValueError("is longer than any run") from None
    if isinstance(value, (int, float)):
        raise ValueError(f'{value!r} has no unit: write it like "{value}s" or "{value}m"')
    return value


Duration = Annotated[
    timedelta,
    Field(gt=timedelta()),
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$", "examples": ["15m"]}),
]
Name = Annotated[str, Field(min_length=1)]


def _check_text(value: str) -> str:
    if not value.strip():
        raise ValueError("is blank: a person must fill it in")
    return value


PostedComment = Annotated[str, Field(min_length=1), AfterValidator(_check_text)]


def _slow_enough(value: timedelta) -> timedelta:
    if value < timedelta(seconds=1):
        raise ValueError(
            "is shorter than a second: a tick reads the scheduler, the tracker and the store"
        )
    return value


Cadence = Annotated[Duration, AfterValidator(_slow_enough)]


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("holds a NUL character, which no command line or environment can")
    return value


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise ValueError("is not the name of an environment variable")
    return _no_nul(name)


Variable = Annotated[str, AfterValidator(_variable)]
Text = Annotated[str, AfterValidator(_no_nul)]
Remote = Annotated[str, AfterValidator(remote_name)]
Argument = Annotated[str, Field(min_length=1), AfterValidator(_no_nul)]


def _begins_with_program(argv: tuple[str, ...]) -> tuple[str, ...]:
    if argv and argv[0].startswith("-"):
        raise ValueError(
            f"begins with the option {argv[0].partition('=')[0]}: state the whole command line, "
            "with the program first"
        )
    return argv


CommandLine = Annotated[tuple[Argument, ...], AfterValidator(_begins_with_program)]


def _require_absolute_path(value: str) -> str:
    if not value.rstrip("/"):
        raise ValueError("is the root of the file system: name a folder of this run's own")
    if not value.startswith("/") and "://" not in value:
        raise ValueError(
            "must be an absolute path or a URL: a relative one would lie in whatever folder the "
            "job starts in"
        )
    return value


Pinned = Annotated[str, Field(min_length=1), AfterValidator(_require_absolute_path)]
Whole = Annotated[int, Field(strict=True)]  # `keep = true` and `keep = "10"` are no numbers


def _on_the_box(value: str) -> str:
    if not re.fullmatch(r"/[^\0\n]*[^/\0\n]", value):
        raise ValueError(
            "must be an absolute path on the machine where the job runs, without a slash at its end"
        )
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    if "\0" in value or "\n" in value:
        raise ValueError("must have no line break or NUL: it is matched against one line at a time")
    return value


BoxPath = Annotated[str, AfterValidator(_on_the_box)]
Pattern = Annotated[str, Field(min_length=1), AfterValidator(_pattern)]


class RenamedKeys(BaseModel):
    """A table that still takes the earlier names of its keys: a contract that uses them stays
    valid.
    """

    RENAMED: ClassVar[Mapping[str, str]] = {}  # earlier name to the present one

    @model_validator(mode="before")
    @classmethod
    def _with_present_names(cls, data: Any) -> Any:
        return present_keys(data, cls.RENAMED) if isinstance(data, Mapping) else data


def present_keys(data: Mapping[str, Any], new_names: Mapping[str, str]) -> dict[str, Any]:
    """The same table, each key by its present name.

    >>> present_keys({"quiet": "each", "branch": "b"}, {"quiet": "quiet_ticks"})
    {'quiet_ticks': 'each', 'branch': 'b'}
    """
    for _, message in superfluous_names(data, new_names):
        raise ValueError(message)
    return {new_names.get(key, key): value for key, value in data.items()}


def superfluous_names(
    data: Mapping[str, Any], new_names: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The keys that another one stands for already, each with what is wrong.

    >>> list(superfluous_names({"a": 1, "b": 2}, {"a": "b"}))
    [('a', '`a` is an earlier name of `b`: remove `a`')]
    """
    present_names: set[str] = set()
    for key in data:
        name = new_names.get(key, key)
        if name != key and (name in data or name in present_names):
            yield key, f"`{key}` is an earlier name of `{name}`: remove `{key}`"
        present_names.add(name)


class Table(RenamedKeys):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=False,
        populate_by_name=True,
        defer_build=True,
    )


class OpenTable(Table):
    """A table whose further keys belong to an adapter."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})
