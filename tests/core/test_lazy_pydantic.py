"""Our models do what the same models of pydantic do: each test asks both."""

import copy
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from threading import Barrier
from typing import Annotated, Any, ClassVar, Literal, Self

import pydantic
import pytest

from herorun.core import decode as decoding
from herorun.core.canonical_json import plain
from herorun.core.contract import Contract, Duration
from herorun.core.decode import decode
from herorun.core.lazy_pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
    pydantic_models,
)
from herorun.core.lazy_pydantic.pydantic_models import twin, with_twins, without_twins
from herorun.core.lazy_pydantic.readers import reader_of
from herorun.core.lazy_pydantic.scalars import Unsure
from herorun.core.untrusted_toml import parse_toml

AT = datetime(2026, 1, 2, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


class Colour(StrEnum):
    RED = "red"


class Inner(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    x: int = 1


@dataclass(frozen=True)
class Point:
    at: datetime
    took: timedelta
    names: tuple[str, ...] = ()
    colour: Colour | None = None
    weight: float = 0.0
    by_step: Mapping[int, float] | None = None
    function: str = "f"  # a name that our own calls have too


def _no_x(value: str) -> str:
    if "x" in value:
        raise ValueError("has an x")
    return value.strip()


KINDS: dict[str, Any] = {
    "text": str,
    "int": int,
    "bool": bool,
    "float": float,
    "anything": Any,
    "none": None,
    "time": datetime,
    "duration": timedelta,
    "our duration": Duration,
    "bytes": bytes,
    "enum": Colour,
    "literal": Literal["a", 1],
    "optional": int | None,
    "number or text": float | str | None,
    "literal or int": Literal["a"] | int,
    "enum or text": Colour | str,
    "model": Inner,
    "models": tuple[Inner, ...],
    "model or text": Inner | str | None,
    "texts": tuple[str, ...],
    "list": list[float],
    "pair": tuple[int, str],
    "sequence": Sequence[str],
    "set": frozenset[str],
    "by name": dict[str, int],
    "mapping": Mapping[str, Mapping[str, Any]],
    "bounded": Annotated[int, Field(ge=0, lt=10)],
    "positive": PositiveFloat,
    "strict": Annotated[int, Field(strict=True)],
    "long": Annotated[str, Field(min_length=2)],
    "pattern": Annotated[str, Field(pattern="^[a-z]+$")],
    "constrained": Annotated[str, StringConstraints(pattern=r"^\S+ \S+$")],
    "validated": Annotated[str, AfterValidator(_no_x)],
    "optional and bounded": Annotated[int, Field(gt=3)] | None,
}
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 5, 2**70, -1, 1.0, 1.5, 0.1, float("inf"), float("nan")),
    *(
        "",
        "a",
        "1",
        "1.5",
        "true",
        "red",
        "ab",
        "ab cd",
        "x",
        " y ",
        "abc\n",
        "é",
        "\ud800",
        "a\0b",
    ),
    *("inf", "nan", "15m", "2h", "P1D", "soon", "2026-01-02T03:04:05Z", "2026-01-02"),
    *("2026-01-02T03:04:05.000007Z", "2026-01-02T03:04:05+02:00", "2026-13-02T03:04:05Z"),
    *(b"", b"ab", [], [1], ["a"], ["a", "b"], ("a",), [1.5], [1, "a"], {"a"}, frozenset({"a"})),
    *({}, {"x": 2}, {"x": "2"}, {"x": 2, "y": 3}, {"a": 1}, {"a": {"b": 1}}, {1: 2}),
    *([{}], [{"x": 3}, Inner()], Inner(), Inner(x=4), Colour.RED, [None]),
    *(datetime.fromisoformat("2026-01-02"), AT, timedelta(hours=1), timedelta()),
]


def outcome(act: Callable[[], Any]) -> Any:
    """What comes of it, or pydantic's errors, as text that shows types too."""
    try:
        return repr(with_twins(act()))
    except pydantic.ValidationError as error:
        return [(e["type"], e["loc"], e["msg"]) for e in error.errors(include_url=False)]


@pytest.mark.parametrize("name", KINDS)
def test_a_value_is_read_or_refused_as_pydantic_does(name: str) -> None:
    class Model(BaseModel):
        field: KINDS[name]  # type: ignore[valid-type]  # one of the table, at run time

    for value in VALUES:
        ours = outcome(lambda value=value: Model.model_validate({"field": value}))
        theirs = outcome(
            lambda value=value: twin(Model).model_validate(with_twins({"field": value}))
        )
        assert in_utc(ours) == in_utc(theirs), repr(value)


def in_utc(text: Any) -> Any:
    """Pydantic has a zone of its own for UTC."""
    return (
        str(text)
        .replace("TzInfo(0)", "datetime.timezone.utc")
        .replace("TzInfo(UTC)", "datetime.timezone.utc")
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_stored_value_is_decoded_as_pydantic_does(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    stored_values = [value for value in VALUES if "Inner" not in repr(value)]
    ours = [
        in_utc(outcome(lambda value=value: decode(KINDS[name], value))) for value in stored_values
    ]
    monkeypatch.setattr(decoding, "FEW", 0)
    for value, own in zip(stored_values, ours, strict=True):
        assert own == in_utc(outcome(lambda value=value: decode(KINDS[name], value))), repr(value)


def test_a_model_reads_what_is_usual_without_pydantic() -> None:
    for name, value in {"text": "a", "models": [{}], "time": AT}.items():
        assert reader_of(KINDS[name], False)(value) is not None
    with pytest.raises(Unsure):
        reader_of(int, False)("1")


@pytest.mark.parametrize(
    "changed_fields",
    [
        {},
        {"weight": 3, "names": ["a"], "colour": "red", "by_step": {"7": 1.5}},
        {"further": 1},
        {"took": "1.5"},
        {"took": 1e12},
        {"at": "0999-01-01T00:00:00Z"},
        {"at": "2026-01-01T00:00:00"},
        {"by_step": {"07": 1}},
        {"weight": "inf"},
        {"names": "a"},
    ],
)
def test_a_dataclass_is_decoded_as_pydantic_does(
    monkeypatch: pytest.MonkeyPatch, changed_fields: dict[str, Any]
) -> None:
    value = {**plain(Point(AT, timedelta(seconds=0.1))), **changed_fields}
    ours = in_utc(outcome(lambda: decode(Point, value)))
    monkeypatch.setattr(decoding, "FEW", 0)
    assert ours == in_utc(outcome(lambda: decode(Point, value)))


def test_a_stored_duration_is_the_one_that_was_written() -> None:
    for microseconds in (1, 3, 100_001, 999_999, 86_400_000_001, 3_110_400_000_000_001):
        duration = timedelta(microseconds=microseconds)
        assert decode(timedelta, plain(duration)) == duration


class Base(BaseModel):
    """A table with all that ours have."""

    RENAMED: ClassVar[Mapping[str, str]] = {"old": "new"}
    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    new: int = Field(3, gt=0, description="A number.")
    from_: str | None = Field(None, alias="from")
    limit: float | None = None
    wait: Duration | None = None
    secret: str = Field("s", exclude=True)
    by_name: dict[str, Colour] = Field({})
    inner: Inner = Inner.model_construct()
    many: "tuple[Inner, ...]" = ()

    @model_validator(mode="before")
    @classmethod
    def _present(cls, data: Any) -> Any:
        return {cls.RENAMED.get(key, key): value for key, value in data.items()}

    @field_validator("from_")
    @classmethod
    def _check_name(cls, value: str) -> str:
        if value == "nowhere":
            raise ValueError("is no place")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.new > 100 and not self.many:
            raise ValueError("needs many")
        return self


INPUTS: list[dict[str, Any]] = [
    {},
    {"new": 5, "from": "a", "limit": 3, "wait": "90s", "by_name": {"a": "red"}, "further": [1]},
    {"old": 7, "from_": "b", "limit": 1.5, "inner": {"x": 2}, "many": [{}, {"x": 3}]},
    {"new": 101},
    {"new": 101, "many": [{"x": 1}]},
    {"from": "a", "from_": "b"},
    {"limit": 1, "most": 2},
    {"from": "nowhere", "new": 0, "inner": {"y": 1}, "wait": "soon"},
    {"inner": Inner(x=9), "further": None, "secret": "t"},
    {"from": None, "limit": None},
    {"\ud800": 1},
    {"further": {Colour.RED: 1}},
]
DUMPS: list[dict[str, Any]] = [
    {},
    {"mode": "json"},
    {"by_alias": True},
    {"exclude_none": True},
    {"exclude_unset": True, "by_alias": True},
    {"mode": "json", "exclude_none": True, "exclude_unset": True, "by_alias": True},
    {"include": {"new", "further", "inner"}},
    {"exclude": {"inner", "further"}},
    {"exclude_defaults": True},
    {"include": {"inner": {"x"}}},
]


@pytest.mark.parametrize("table", INPUTS)
def test_a_table_is_read_and_dumped_as_pydantic_does(table: dict[str, Any]) -> None:
    theirs = outcome(lambda: twin(Base).model_validate(with_twins(table)))
    assert outcome(lambda: Base.model_validate(table)) == theirs
    assert outcome(lambda: Base(**table)) == outcome(lambda: twin(Base)(**with_twins(table)))
    if isinstance(theirs, list):
        return
    ours, real = Base.model_validate(table), twin(Base).model_validate(with_twins(table))
    for options in DUMPS:
        assert ours.model_dump(**options) == real.model_dump(**options), options
    assert ours.model_dump_json() == real.model_dump_json()
    assert ours.model_fields_set == real.model_fields_set
    assert ours.model_extra == real.model_extra
    assert repr(ours) == repr(real) or {"from", "from_"} <= table.keys()
    assert dict(ours) == dict(without_twins(real))
    assert without_twins(with_twins(ours)) == ours


def test_threads_share_the_twin_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two twins of one model, pydantic refuses a value of the one for the other."""

    class Part(BaseModel):
        x: int = 1

    class Whole(BaseModel):
        part: Part
        size: int

    def slowly(kind: Any) -> Any:
        time.sleep(0.01)  # so that another thread begins meanwhile
        return real_annotation(kind)

    def read(_: int) -> int:
        together.wait()
        return Whole.model_validate({"part": Part(), "size": "5"}).size

    real_annotation, together = pydantic_models._real_annotation, Barrier(4)
    monkeypatch.setattr(pydantic_models, "_real_annotation", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, range(4))) == [5] * 4


def test_a_model_has_the_schema_and_the_messages_of_pydantic() -> None:
    class Theirs(pydantic.BaseModel):
        x: int = 1

    assert Inner.model_json_schema()["properties"] == Theirs.model_json_schema()["properties"]
    assert Inner.model_fields["x"].get_default() == 1
    with pytest.raises(ValidationError, match="1 validation error for Inner"):
        Inner.model_validate({"x": "a"})
    assert pydantic.ValidationError is ValidationError


def test_a_model_is_a_frozen_value() -> None:
    values: dict[str, Any] = {"new": 4, "further": 2}  # an open table: mypy knows no further key
    table: Any = Base(**values)
    assert table == Base(**values) != Base(**{"new": 4})
    assert table.further == 2
    assert table.model_copy(update={"new": 5}).new == 5
    assert table.model_copy(update={"new": 5}).model_fields_set == {"new", "further"}
    assert table.model_copy(update={"other": 1}).model_extra == {"further": 2, "other": 1}
    assert pickle.loads(pickle.dumps(table)) == copy.deepcopy(table) == table
    assert hash(Inner(x=1)) == hash(Inner(x=1))
    with pytest.raises(ValidationError, match="frozen"):
        table.new = 6
    with pytest.raises(ValidationError, match="frozen"):
        del table.new
    with pytest.raises(AttributeError, match="nothing"):
        _ = table.nothing
    assert Base.model_construct(new=-1).new == -1
    assert Base.model_construct(new=1, further=2).model_extra == {"further": 2}
    assert Base().by_name is not Base().by_name


def test_a_validator_before_the_field_is_asked_first() -> None:
    class Table(BaseModel):
        negative: PositiveFloat = 1.0
        twice: Annotated[int, BeforeValidator(lambda value: value * 2)] = 0

        @field_validator("negative", mode="before")
        @classmethod
        def _negate(cls, value: float) -> float:
            return -value

    table = Table(negative=-2.0, twice=3)
    assert (table.negative, table.twice) == (2.0, 6)
    with pytest.raises(ValidationError, match="negative"):
        Table(negative=2.0)


def test_a_model_inside_one_of_pydantics_own_is_still_ours() -> None:
    class Theirs(pydantic.BaseModel):
        inner: Inner
        size: PositiveFloat

    read = Theirs.model_validate({"inner": {"x": "5"}, "size": 1})
    assert read.inner == Inner(x=5)
    assert read.model_dump() == {"inner": {"x": 5}, "size": 1.0}
    assert Theirs(inner=Inner(x=6), size=2).inner == Inner(x=6)
    with pytest.raises(ValidationError, match="greater than 0"):
        Theirs(inner=Inner(), size=0)


@dataclass(frozen=True)
class Limits:
    share: PositiveFloat = 0.5
    name: Annotated[str, StringConstraints(pattern="^a"), AfterValidator(_no_x)] = "a"


@pytest.mark.parametrize("wrong", [{"share": 0}, {"name": "b"}, {"name": "ax"}])
def test_pydantic_knows_our_marks_in_a_dataclass(wrong: dict[str, Any]) -> None:
    assert pydantic.TypeAdapter(Limits).validate_python({"share": 2, "name": "a "}).name == "a"
    with pytest.raises(ValidationError):
        pydantic.TypeAdapter(Limits).validate_python(wrong)


WRONG: list[Any] = [None, True, 0, -1, 1.5, "", "x", "15m", [], ["a"], [""], {}, {"a": 1}]


def changes(table: dict[str, Any], shape: Any) -> Any:
    """The table with each of its keys, stated or not, set to each of some values."""
    for name, field in shape.model_fields.items():
        key = field.alias or name
        for value in WRONG:
            yield {**table, key: value}
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            for inner_change in changes(table.get(key, {}), inner):
                yield {**table, key: inner_change}


def test_a_contract_and_wrong_ones_are_read_as_pydantic_does() -> None:
    table = parse_toml((ROOT / "runs" / "char-lm.toml").read_text())
    for data in changes(table, Contract):
        ours = outcome(lambda data=data: Contract.model_validate(data))
        assert ours == outcome(lambda data=data: twin(Contract).model_validate(data)), data
