"""The base of the models, as pydantic's `BaseModel`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from herorun.core.lazy_pydantic.fields import FieldInfo, own_fields, own_validators
from herorun.core.lazy_pydantic.markers import MISSING, ValidatorMarker
from herorun.core.lazy_pydantic.scalars import Unsure, call_validator, read_text

_NOTHING: Mapping[str, Any] = {}


class ModelType(type):
    """Writes down the body of a class, for pydantic if it is asked."""

    model_config: Mapping[str, Any]
    model_fields: Mapping[str, FieldInfo]

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> "ModelType":
        marks = own_validators(body)
        functions = {each: mark.function for each, mark in marks.items()}
        cls = super().__new__(mcs, name, bases, {**body, **functions})
        cls.__body__, cls.__marks__ = body, marks
        cls.__own_fields__ = own_fields(cls)
        line = cls.__mro__[::-1]
        configs = (vars(base).get("model_config", _NOTHING) for base in line)
        cls.model_config = {name: value for each in configs for name, value in each.items()}
        of_bases = (vars(base).get("__own_fields__", _NOTHING) for base in line)
        cls.model_fields = {name: field for each in of_bases for name, field in each.items()}
        cls.__plan__ = None
        return cls

    __body__: Mapping[str, Any]
    __marks__: Mapping[str, ValidatorMarker]
    __own_fields__: Mapping[str, FieldInfo]
    __plan__: "ReadingPlan | None"

    def __getattr__(cls, name: str) -> Any:
        """The rest of what a class of pydantic's has, such as its JSON Schema."""
        if name.startswith(("model_", "__pydantic_")):
            from herorun.core.lazy_pydantic.pydantic_models import twin

            return getattr(twin(cls), name)
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class ReadingPlan:
    """How a model is read."""

    def __init__(self, cls: ModelType) -> None:
        marks = {name: mark for base in cls.__mro__[::-1] for name, mark in _marks_of(base)}
        of_fields: dict[str, list[tuple[str, Callable[..., Any]]]] = {}
        self.before: list[Callable[..., Any]] = []
        self.after: list[Callable[..., Any]] = []
        for name, mark in marks.items():
            if mark.name == "model_validator":
                self.before += [getattr(cls, name)] if mark.mode == "before" else []
                self.after += [getattr(cls, name)] if mark.mode == "after" else []
            else:
                for field in mark.values:
                    of_fields.setdefault(field, []).append((mark.mode, getattr(cls, name)))
        self.fields = [(each, each.reader(of_fields)) for each in cls.model_fields.values()]
        self.config = cls.model_config


def _marks_of(base: type) -> Any:
    return vars(base).get("__marks__", _NOTHING).items()


class BaseModel(metaclass=ModelType):
    """A frozen model. Equal are two of one class with equal values, as in pydantic."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__weakref__")
    __pydantic_extra__: dict[str, Any] | None
    __pydantic_fields_set__: set[str]

    def __init__(self, /, **data: Any) -> None:
        try:
            type(self)._fill(self, data)
        except Unsure:
            from herorun.core.lazy_pydantic.pydantic_models import twin, with_twins, without_twins

            model = without_twins(twin(type(self))(**with_twins(data)))
            _fill_slots(self, vars(model), model.__pydantic_fields_set__, model.__pydantic_extra__)

    @classmethod
    def model_validate(cls, value: Any, **options: Any) -> Self:
        """Raises pydantic's `ValidationError`, a ValueError, which names every fault."""
        if not options:
            try:
                return cls.__read__(value)
            except Unsure:
                pass
        from herorun.core.lazy_pydantic.pydantic_models import twin, with_twins, without_twins

        model: Self = without_twins(twin(cls).model_validate(with_twins(value), **options))
        return model

    @classmethod
    def model_validate_json(cls, text: str | bytes, **options: Any) -> Self:
        from herorun.core.lazy_pydantic.pydantic_models import twin, without_twins

        model: Self = without_twins(twin(cls).model_validate_json(text, **options))
        return model

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """A model of values that are valid already."""
        further, own = dict(values), {}
        for name, field in cls.model_fields.items():
            key = next((key for key in field.keys if key in further), None)
            if key is not None:
                own[name] = further.pop(key)
            elif not field.is_required():
                own[name] = field.get_default()
        extra = further if cls.model_config.get("extra") == "allow" else None
        names = values.keys() - further.keys()
        by_field = {n for n, f in cls.model_fields.items() if not names.isdisjoint(f.keys)}
        stated_names = {*by_field, *(extra or ())} if _fields_set is None else _fields_set
        model: Self = _fill_slots(object.__new__(cls), own, stated_names, extra)
        return model

    @classmethod
    def __read__(cls, value: Any) -> Self:
        if type(value) is cls:
            return value
        model: Self = cls._fill(object.__new__(cls), value)
        return model

    @classmethod
    def _fill(cls, self: Any, source: Any) -> Any:
        if cls.__plan__ is None:
            cls.__plan__ = ReadingPlan(cls)
        plan = cls.__plan__
        for function in plan.before:
            source = call_validator(function, source)
        values, names, extra = _values(plan, source)
        _fill_slots(self, values, names, extra)
        for function in plan.after:
            if call_validator(function, self) is not self:
                raise Unsure
        return self

    def model_copy(self, *, update: Mapping[str, Any] = _NOTHING, deep: bool = False) -> Self:
        """With other values, which are not validated."""
        if deep or update.keys() - type(self).model_fields.keys():
            from herorun.core.lazy_pydantic.pydantic_models import with_twins, without_twins

            twins = with_twins(dict(update))
            copy: Self = without_twins(with_twins(self).model_copy(update=twins, deep=deep))
            return copy
        extra = self.__pydantic_extra__ and dict(self.__pydantic_extra__)
        names = self.__pydantic_fields_set__ | update.keys()
        own = {**vars(self), **update}
        model: Self = _fill_slots(object.__new__(type(self)), own, names, extra)
        return model

    def model_dump(self, **options: Any) -> dict[str, Any]:
        from herorun.core.lazy_pydantic.dump import dump

        try:
            return dump(self, **options)
        except Unsure:
            from herorun.core.lazy_pydantic.pydantic_models import with_twins

            document: dict[str, Any] = with_twins(self).model_dump(**options)
            return document

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the fields that the source had."""
        return self.__pydantic_fields_set__

    @property
    def model_extra(self) -> dict[str, Any] | None:
        return self.__pydantic_extra__

    def __getattr__(self, name: str) -> Any:
        """A further key of an open table, or what else a model of pydantic's has."""
        if name.startswith("model_"):
            from herorun.core.lazy_pydantic.pydantic_models import with_twins

            return getattr(with_twins(self), name)
        if not name.startswith("__"):
            extra = self.__pydantic_extra__ or _NOTHING
            if name in extra:
                return extra[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from {**vars(self), **(self.__pydantic_extra__ or {})}.items()

    def __setattr__(self, name: str, value: Any) -> None:
        """Pydantic refuses it, in its words."""
        from herorun.core.lazy_pydantic.pydantic_models import with_twins

        setattr(with_twins(self), name, value)
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        from herorun.core.lazy_pydantic.pydantic_models import with_twins

        delattr(with_twins(self), name)
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, BaseModel):
            return NotImplemented
        extras = self.__pydantic_extra__ or None, other.__pydantic_extra__ or None
        return vars(self) == vars(other) and extras[0] == extras[1]

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self)})"

    def __getstate__(self) -> tuple[Any, ...]:
        return vars(self), self.__pydantic_fields_set__, self.__pydantic_extra__

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _fill_slots(self, *state)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Inside a model or a validator of pydantic's own."""
        from herorun.core.lazy_pydantic.pydantic_models import schema_of

        return schema_of(cls, handler)


def _fill_slots(self: Any, values: Any, names: set[str], extra: dict[str, Any] | None) -> Any:
    vars(self).update(values)
    object.__setattr__(self, "__pydantic_fields_set__", names)
    object.__setattr__(self, "__pydantic_extra__", extra)
    return self


def _values(
    plan: ReadingPlan, source: Any
) -> tuple[dict[str, Any], set[str], dict[str, Any] | None]:
    """The values of the fields, which of them the source has, and further keys."""
    from_attributes = type(source) is not dict
    if from_attributes and not (plan.config.get("from_attributes") and _has_attributes(source)):
        raise Unsure
    table = _attributes(plan, source) if from_attributes else source
    values, names, used_keys = {}, set(), 0
    for field, reader in plan.fields:
        keys = [key for key in field.keys if key in table]
        if keys:
            values[field.name] = reader(table[keys[0]])
            names.add(field.name)
        elif field.default is MISSING:
            raise Unsure
        else:
            values[field.name] = field.get_default()
        used_keys += len(keys)
        if len(keys) > 1:
            raise Unsure
    extra = _further(plan, table, used_keys)
    return values, names | (extra or {}).keys(), extra


def _further(plan: ReadingPlan, table: Mapping[str, Any], used_count: int) -> dict[str, Any] | None:
    policy = plan.config.get("extra", "ignore")
    if policy == "allow":
        stated_values = {key for field, _ in plan.fields for key in field.keys}
        extra = {key: value for key, value in table.items() if key not in stated_values}
        return {read_text(key): value for key, value in extra.items()}
    if policy == "forbid" and len(table) > used_count:
        raise Unsure
    return None


def _has_attributes(source: Any) -> bool:
    return hasattr(source, "__dataclass_fields__") or isinstance(source, BaseModel)


def _attributes(plan: ReadingPlan, source: Any) -> dict[str, Any]:
    names = [name for field, _ in plan.fields for name in field.keys]
    try:
        pairs = [(name, getattr(source, name, MISSING)) for name in names]
    except Exception:
        raise Unsure from None
    return {name: value for name, value in pairs if value is not MISSING}
