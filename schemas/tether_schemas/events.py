"""Raw events: the producers' contract. CloudEvents 1.0 with the extension attribute `namespace`."""

import re
from functools import cached_property
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from tether_schemas.builtin import BuiltIn, read_arguments
from tether_schemas.fields import BadField, EventId, Name, Time, check_time, first_fault, worded
from tether_schemas.policy import Policy
from tether_schemas.rules import check_rules
from tether_schemas.targets import AdvisoryTarget as AdvisoryTarget
from tether_schemas.targets import AssertionTarget as AssertionTarget
from tether_schemas.targets import Data, DecisionTarget, DeletionTarget, check_subject
from tether_schemas.targets import EvidenceTarget as EvidenceTarget
from tether_schemas.targets import SessionTarget as SessionTarget
from tether_schemas.targets import SourceTarget as SourceTarget
from tether_schemas.targets import SubjectTarget as SubjectTarget

PUBLIC = "*"
NAMESPACE_PATTERN = r"^(\*|[^\s/*\x00-\x1f\x7f-\x9f]{1,128}(/[^\s/*\x00-\x1f\x7f-\x9f]{1,128})?)$"

Namespace = Annotated[
    str, StringConstraints(pattern=worded(NAMESPACE_PATTERN, "names no namespace; give tenant or tenant/workspace"))
]

_ADVISORY_ID = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,1024}")
_EXTENSION_NAME = re.compile(r"[a-z0-9]{1,64}")


class TranscriptData(Data):
    """One message of a session; `seq` orders the session's messages."""

    session_id: EventId
    seq: int = Field(ge=-(2**63), lt=2**63)
    role: Name
    content: str | list[Any] | None
    tool_calls: list[dict[str, Any]] | None = None
    model: str | None = None


class ToolResultData(Data):
    """What a tool answered. `memory.write` and `memory.link` are Tether's own tools, see `built_in`."""

    session_id: EventId | None = None
    call_id: EventId | None = None
    tool: Name
    arguments: dict[str, Any]
    result: Any
    is_error: bool

    @cached_property
    def built_in(self) -> BuiltIn | None:
        """The arguments of a built-in tool, read; None for another tool or a failed call. Raises BadField."""
        return None if self.is_error else read_arguments(self.tool, self.arguments)


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
        if (self.subject is None) == (self.subjects is None):
            raise BadField("subject", "give either subject or subjects")
        for text in self.all_subjects:
            check_subject(text, "subject" if self.subjects is None else "subjects")
        check_time(self.modified, "modified")
        if self.withdrawn is not None:
            check_time(self.withdrawn, "withdrawn")
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
        if self.format == "osv":
            check_osv_head(self.advisory)
            return self
        try:
            Revocation.model_validate(self.advisory)
        except ValidationError as error:
            raise first_fault(error).within("advisory") from None
        return self


def check_osv_head(advisory: dict[str, Any]) -> None:
    """Raise BadField naming the first field of an OSV record that Tether needs and cannot read."""
    identifier = advisory.get("id")
    if not isinstance(identifier, str) or not _ADVISORY_ID.fullmatch(identifier):
        raise BadField("advisory.id", "an OSV record has an id: 1 to 1024 characters, no control characters")
    for field in ("modified", "withdrawn"):
        text = advisory.get(field)
        if text is None and field == "withdrawn":
            continue
        if not isinstance(text, str):
            raise BadField(
                f"advisory.{field}", "an OSV record has modified, and withdrawn where it is, as RFC 3339 times"
            )
        check_time(text, f"advisory.{field}")
    if not _is_list_of(advisory.get("affected"), dict):
        raise BadField("advisory.affected", "is a list of objects where given")
    if not _is_list_of(advisory.get("aliases"), str):
        raise BadField("advisory.aliases", "is a list of strings where given")


def _is_list_of(value: Any, kind: type) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(e, kind) for e in cast(list[Any], value)))


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


def _check_rules(document: dict[str, Any]) -> None:
    try:
        check_rules(document)
    except BadField as fault:
        raise fault.within("rules") from None


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
                raise BadField("policy", "a policy decision gives either policy or rules")
            if self.target is not None:
                raise BadField("target", "a policy decision has no target")
            if self.rules is not None:
                _check_rules(self.rules)
        elif self.action in ("invalidate", "restore"):
            if self.target is None:
                raise BadField("target", "say what is decided on: evidence, source, assertion or advisory")
            if self.reason is None:
                raise BadField("reason", "say why")
            if self.policy is not None or self.rules is not None:
                raise BadField("policy", "goes with the action policy only")
        else:
            raise BadField("action", f"{self.action} is reserved and does nothing yet; use invalidate or restore")
        return self


class Envelope(BaseModel):
    """The CloudEvents attributes; extension attributes (such as `traceparent`) are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    specversion: Literal["1.0"]
    id: EventId
    source: EventId
    time: Time
    namespace: Namespace
    subject: str | None = None
    datacontenttype: Literal["application/json"] | None = None
    dataschema: str | None = None

    @model_validator(mode="after")
    def _attributes(self) -> "Envelope":
        check_time(self.time, "time")
        for name, value in (self.__pydantic_extra__ or {}).items():
            if not _EXTENSION_NAME.fullmatch(name):
                raise BadField(name, "is no field of this event; check its spelling (extensions are named a-z0-9)")
            if not isinstance(value, str | int | None):
                raise BadField(name, "an extension attribute is a string, a boolean or an integer")
        return self


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
