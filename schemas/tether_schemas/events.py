"""Raw events: the producers' contract. CloudEvents 1.0 with the extension attribute `namespace`."""

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from tether_schemas.builtin import MEMORY_LINK, MEMORY_WRITE, MemoryLink, MemoryWrite, Name, Time, check_time
from tether_schemas.policy import Policy
from tether_schemas.refs import ASSERTION_ID, EvidenceRef

PUBLIC = "*"
NAMESPACE_PATTERN = r"^(\*|[^\s/*\x00-\x1f\x7f]{1,128}(/[^\s/*\x00-\x1f\x7f]{1,128})?)$"

Namespace = Annotated[str, StringConstraints(pattern=NAMESPACE_PATTERN)]
EventId = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]+$")]


class Data(BaseModel):
    """Base of every event's `data`: unknown fields are refused, since a misspelt one would be lost without a word."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TranscriptData(Data):
    """One message of a session; `seq` orders the session's messages."""

    session_id: EventId
    seq: int
    role: Name
    content: str | list[Any] | None
    tool_calls: list[dict[str, Any]] | None = None
    model: str | None = None


class ToolResultData(Data):
    """What a tool answered. `memory.write` and `memory.link` are Tether's own tools; their arguments are checked."""

    session_id: EventId | None = None
    call_id: EventId | None = None
    tool: Name
    arguments: dict[str, Any]
    result: Any
    is_error: bool

    @model_validator(mode="after")
    def _built_in(self) -> "ToolResultData":
        if not self.is_error and self.tool in (MEMORY_WRITE, MEMORY_LINK):
            (MemoryWrite if self.tool == MEMORY_WRITE else MemoryLink).model_validate(self.arguments)
        return self


class Revocation(Data):
    """A revocation: `subject` or `subjects` no longer hold; one without a version covers all its versions."""

    id: EventId
    subject: str | None = None
    subjects: list[str] | None = Field(default=None, min_length=1)
    reason: str
    modified: Time
    withdrawn: Time | None = None

    @model_validator(mode="after")
    def _checked(self) -> "Revocation":
        from tether_schemas.subjects import BadSubject, parse_subject

        if (self.subject is None) == (self.subjects is None):
            raise ValueError("subject: give either subject or subjects")
        for text in self.all_subjects:
            try:
                parse_subject(text)
            except BadSubject as error:
                raise ValueError(f"subject: {error}") from None
        for text in (self.modified, self.withdrawn):
            if text is not None:
                check_time(text)
        return self

    @property
    def all_subjects(self) -> tuple[str, ...]:
        """The subjects in either form."""
        return tuple(self.subjects) if self.subjects is not None else (self.subject or "",)


class AdvisoryData(Data):
    """An advisory, whole: OSV JSON, or a revocation."""

    format: Literal["osv", "revocation"]
    advisory: dict[str, Any]

    @model_validator(mode="after")
    def _checked(self) -> "AdvisoryData":
        if self.format == "revocation":
            Revocation.model_validate(self.advisory)
        else:
            check_osv_head(self.advisory)
        return self


def check_osv_head(advisory: dict[str, Any]) -> None:
    """Raise ValueError naming the first field of an OSV record that Tether needs and cannot read."""
    identifier = advisory.get("id")
    if not isinstance(identifier, str) or not identifier or len(identifier) > 1024:
        raise ValueError("advisory.id: an OSV record has an id, a non-empty string")
    modified = advisory.get("modified")
    if not isinstance(modified, str):
        raise ValueError("advisory.modified: an OSV record has modified, an RFC 3339 time")
    check_time(modified)
    withdrawn = advisory.get("withdrawn")
    if withdrawn is not None:
        if not isinstance(withdrawn, str):
            raise ValueError("advisory.withdrawn: is an RFC 3339 time where given")
        check_time(withdrawn)
    affected: Any = advisory.get("affected", [])
    if affected is not None and not (isinstance(affected, list) and all(isinstance(entry, dict) for entry in affected)):  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        raise ValueError("advisory.affected: is a list of objects where given")
    aliases: Any = advisory.get("aliases", [])
    if aliases is not None and not (isinstance(aliases, list) and all(isinstance(alias, str) for alias in aliases)):  # pyright: ignore[reportUnknownVariableType]  # JSON of unknown shape
        raise ValueError("advisory.aliases: is a list of strings where given")


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
        from tether_schemas.subjects import BadSubject, parse_subject

        try:
            parse_subject(text)
        except BadSubject as error:
            raise ValueError(str(error)) from None
        return text


class AssertionTarget(Data):
    """One assertion, or one link, by its id."""

    assertion: Annotated[str, StringConstraints(pattern=r"^(as|ln)_[0-9a-f]{32}$")]


class AdvisoryTarget(Data):
    """Every revision of an advisory, by its id (of any source)."""

    advisory: EventId


DeletionTarget = EvidenceTarget | SessionTarget | SourceTarget | SubjectTarget
DecisionTarget = EvidenceTarget | SourceTarget | AssertionTarget | AdvisoryTarget


class DeletionData(Data):
    """A deletion. `until` absent: evidence up to the deletion's own time; a time: up to it; null: for ever."""

    target: DeletionTarget
    until: Time | None = None
    reason: str
    requested_by: Name

    @field_validator("until")
    @classmethod
    def _time(cls, text: str | None) -> str | None:
        return None if text is None else check_time(text)


class DecisionData(Data):
    """Somebody's decision: `invalidate` or `restore` a target, or declare a policy or extraction rules."""

    action: Literal["invalidate", "restore", "policy", "approve", "reject", "confirm", "alias"]
    target: DecisionTarget | None = None
    policy: Policy | None = None
    rules: dict[str, Any] | None = None
    reason: str | None = None
    decided_by: Name

    @model_validator(mode="after")
    def _checked(self) -> "DecisionData":
        if self.action == "policy":
            if (self.policy is None) == (self.rules is None):
                raise ValueError("policy: a policy decision gives either policy or rules")
            if self.target is not None:
                raise ValueError("target: a policy decision has no target")
        elif self.action in ("invalidate", "restore"):
            if self.target is None:
                raise ValueError("target: say what is decided on: evidence, source, assertion or advisory")
            if self.reason is None:
                raise ValueError("reason: say why")
            if self.policy is not None or self.rules is not None:
                raise ValueError("policy: goes with the action policy only")
        else:
            raise ValueError(f"action: {self.action} is reserved and does nothing yet; use invalidate or restore")
        return self


class Envelope(BaseModel):
    """The CloudEvents attributes; extension attributes (such as `traceparent`) are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow")

    specversion: Literal["1.0"]
    id: EventId
    source: EventId
    time: Time
    namespace: Namespace
    subject: str | None = None
    datacontenttype: Literal["application/json"] | None = None
    dataschema: str | None = None

    @field_validator("time")
    @classmethod
    def _time(cls, text: str) -> str:
        return check_time(text)


class TranscriptEvent(Envelope):
    """A transcript message."""

    type: Literal["tether.transcript.v1"]
    data: TranscriptData


class ToolResultEvent(Envelope):
    """A tool result."""

    type: Literal["tether.tool_result.v1"]
    data: ToolResultData


class AdvisoryEvent(Envelope):
    """An advisory or one revision of it."""

    type: Literal["tether.advisory.v1"]
    data: AdvisoryData


class DeletionEvent(Envelope):
    """A deletion."""

    type: Literal["tether.deletion.v1"]
    data: DeletionData


class DecisionEvent(Envelope):
    """A decision."""

    type: Literal["tether.decision.v1"]
    data: DecisionData


RawEvent = Annotated[
    TranscriptEvent | ToolResultEvent | AdvisoryEvent | DeletionEvent | DecisionEvent, Field(discriminator="type")
]
EVENT_MODELS: tuple[type[Envelope], ...] = get_args(get_args(RawEvent)[0])


def public_fault(event: Envelope) -> str | None:
    """Why this event may not stand in the namespace `*`, or None: it holds advisories, decisions on them and policy."""
    match event:
        case AdvisoryEvent():
            return None
        case DecisionEvent() if not isinstance(event.data.target, AssertionTarget):
            return None
        case _:
            return "the namespace * holds only advisories, decisions on them and policy; name a tenant"


def is_assertion_id(text: str) -> bool:
    """Whether the text has the form of an assertion id."""
    return ASSERTION_ID.fullmatch(text) is not None
