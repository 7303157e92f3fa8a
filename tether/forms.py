"""What callers write: the forms of references, targets and fields that the helpers take."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias, TypedDict

from tether_schemas.answers import EvidenceId

When: TypeAlias = str | datetime
Position: TypeAlias = str | Sequence[str]
KnownAt: TypeAlias = str | int | datetime
RefLike: TypeAlias = str | EvidenceId | Mapping[str, str]
Target: TypeAlias = str | EvidenceId | Mapping[str, Any]


class Attributes(TypedDict, total=False):
    """What every helper takes: `id` (default: a fresh time-ordered one), `source` (default: the handle's), `time`
    (default: now)."""

    id: str
    source: str
    time: When


class Fields(Attributes, total=False):
    """The fields of memory.write beside subject, predicate and value."""

    scope: str
    issuer: str
    memory_type: str
    mode: str
    valid_from: When
    valid_to: When
    observed_at: When
    expires_at: When
    authority: str
    confidence: float
    sensitivity: str
    readers: Sequence[str]
    derived_from: Sequence[RefLike] | RefLike
    premises_complete: bool
    original_text: str
    write_reason: str
    review_at: When


class ToolFields(Attributes, total=False):
    """What a tool result may have beside tool, arguments and result."""

    session_id: str
    call_id: str
    is_error: bool


class MessageFields(Attributes, total=False):
    """What a message may have beside session, order, role and content."""

    tool_calls: Sequence[Mapping[str, Any]]
    model: str


class Until(Attributes, total=False):
    """Until when a deletion covers evidence; None: for ever. Absent: until the deletion's own time."""

    until: When | None


class Waits(TypedDict, total=False):
    """How long a read waits for what: the log to hold `min_position`, for at most `timeout_s`."""

    min_position: Position | None
    timeout_s: float
