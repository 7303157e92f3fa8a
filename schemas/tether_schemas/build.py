"""Facts built from values that are known to be valid, without validating them again."""

from typing import Any, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)

_new = object.__new__
_set = object.__setattr__


_field_names: dict[type[BaseModel], set[str]] = {}


def trusted(model: type[Model], values: dict[str, Any]) -> Model:
    """A frozen model that takes `values` as its own: every field must be there, with a value of the declared type.

    What pydantic's `model_construct` does, without looking for defaults and aliases: a tenth of its time.
    """
    names = _field_names.get(model) or _field_names.setdefault(model, set(model.model_fields))
    made = _new(model)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", names)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made
