"""pydantic's models, without pydantic where all is in order.

To import pydantic and build its validators takes half of a short command's time. Here a model, its
fields and validators are only written down. What surely fits is read by plain Python
(`readers`); everything else, above all what is wrong, goes to the same model of pydantic
(`pydantic_models`), which decides, and whose message it is. JSON Schema is pydantic's, too.

Only what herorun uses is here, and every model is frozen. An installed package may bring models of
pydantic's own: both have the same methods.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # type checkers know those
    from pydantic import (
        AfterValidator as AfterValidator,
        BaseModel as BaseModel,
        BeforeValidator as BeforeValidator,
        ConfigDict as ConfigDict,
        Field as Field,
        NonNegativeInt as NonNegativeInt,
        PlainSerializer as PlainSerializer,
        PositiveFloat as PositiveFloat,
        PositiveInt as PositiveInt,
        StringConstraints as StringConstraints,
        ValidationError as ValidationError,
        WithJsonSchema as WithJsonSchema,
        field_validator as field_validator,
        model_validator as model_validator,
    )
else:
    # ruff: noqa: F401
    from herorun.core.lazy_pydantic.markers import (
        AfterValidator,
        BeforeValidator,
        Field,
        NonNegativeInt,
        PlainSerializer,
        PositiveFloat,
        PositiveInt,
        StringConstraints,
        WithJsonSchema,
        field_validator,
        model_validator,
    )
    from herorun.core.lazy_pydantic.model import BaseModel

    ConfigDict = dict

    def __getattr__(name: str) -> Any:
        """`ValidationError`, which an `except` asks for only after something was raised."""
        if name != "ValidationError":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pydantic import ValidationError

        return ValidationError
