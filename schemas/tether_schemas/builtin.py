"""Arguments of the built-in tools `memory.write` and `memory.link` (design, part 3; the producers' contract)."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from tether_schemas.fields import NAME_CHARS_MAX, BadField, Name, Time, check_time, first_fault, given
from tether_schemas.policy import DEFAULT, Authority, Mode
from tether_schemas.refs import EvidenceRef, Grade, parse_ref
from tether_schemas.subjects import TEXT_CHARS_MAX, VERSIONED, BadSubject, parse_subject

MEMORY_WRITE = "memory.write"
MEMORY_LINK = "memory.link"
PREMISES_MAX = 10_000

RefText = Annotated[str, StringConstraints(min_length=1, max_length=TEXT_CHARS_MAX)]
AnyRef = RefText | EvidenceRef
# JSON has lists only: a tuple takes one, however strict the model is about the rest.
Refs = Annotated[tuple[AnyRef, ...], Strict(False)]
Names = Annotated[tuple[Name, ...], Strict(False)]

OPTIONAL_TIMES = ("valid_from", "valid_to", "observed_at", "expires_at", "review_at")


VERDICTS = frozenset(name for name, policy in DEFAULT.predicates.items() if policy.verdict)


def _check_refs(refs: tuple[AnyRef, ...], field: str) -> None:
    try:
        for ref in refs:
            parse_ref(ref)
    except BadSubject:
        for index, ref in enumerate(refs):
            _check_ref(ref, f"{field}.{index}")


def _check_ref(ref: AnyRef, field: str) -> None:
    try:
        parse_ref(ref)
    except BadSubject as error:
        role = "dependent" if field == "dependent" else "premise"
        raise BadField(field, f"bad {role} {given(error.text)}: {error.reason}") from None


class MemoryWrite(BaseModel):
    """One assertion, as a tool call writes it. `derived_from` are its premises; `premises_complete`: these are all."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    subject: RefText
    predicate: Name
    value: Any
    scope: Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")] = ""
    issuer: Name | None = None
    memory_type: Name | None = None
    mode: Mode = "explicit"
    valid_from: Time | None = None
    valid_to: Time | None = None
    observed_at: Time | None = None
    expires_at: Time | None = None
    authority: Authority = "unknown"
    confidence: float | None = Field(default=None, ge=0, le=1)
    sensitivity: Name | None = None
    readers: Names | None = Field(default=None, min_length=1)
    derived_from: Refs = Field(default=(), max_length=PREMISES_MAX)
    premises_complete: bool = False
    original_text: str | None = None
    write_reason: str | None = None
    review_at: Time | None = None

    @model_validator(mode="after")
    def _claim(self) -> "MemoryWrite":
        if self.value is None:
            raise BadField("value", "null is no claim; to take a statement back, use forget or invalidate")
        written = self.__dict__
        for field in OPTIONAL_TIMES:
            if written[field] is not None:
                check_time(written[field], field)
        _check_refs(self.derived_from, "derived_from")
        try:
            subject = parse_subject(self.subject)
        except BadSubject as error:
            raise BadField("subject", str(error)) from None
        if self.predicate in VERDICTS:
            self._verdict(subject.version is None and subject.scheme in VERSIONED)
        return self

    def _verdict(self, unversioned: bool) -> None:
        interval = "valid_from" if self.valid_from is not None else "valid_to" if self.valid_to is not None else None
        if fault := verdict_fault(self.value, interval, self.expires_at):
            raise fault
        if unversioned:
            raise BadField("subject", f"a verdict is of one exact version, such as {self.subject}@1.0")


def verdict_fault(value: Any, interval: str | None, expires_at: str | None) -> BadField | None:
    """Why this cannot be a verdict, or None. A verdict is true or false, has no interval, and false never expires.

    `interval` names the field that gives it an interval, where one does.
    """
    if not isinstance(value, bool):
        return BadField("value", f"a verdict is true or false, not {value!r:.80}")
    if interval is not None:
        return BadField(interval, "a verdict is of an exact version and has no validity interval")
    if value is False and expires_at is not None:
        return BadField("expires_at", "a failed verdict does not expire; a later true one of higher authority lifts it")
    return None


class MemoryLink(BaseModel):
    """One derivation, as a tool call states it: `dependent` derives from `premise` (or from each of `premises`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    dependent: AnyRef
    premise: AnyRef | None = None
    premises: Refs | None = Field(default=None, min_length=1, max_length=PREMISES_MAX)
    grade: Grade = "stated"

    @model_validator(mode="after")
    def _checked(self) -> "MemoryLink":
        if (self.premise is None) == (self.premises is None):
            raise BadField("premise", "give either premise or premises")
        _check_ref(self.dependent, "dependent")
        if self.premise is not None:
            _check_ref(self.premise, "premise")
        _check_refs(self.premises or (), "premises")
        return self

    @property
    def all_premises(self) -> tuple[AnyRef, ...]:
        """The premises in either form."""
        return self.premises if self.premises is not None else (self.premise,) if self.premise is not None else ()


BuiltIn = MemoryWrite | MemoryLink

_READERS: dict[str, Callable[[Any], BuiltIn]] = {
    MEMORY_WRITE: TypeAdapter(MemoryWrite).validator.validate_python,
    MEMORY_LINK: TypeAdapter(MemoryLink).validator.validate_python,
}


def read_arguments(tool: str, arguments: dict[str, Any]) -> BuiltIn | None:
    """The arguments of a built-in tool as a model; None for another tool. Raises BadField."""
    reader = _READERS.get(tool)
    try:
        return None if reader is None else reader(arguments)
    except ValidationError as error:
        raise first_fault(error) from None
