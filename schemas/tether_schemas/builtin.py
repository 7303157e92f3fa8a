"""Arguments of the built-in tools `memory.write` and `memory.link` (design, part 3; the producers' contract)."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from tether_schemas.canonical import NotJson, check_json
from tether_schemas.policy import DEFAULT, Authority, Mode
from tether_schemas.refs import EvidenceRef, Grade, parse_ref
from tether_schemas.subjects import BadSubject, parse_subject
from tether_schemas.times import BadTime, time_us

MEMORY_WRITE = "memory.write"
MEMORY_LINK = "memory.link"
PREMISES_MAX = 10_000

Name = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")]
Time = Annotated[str, StringConstraints(max_length=64)]
RefText = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
AnyRef = RefText | EvidenceRef


def check_time(text: str) -> str:
    """Return an RFC 3339 time as it came, or raise ValueError saying what is wrong with it."""
    try:
        time_us(text)
    except BadTime as error:
        raise ValueError(str(error)) from None
    return text


def check_ref(ref: AnyRef) -> AnyRef:
    """Return a reference as it came, or raise ValueError when it names nothing that can be a premise."""
    try:
        parse_ref(ref)
    except BadSubject as error:
        raise ValueError(str(error)) from None
    return ref


class MemoryWrite(BaseModel):
    """One assertion, as a tool call writes it. `derived_from` names its premises, `premises_complete` that these are all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: RefText
    predicate: Name
    value: Any
    scope: Annotated[str, StringConstraints(max_length=256)] = ""
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
    readers: tuple[Name, ...] | None = Field(default=None, min_length=1)
    derived_from: tuple[AnyRef, ...] = Field(default=(), max_length=PREMISES_MAX)
    premises_complete: bool = False
    original_text: str | None = None
    write_reason: str | None = None
    review_at: Time | None = None

    @field_validator("valid_from", "valid_to", "observed_at", "expires_at", "review_at")
    @classmethod
    def _times(cls, text: str | None) -> str | None:
        return None if text is None else check_time(text)

    @field_validator("derived_from")
    @classmethod
    def _refs(cls, refs: tuple[AnyRef, ...]) -> tuple[AnyRef, ...]:
        for ref in refs:
            check_ref(ref)
        return refs

    @model_validator(mode="after")
    def _claim(self) -> "MemoryWrite":
        if self.value is None:
            raise ValueError("value: null is no claim; to take a statement back, use forget or invalidate")
        try:
            check_json(self.value, "value")
            subject = parse_subject(self.subject)
        except NotJson as error:
            raise ValueError(str(error)) from None
        except BadSubject as error:
            raise ValueError(f"subject: {error}") from None
        if DEFAULT.predicate(self.predicate).verdict:
            fault = verdict_fault(self.value, self.valid_from or self.valid_to, self.expires_at)
            if fault is None and subject.version is None and subject.scheme in ("pkg", "item"):
                fault = f"subject: a verdict is of one exact version, such as {subject.text}@1.0"
            if fault is not None:
                raise ValueError(fault)
        return self


def verdict_fault(value: Any, interval: str | None, expires_at: str | None) -> str | None:
    """Why this cannot be a verdict, or None. A verdict is true or false, has no interval, and false never expires."""
    if not isinstance(value, bool):
        return f"value: a verdict is true or false, not {value!r:.80}"
    if interval is not None:
        return "valid_from: a verdict is of an exact version and has no validity interval"
    if value is False and expires_at is not None:
        return "expires_at: a failed verdict does not expire; a later true one of higher authority lifts it"
    return None


class MemoryLink(BaseModel):
    """One derivation, as a tool call states it: `dependent` derives from `premise` (or from each of `premises`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dependent: AnyRef
    premise: AnyRef | None = None
    premises: tuple[AnyRef, ...] | None = Field(default=None, min_length=1, max_length=PREMISES_MAX)
    grade: Grade = "stated"

    @field_validator("dependent", "premise")
    @classmethod
    def _ref(cls, ref: AnyRef | None) -> AnyRef | None:
        return None if ref is None else check_ref(ref)

    @field_validator("premises")
    @classmethod
    def _refs(cls, refs: tuple[AnyRef, ...] | None) -> tuple[AnyRef, ...] | None:
        for ref in refs or ():
            check_ref(ref)
        return refs

    @model_validator(mode="after")
    def _one_form(self) -> "MemoryLink":
        if (self.premise is None) == (self.premises is None):
            raise ValueError("premise: give either premise or premises")
        return self

    @property
    def all_premises(self) -> tuple[AnyRef, ...]:
        """The premises in either form."""
        return self.premises if self.premises is not None else (self.premise,) if self.premise is not None else ()
