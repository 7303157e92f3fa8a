"""The usual event and its facts as msgspec reads them: names, types and lengths checked in one native call.

Forms say nothing of their own: a test compares their fields, order and defaults with the models'. What a form does not
take may still be valid; the models decide.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tether_schemas.builtin import PREMISES_MAX
from tether_schemas.fields import ID_CHARS_MAX, NAME_CHARS_MAX, TIME_CHARS_MAX
from tether_schemas.policy import Authority, Mode
from tether_schemas.refs import RefKind
from tether_schemas.subjects import TEXT_CHARS_MAX
from tether_schemas.topics import Kind

_Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARS_MAX)]
_Id = Annotated[str, Meta(min_length=1, max_length=ID_CHARS_MAX)]
_Time = Annotated[str, Meta(max_length=TIME_CHARS_MAX)]
_RefText = Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS_MAX)]


class Form(Struct, forbid_unknown_fields=True, gc=False):
    """Base of every form: closed."""


class EvidenceRefForm(Form, kw_only=True):
    """refs.EvidenceRef."""

    source: _Id
    id: _Id


class WriteForm(Form, kw_only=True, omit_defaults=True):
    """builtin.MemoryWrite."""

    subject: _RefText
    predicate: _Name
    value: Any
    scope: Annotated[str, Meta(max_length=NAME_CHARS_MAX)] = ""
    issuer: _Name | None = None
    memory_type: _Name | None = None
    mode: Mode = "explicit"
    valid_from: _Time | None = None
    valid_to: _Time | None = None
    observed_at: _Time | None = None
    expires_at: _Time | None = None
    authority: Authority = "unknown"
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None
    sensitivity: _Name | None = None
    readers: Annotated[tuple[_Name, ...], Meta(min_length=1)] | None = None
    derived_from: Annotated[tuple[_RefText | EvidenceRefForm, ...], Meta(max_length=PREMISES_MAX)] = ()
    premises_complete: bool = False
    original_text: str | None = None
    write_reason: str | None = None
    review_at: _Time | None = None


class WrittenForm(Form, kw_only=True):
    """events.ToolResultData of a `memory.write` that did not fail."""

    session_id: _Id | None = None
    call_id: _Id | None = None
    tool: Literal["memory.write"]
    arguments: WriteForm
    result: Any
    is_error: bool


class WriteEventForm(Form, kw_only=True):
    """events.ToolResultEvent, without attributes that are seldom there."""

    specversion: Literal["1.0"]
    id: _Id
    source: _Id
    time: _Time
    namespace: str
    type: Literal["tether.tool_result.v1"]
    data: WrittenForm


class RefForm(Form, kw_only=True):
    """refs.Ref."""

    kind: RefKind
    text: str
    source: str = ""


class EvidenceRecordedForm(Form, kw_only=True):
    """facts.EvidenceRecorded."""

    type: Literal["EvidenceRecorded"]
    kind: Kind
    session_id: str | None = None
    seq: int | None = None
    role: str | None = None
    tool: str | None = None
    call_id: str | None = None
    is_error: bool | None = None
    deleted: bool = False


class AssertedForm(Form, kw_only=True):
    """facts.Asserted."""

    type: Literal["Asserted"]
    assertion_id: str
    place: int
    subject: str
    predicate: str
    value: Any
    scope: str = ""
    issuer: str
    memory_type: str | None = None
    mode: Mode = "explicit"
    valid_from: str | None = None
    valid_to: str | None = None
    observed_at: str
    expires_at: str | None = None
    review_at: str | None = None
    authority: Authority = "unknown"
    confidence: float | None = None
    sensitivity: str | None = None
    readers: tuple[str, ...] | None = None
    premises: tuple[RefForm, ...] = ()
    possible: tuple[RefForm, ...] = ()
    premises_complete: bool = False
    original_text: str | None = None
    write_reason: str | None = None
    value_key: str | None = None


class FactRecordForm(Form, kw_only=True):
    """facts.FactRecord of evidence that asserts one thing."""

    v: Literal[1]
    namespace: str
    source: str
    id: str
    event_type: str
    time: str
    time_us: int
    recorded_us: int
    topic: str
    partition: int
    offset: int
    content_hash: str
    extractor: str
    rules: str | None = None
    facts: tuple[EvidenceRecordedForm, AssertedForm]
