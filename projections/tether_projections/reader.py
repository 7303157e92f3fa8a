"""Who reads: the wall of the namespace, and what `readers` of an assertion leave to be seen (I-8)."""

from collections.abc import Sequence
from dataclasses import dataclass

from tether_schemas.errors import BadNamespace, BadRequest
from tether_schemas.fields import given
from tether_schemas.subjects import BadSubject

from tether_projections.state import State


@dataclass(frozen=True, slots=True)
class Reader:
    """A namespace, and the principal on whose behalf it is read; the operator sees everything of it.

    Raises BadNamespace when the namespace is missing.
    """

    namespace: str
    principal: str | None = None
    operator: bool = False

    def __post_init__(self) -> None:
        if not self.namespace:
            raise BadNamespace("is missing; every read names one, such as tenant or tenant/workspace")

    def may_see(self, readers: Sequence[str] | None) -> bool:
        """Whether what names these readers (None: everyone of the namespace) is shown."""
        return readers is None or self.operator or self.principal in readers


@dataclass(frozen=True, slots=True)
class Asked:
    """One slot as it is asked for; `subject` is canonical."""

    reader: Reader
    subject: str
    predicate: str
    scope: str


def asked(state: State, reader: Reader, subject: str, predicate: str, scope: str) -> Asked:
    """The slot that a caller names. Raises BadRequest with the field that names nothing."""
    text = subject_text(state, reader, subject)
    for field, value in (("predicate", predicate), ("scope", scope)):
        check_text(field, value)
        if "\0" in value:
            raise BadRequest(field, "holds a NUL character, which no name may")
    if not predicate:
        raise BadRequest("predicate", "is empty; name the property that is asked for, such as passes")
    return Asked(reader, text, predicate, scope)


def check_text(field: str, value: object) -> None:
    """Raise BadRequest for what is no text: callers need not be type-checked."""
    if not isinstance(value, str):
        raise BadRequest(field, f"is a string, not {given(value)}")


def check_number(field: str, value: object, least: int, most: int) -> None:
    """Raise BadRequest for what is no whole number within bounds."""
    if not isinstance(value, int) or not least <= value <= most:
        raise BadRequest(field, f"is a number from {least} to {most}, not {given(value)}")


def subject_text(state: State, reader: Reader, subject: str) -> str:
    """The canonical spelling of a subject. Raises BadRequest."""
    check_text("subject", subject)
    try:
        return state.policies.subject(reader.namespace, subject).text
    except BadSubject as error:
        raise BadRequest("subject", f"{subject[:80]!r} {error.reason}") from None
