"""Kinds of text that fields hold, and the error that names a field."""

from typing import Annotated, Any

from pydantic import StringConstraints, ValidationError

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
    """The first fault of a pydantic error: dotted field, reason in words."""
    first = error.errors(include_url=False)[0]
    context: dict[str, Any] = first.get("ctx", {})
    inner = context.get("error")
    message = _IN_WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
    parts = [str(part) for part in first["loc"] if not (isinstance(part, str) and _is_branch(part))]
    if isinstance(inner, BadField):
        parts, message = [*parts, *filter(None, [inner.field])], inner.reason
    return BadField(".".join(parts), message)


_IN_WORDS = {
    "extra_forbidden": "is no field here; check its spelling",
    "missing": "is missing",
    "string_pattern_mismatch": "is malformed or holds a control character",
}
_BRANCHES = {"constrained-str", "str", "list[any]", "EvidenceRef"}


def _is_branch(part: str) -> bool:
    """Whether a part of a pydantic location names a branch of a union, which is nothing that a caller wrote."""
    return part in _BRANCHES or part.startswith(("tether.", "as:"))
