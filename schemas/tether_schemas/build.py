"""Models built from values that are known to be valid, without validating them again."""

from typing import Any, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)

_new = object.__new__
_set_dict, _set_given, _set_extra, _set_private = (
    BaseModel.__dict__[slot].__set__
    for slot in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")
)


_field_names: dict[type[BaseModel], set[str]] = {}


def trusted(
    model: type[Model], values: dict[str, Any], given: set[str] | None = None, extra: dict[str, Any] | None = None
) -> Model:
    """A frozen model that takes `values` as its own: every field must be there, with a value of the declared type.

    `given` names the fields that are no defaults (None: all), `extra` is what a model that allows more holds beside
    them. What pydantic's `model_construct` does, without looking for defaults and aliases: a tenth of its time.
    """
    made = _new(model)
    _set_dict(made, values)
    _set_given(made, given or _field_names.get(model) or _field_names.setdefault(model, set(model.model_fields)))
    _set_extra(made, extra)
    _set_private(made, None)
    return made
