"""What deletions and decisions are about."""

from collections.abc import Iterable
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Discriminator, StringConstraints, Tag, field_validator

from tether_schemas.fields import BadField, EventId, worded
from tether_schemas.refs import EvidenceRef
from tether_schemas.subjects import BadSubject, parse_subject


class Data(BaseModel):
    """Base of every event's `data`: unknown fields are refused, since a misspelt one would be lost without a word."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def check_subject(text: str, field: str = "") -> str:
    """Return a subject as it came, or raise BadField saying what is wrong with it."""
    try:
        parse_subject(text)
    except BadSubject as error:
        raise BadField(field, str(error)) from None
    return text


class EvidenceTarget(Data):
    """One piece of evidence."""

    evidence: EvidenceRef


class SourceTarget(Data):
    """Everything a source said."""

    source: EventId


class SessionTarget(Data):
    """Everything a source said in one session."""

    source: EventId
    session_id: EventId


class SubjectTarget(Data):
    """The assertions about a subject, at any version, and the payloads of their evidence."""

    subject: str

    @field_validator("subject")
    @classmethod
    def _subject(cls, text: str) -> str:
        return check_subject(text)


_ASSERTION = worded(
    r"^(as|ln)_[0-9a-f]{32}$",
    "is no assertion or link; the id of one is as_ or ln_ and 32 digits of 0-9a-f, as recall() and history() give it",
)


class AssertionTarget(Data):
    """One assertion, or one link, by its id."""

    assertion: Annotated[str, StringConstraints(pattern=_ASSERTION)]


class AdvisoryTarget(Data):
    """Every revision of an advisory, by its id (of any source)."""

    advisory: EventId


_DECIDABLE = ("evidence", "assertion", "advisory", "source")


def _form_of_deletion(target: Any) -> str | None:
    if "session_id" in _keys(target):
        return "as:session"
    return next((f"as:{form}" for form in ("evidence", "subject", "source") if form in _keys(target)), None)


def _form_of_decision(target: Any) -> str | None:
    return next((f"as:{form}" for form in _DECIDABLE if form in _keys(target)), None)


def _keys(target: Any) -> Iterable[str]:
    if isinstance(target, dict):
        return cast(dict[str, Any], target)
    return target.__dict__ if isinstance(target, Data) else ()


DeletionTarget = Annotated[
    Annotated[EvidenceTarget, Tag("as:evidence")]
    | Annotated[SessionTarget, Tag("as:session")]
    | Annotated[SourceTarget, Tag("as:source")]
    | Annotated[SubjectTarget, Tag("as:subject")],
    Discriminator(
        _form_of_deletion,
        custom_error_type="target",
        custom_error_message="is one of {evidence: {source, id}}, {source}, {source, session_id}, {subject}",
    ),
]
DecisionTarget = Annotated[
    Annotated[EvidenceTarget, Tag("as:evidence")]
    | Annotated[SourceTarget, Tag("as:source")]
    | Annotated[AssertionTarget, Tag("as:assertion")]
    | Annotated[AdvisoryTarget, Tag("as:advisory")],
    Discriminator(
        _form_of_decision,
        custom_error_type="target",
        custom_error_message="is one of {evidence: {source, id}}, {source}, {assertion}, {advisory}",
    ),
]
