"""What stands for an object of pydantic's in an annotation or a body, until it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

MISSING: Any = type("_Missing", (), {"__repr__": lambda _: "<missing>"})()


class Marker:
    """One object of pydantic's, by its name there and what makes it."""

    # By this pydantic knows that it may iterate over what stands in `Annotated`.
    __is_annotated_types_grouped_metadata__ = True

    def __init__(self, name: str, *values: Any, **options: Any) -> None:
        self.name, self.values, self.options = name, values, options

    def real(self) -> Any:
        import pydantic

        return getattr(pydantic, self.name)(*self.values, **self.options)

    def __iter__(self) -> Iterator[Any]:
        real = self.real()
        yield from getattr(real, "metadata", (real,))


class ValidatorMarker(Marker):
    """A function of a class's body that is called as a field, or the whole, is read."""

    function: Any  # as it stands in the body, a class method of a field's

    def __call__(self, function: Any) -> "ValidatorMarker":
        self.function = function
        return self

    @property
    def mode(self) -> str:
        return str(self.options.get("mode", "after"))

    def real(self) -> Any:
        return super().real()(self.function)


def AfterValidator(function: Callable[[Any], Any]) -> Marker:
    return Marker("AfterValidator", function)


def BeforeValidator(function: Callable[[Any], Any]) -> Marker:
    return Marker("BeforeValidator", function)


def PlainSerializer(function: Callable[[Any], Any], return_type: Any) -> Marker:
    return Marker("PlainSerializer", function, return_type=return_type)


def WithJsonSchema(schema: Mapping[str, Any]) -> Marker:
    return Marker("WithJsonSchema", schema)


def StringConstraints(**options: Any) -> Marker:
    return Marker("StringConstraints", **options)


def Field(default: Any = MISSING, **options: Any) -> Any:
    return Marker("Field", *(() if default is MISSING else (default,)), **options)


def model_validator(*, mode: str) -> Any:
    return ValidatorMarker("model_validator", mode=mode)


def field_validator(*names: str, mode: str = "after") -> Any:
    return ValidatorMarker("field_validator", *names, mode=mode)


PositiveFloat = Annotated[float, Field(gt=0)]
PositiveInt = Annotated[int, Field(gt=0)]
NonNegativeInt = Annotated[int, Field(ge=0)]
