"""A lazy dataclass is a dataclass in all that a caller sees."""

import ast
import copy
import dataclasses
import inspect
import pickle
import pkgutil
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter

import herorun
from herorun.core import dataclass_methods, lazy_dataclass
from herorun.core.lazy_dataclass import FEW, dataclass

SOURCE = Path(herorun.__file__).parent
TEMPLATES = Path(__file__).parents[2] / "templates"


class Shapes:
    """The same classes, by another decorator."""

    def __init__(self, dataclass: Any) -> None:
        @dataclass(frozen=True)
        class Point:
            x: int
            y: tuple[int, ...] = ()
            tags: list[str] = field(default_factory=list, compare=False, repr=False)
            unit: ClassVar[str] = "m"

            @cached_property
            def double(self) -> int:
                return 2 * self.x

        @dataclass(frozen=True, kw_only=True)
        class Named(Point):
            name: str
            x: int = 7

            def __hash__(self) -> int:
                return 3

        @dataclass
        class Counter:
            hits: int = 0
            observations: set[int] = field(init=False, default_factory=set)

            def __post_init__(self) -> None:
                self.hits += 1

        @dataclass(frozen=True)
        class Empty:
            pass

        @dataclass(slots=True)
        class Slotted:
            x: int
            y: list[int] = field(default_factory=list)
            z: float = 0.5

            def double_z(self) -> float:
                return 2 * self.z

        self.Point, self.Named, self.Counter, self.Empty = Point, Named, Counter, Empty
        self.Slotted = Slotted


LAZY, PLAIN = Shapes(dataclass), Shapes(dataclasses.dataclass)


@dataclass(frozen=True)
class Sent:
    """At the top of a module, so that it can be pickled."""

    words: tuple[str, ...]


MAKE = {
    "a point": lambda kind: kind.Point(1, (2,)),
    "keywords": lambda kind: kind.Named(name="a"),
    "a factory": lambda kind: kind.Point(1, tags=["a"]),
    "one that changes": lambda kind: kind.Counter(3),
    "no field": lambda kind: kind.Empty(),
    "one field too few": lambda kind: kind.Named(),
    "one too many": lambda kind: kind.Point(1, (), [], 4),
    "an unknown one": lambda kind: kind.Point(1, z=3),
    "slots": lambda kind: kind.Slotted(1, z=2.5),
    "slots, and one field too few": lambda kind: kind.Slotted(),
    "of no init": lambda kind: kind.Counter(seen=set()),
}
ASK = {
    "repr": lambda value: repr(value).rpartition(".")[2],
    "hash": hash,
    "equal to its copy": lambda value: value == copy.deepcopy(value),
    "unequal to another": lambda value: value == object(),
    "asdict": asdict,
    "fields": lambda value: [(it.name, it.type, it.kw_only) for it in fields(value)],
    "replace": lambda value: repr(replace(value)).rpartition(".")[2],
    "match": lambda value: type(value).__match_args__,
    "assign": lambda value: setattr(value, "x", 5),
    "assign another": lambda value: setattr(value, "other", 5),
    "delete": lambda value: delattr(value, "x"),
    "cached": lambda value: value.double,
    "signature": lambda value: str(inspect.signature(type(value))),
    "params": lambda value: repr(type(value).__dataclass_params__),
    "default": lambda value: repr(type(value).y),
    "slots": lambda value: (type(value).__slots__, hasattr(value, "__dict__")),
    "doubled": lambda value: value.double_z(),
}


def answer(kind: Shapes, make: Any, ask: Any) -> Any:
    try:
        return ask(make(kind))
    except (TypeError, AttributeError) as error:  # FrozenInstanceError is one
        return type(error), str(error).rpartition(".")[2]


@pytest.mark.parametrize("make", MAKE)
def test_it_answers_as_the_standard_library_does(make: str) -> None:
    plain_answers = {ask: answer(PLAIN, MAKE[make], ASK[ask]) for ask in ASK}
    assert {ask: answer(LAZY, MAKE[make], ASK[ask]) for ask in ASK} == plain_answers
    first_answers = {ask: answer(Shapes(dataclass), MAKE[make], ASK[ask]) for ask in ASK}
    assert first_answers == plain_answers  # no class has another instance yet


def test_the_standard_library_may_subclass_it_before_its_first_use() -> None:
    @dataclass(frozen=True)
    class Base:
        x: int = 1

    @dataclasses.dataclass(frozen=True, slots=True)
    class Own(Base):
        y: int = 2

    assert repr(Own(3)).endswith("Own(x=3, y=2)")


def test_a_plain_subclass_calls_its_init_and_may_have_attributes_of_its_own() -> None:
    class Sub(Shapes(dataclass).Point):  # type: ignore[misc]  # a base made at run time
        def __init__(self) -> None:
            super().__init__(5)
            self.other = 6

    sub = Sub()
    assert (sub.x, sub.other, sub == Sub()) == (5, 6, True)
    with pytest.raises(FrozenInstanceError):
        sub.x = 1


def test_what_is_unpickled_or_decoded_before_any_init_is_compared_hashed_and_frozen() -> None:
    raw = pickle.dumps(Sent(("a",)))
    for name in ("__init__", "__eq__", "__hash__", "__repr__"):
        setattr(Sent, name, lazy_dataclass._FirstRead(Sent, name, dataclass_methods.METHODS[name]))
    first, second = pickle.loads(raw), TypeAdapter(Sent).validate_python({"words": ["a"]})
    assert first == second and hash(first) == hash(second) and "Sent" in repr(first)
    with pytest.raises(FrozenInstanceError):
        first.words = ()


def waiting(kind: type[Any]) -> set[str]:
    return {name for name, it in vars(kind).items() if isinstance(it, lazy_dataclass._FirstRead)}


def test_each_method_waits_for_its_first_call() -> None:
    point = Shapes(dataclass).Point
    before = waiting(point)
    assert before > {"__init__", "__eq__", "__hash__", "__repr__"}
    hash(point(1))
    assert before - waiting(point) == {"__hash__", "__dataclass_fields__"}
    assert [point(each).x for each in range(1, FEW)] == list(range(1, FEW))
    assert before - waiting(point) == {"__hash__", "__dataclass_fields__"}
    assert point(FEW).x == FEW
    own = {"__dataclass_fields__", "__dataclass_params__"}
    assert before - waiting(point) == {"__init__", "__hash__", *own}


def modules() -> list[ModuleType]:
    names = [it.name for it in pkgutil.walk_packages(herorun.__path__, "herorun.")]
    return [import_module(name) for name in names if not name.endswith("__main__")]


def test_every_class_of_the_package_has_fields_and_methods_that_can_be_made() -> None:
    kinds = {
        kind
        for module in modules()
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__.startswith("herorun.") and is_dataclass(kind)
    }
    assert len(kinds) > 400
    for kind in kinds:
        methods = inspect.signature(kind), kind.__eq__, kind.__hash__, kind.__repr__
        assert not [it for it in methods if isinstance(it, lazy_dataclass._FirstRead)], kind


@pytest.mark.parametrize(
    ("folder", "expectation"), [(SOURCE, ["core/lazy_dataclass.py"]), (TEMPLATES, [])]
)
def test_only_the_lazy_decorator_takes_the_eager_one(folder: Path, expectation: list[str]) -> None:
    """The templates become modules of the package."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
    eager = [
        str(path.relative_to(folder))
        for path, text in texts.items()
        if "from dataclasses import" in text  # to parse the whole package takes a second
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(name.name == "dataclass" for name in node.names)
    ]
    assert eager == expectation


def test_one_that_the_standard_decorator_makes_is_frozen_too() -> None:
    @dataclass(frozen=True, order=True)
    class Ordered:
        x: int

    frozen_value: Any = Ordered(1)
    with pytest.raises(FrozenInstanceError):
        frozen_value.x = 2
