"""Kinds of text that fields hold, and the error that names a field."""

from collections.abc import Callable
from reprlib import Repr
from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from tether_schemas.times import BadTime, time_us

ID_CHARS_MAX = 1024
NAME_CHARS_MAX = 256
TIME_CHARS_MAX = 64

# No control characters, in any of Unicode's two blocks of them; what is kept exactly is content, not names.
_PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f]+$"

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_CHARS_MAX, pattern=_PRINTABLE)]
EventId = Annotated[str, StringConstraints(min_length=1, max_length=ID_CHARS_MAX, pattern=_PRINTABLE)]
Time = Annotated[str, StringConstraints(max_length=TIME_CHARS_MAX)]


class BadField(ValueError):
    """A value is refused inside a validator: `field` is dotted and relative to the validated model."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason

    def within(self, field: str) -> "BadField":
        """The same fault, seen from a model that holds the refused one in `field`."""
        return BadField(f"{field}.{self.field}" if self.field else field, self.reason)


def check_time(text: str, field: str = "") -> str:
    """Return an RFC 3339 time as it came, or raise BadField saying what is wrong with it."""
    try:
        time_us(text)
    except BadTime as error:
        raise BadField(field, str(error)) from None
    return text


def first_fault(error: ValidationError) -> BadField:
    """The first fault of a pydantic error: dotted field, and in words what is allowed and what was given."""
    errors = error.errors(include_url=False)
    first, kinds = _of_union(errors)
    inner = first.get("ctx", {}).get("error")
    message = f"is {kinds}, not {given(first['input'])}" if kinds else in_words(first)
    parts = [str(part) for part in _written(first["loc"])]
    if isinstance(inner, BadField):
        parts, message = [*parts, *filter(None, [inner.field])], inner.reason
    return BadField(".".join(parts), message)


def _of_union(errors: list[ErrorDetails]) -> tuple[ErrorDetails, str]:
    """The error to tell, and what the field may be where it may be one of several kinds and is none of them.

    Every branch of a union says why it is not the one; what was meant is the branch whose kind was given.
    """
    first = errors[0]
    at = next((at for at in range(len(first["loc"])) if _is_branch(first["loc"], at, _UNION_BRANCHES)), None)
    if at is None:
        return first, ""
    branches = [one for one in errors if one["loc"][:at] == first["loc"][:at]]
    meant = next((one for one in branches if len(one["loc"]) > at + 1 or one["type"] not in _KINDS), None)
    return (meant, "") if meant else (first, " or ".join(dict.fromkeys(_KINDS[one["type"]] for one in branches)))


def in_words(error: ErrorDetails) -> str:
    """One pydantic error as a sentence that goes on from the field's name."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _KINDS:
        return f"is {_KINDS[kind]}, not {given(error['input'])}"
    if kind == "target":
        return f"{error['msg']}, not {given(error['input'])}"
    told = _IN_WORDS.get(kind)
    return error["msg"].removeprefix("Value error, ") if told is None else told(context, error["input"])


def given(value: Any) -> str:
    """What a caller wrote, cut short."""
    return _SHORT.repr(value)


def worded(pattern: str, words: str) -> str:
    """A pattern for StringConstraints, with the words for a text that does not match it."""
    _PATTERNS[pattern] = words
    return pattern


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2
_PATTERNS: dict[str, str] = {}
_CONTROL = "holds a control character, which no name may"

_KINDS = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
    "int_parsing": "an integer",
    "int_parsing_size": "an integer",
    "int_type": "an integer",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a string",
    "tuple_type": "a list",
}
_IN_WORDS: dict[str, Callable[[dict[str, Any], Any], str]] = {
    "extra_forbidden": lambda _, __: "is no field here; check its spelling",
    "missing": lambda _, __: "is missing",
    "literal_error": lambda context, value: f"is {context['expected']}, not {given(value)}",
    "greater_than": lambda context, value: f"is above {context['gt']:g}, not {given(value)}",
    "greater_than_equal": lambda context, value: f"is at least {context['ge']:g}, not {given(value)}",
    "less_than": lambda context, value: f"is below {context['lt']:,}, not {given(value)}",
    "less_than_equal": lambda context, value: f"is at most {context['le']:g}, not {given(value)}",
    "string_too_short": lambda _, __: "is empty; give at least 1 character",
    "string_too_long": lambda context, value: (
        f"has {len(value):,} characters; at most {context['max_length']:,} are allowed"
    ),
    "string_pattern_mismatch": lambda context, value: f"{given(value)} {_PATTERNS.get(context['pattern'], _CONTROL)}",
    "too_short": lambda _, __: "is empty; give at least 1 item",
    "too_long": lambda context, _: (
        f"has {context['actual_length']:,} items; at most {context['max_length']:,} are allowed"
    ),
}
WORDED = frozenset({*_KINDS, *_IN_WORDS, "target"})  # the kinds of pydantic's errors that have our words
# How locations name a branch of a union, which is nothing that a caller wrote; below what a caller names things.
_UNION_BRANCHES = ("bool", "constrained-str", "EvidenceRef", "float", "function-after[", "list[any]", "str")
_TAGS = ("tether.", "as:")
_OWN_NAMES = ("predicates", "schemes", "sources")


def _is_branch(loc: tuple[int | str, ...], at: int, labels: tuple[str, ...]) -> bool:
    part = loc[at]
    if not isinstance(part, str) or (at and loc[at - 1] in _OWN_NAMES):
        return False
    return any(part.startswith(label) if label[-1] in "[.:" else part == label for label in labels)


def _written(loc: tuple[int | str, ...]) -> list[int | str]:
    """The parts of a location that a caller wrote."""
    return [part for at, part in enumerate(loc) if not _is_branch(loc, at, _UNION_BRANCHES + _TAGS)]
