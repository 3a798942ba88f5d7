"""The same models as classes of pydantic, and values from one side to the other."""

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pydantic
from pydantic_core import core_schema

from herorun.core.lazy_pydantic.markers import Marker
from herorun.core.lazy_pydantic.model import BaseModel, ModelType

_TWINS: dict[Any, Any] = {}  # by our model
_OURS: dict[type, Any] = {}  # by the twin
_LEFT_OUT = frozenset({"__dict__", "__weakref__", "__classcell__", "__annotations__"})


def twin(cls: Any) -> Any:
    """The class of pydantic whose body is that of one of our models."""
    if cls not in _TWINS:
        new = pydantic.BaseModel if cls is BaseModel else _new_twin(cls)
        # Another thread may have been faster, and pydantic refuses one twin for the other.
        return _TWINS.setdefault(cls, new)
    return _TWINS[cls]


def _new_twin(cls: Any) -> Any:
    bases = tuple(twin(base) if isinstance(base, ModelType) else base for base in cls.__bases__)
    body = {n: _real_value(v) for n, v in cls.__body__.items() if n not in _LEFT_OUT}
    annotations = {n: f.whole_annotation for n, f in cls.__own_fields__.items()}
    body["__annotations__"] = {
        **cls.__body__.get("__annotations__", {}),
        **{name: _real_annotation(kind) for name, kind in annotations.items()},
    }
    of_pydantic: Any = type(pydantic.BaseModel)
    own_twin = of_pydantic(cls.__name__, bases, body)
    _OURS[own_twin] = cls
    return own_twin


def _real_value(value: Any) -> Any:
    if isinstance(value, Marker):
        options = {name: _real_value(each) for name, each in value.options.items()}
        values = [with_twins(each) for each in value.values]
        copy = type(value)(value.name, *values, **options)
        vars(copy).update({n: v for n, v in vars(value).items() if n == "function"})
        return copy.real()
    return with_twins(value)


def _real_annotation(kind: Any) -> Any:
    if isinstance(kind, ModelType):
        return twin(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal or not arguments:
        return kind
    if origin is Annotated:
        marks = (mark.real() if isinstance(mark, Marker) else mark for mark in arguments[1:])
        return Annotated[(_real_annotation(arguments[0]), *marks)]
    real = tuple(each if each is ... else _real_annotation(each) for each in arguments)
    if origin in (Union, UnionType):
        return Union[real]  # noqa: UP007  # a tuple
    return origin[real]


def with_twins(value: Any) -> Any:
    """The same with pydantic's models."""
    if isinstance(value, BaseModel):
        kind = twin(type(value))
        model = kind.__new__(kind)
        values = {name: with_twins(each) for name, each in vars(value).items()}
        for name, each in (
            ("__dict__", values),
            ("__pydantic_fields_set__", set(value.__pydantic_fields_set__)),
            ("__pydantic_extra__", with_twins(value.__pydantic_extra__)),
            ("__pydantic_private__", None),
        ):
            object.__setattr__(model, name, each)
        return model
    return _in_containers(with_twins, value)


def without_twins(value: Any) -> Any:
    """The same with our models."""
    if type(value) not in _OURS:
        return _in_containers(without_twins, value)
    model = object.__new__(_OURS[type(value)])
    model.__setstate__(
        (
            {name: without_twins(each) for name, each in vars(value).items()},
            value.__pydantic_fields_set__,
            without_twins(value.__pydantic_extra__),
        )
    )
    return model


def _in_containers(change: Any, value: Any) -> Any:
    if type(value) is dict:
        return {name: change(each) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(change(each) for each in value)
    return value


def schema_of(cls: Any, handler: Any) -> Any:
    """What a validator of pydantic's takes for one of our models, and gives."""
    inner = core_schema.no_info_before_validator_function(
        with_twins, handler.generate_schema(twin(cls))
    )
    return core_schema.no_info_after_validator_function(
        without_twins,
        inner,
        serialization=core_schema.plain_serializer_function_ser_schema(BaseModel.model_dump),
    )
