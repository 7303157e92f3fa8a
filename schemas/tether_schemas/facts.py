"""Facts: what extraction makes of evidence. A grow-only set; one record holds all facts of one event."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tether_schemas.policy import Authority, Mode, Policy
from tether_schemas.refs import Grade, Ref
from tether_schemas.targets import (
    AdvisoryTarget,
    AssertionTarget,
    EvidenceTarget,
    SessionTarget,
    SourceTarget,
    SubjectTarget,
)
from tether_schemas.topics import Kind

RECORD_VERSION = 1


class FactModel(BaseModel):
    """Base of every fact: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidenceRecorded(FactModel):
    """An event was recorded: always, one each. `deleted`: it came as a ghost (ghosts.py) and was deleted by itself."""

    type: Literal["EvidenceRecorded"] = "EvidenceRecorded"
    kind: Kind
    session_id: str | None = None
    seq: int | None = None
    role: str | None = None
    tool: str | None = None
    call_id: str | None = None
    is_error: bool | None = None
    deleted: bool = False


class Asserted(FactModel):
    """One claim for one slot. `authority` is as claimed; a policy may cap it at read. Times are RFC 3339 text.

    `value_key`: it came as a ghost, erased and without its value, for which this stands within the slot (ghosts.py).
    """

    type: Literal["Asserted"] = "Asserted"
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
    premises: tuple[Ref, ...] = ()
    possible: tuple[Ref, ...] = ()
    premises_complete: bool = False
    original_text: str | None = None
    write_reason: str | None = None
    value_key: str | None = None


class Linked(FactModel):
    """`dependent` derives from each of `premises`, whether or not anything else is known of them."""

    type: Literal["Linked"] = "Linked"
    link_id: str
    place: int
    dependent: Ref
    premises: tuple[Ref, ...]
    grade: Grade = "stated"


class Mentioned(FactModel):
    """A name found in a text (span in code points), for the engine to resolve over the whole set."""

    type: Literal["Mentioned"] = "Mentioned"
    place: int
    name: str
    session_id: str | None = None
    order: int = 0
    span: tuple[int, int]


class AdvisoryIssued(FactModel):
    """One revision of an advisory. `modified` orders revisions where its year is above 1."""

    type: Literal["AdvisoryIssued"] = "AdvisoryIssued"
    advisory_id: str
    format: Literal["osv", "revocation"]
    modified: str
    withdrawn: str | None = None
    aliases: tuple[str, ...] = ()
    summary: str | None = None
    affected: tuple[dict[str, Any], ...] = ()
    subjects: tuple[str, ...] = ()


class EvidenceDeleted(FactModel):
    """A deletion. `until_us` None: for ever; else it covers evidence with an event time up to it (microseconds)."""

    type: Literal["EvidenceDeleted"] = "EvidenceDeleted"
    target: EvidenceTarget | SessionTarget | SourceTarget | SubjectTarget
    until_us: int | None
    reason: str
    requested_by: str


class Decided(FactModel):
    """Somebody's decision on what counts."""

    type: Literal["Decided"] = "Decided"
    action: Literal["invalidate", "restore"]
    target: EvidenceTarget | SourceTarget | AssertionTarget | AdvisoryTarget
    reason: str
    decided_by: str


class PolicyDeclared(FactModel):
    """A policy, or the extraction rules as a document."""

    type: Literal["PolicyDeclared"] = "PolicyDeclared"
    policy: Policy | None = None
    rules: dict[str, Any] | None = None
    decided_by: str


Fact = Annotated[
    EvidenceRecorded | Asserted | Linked | Mentioned | AdvisoryIssued | EvidenceDeleted | Decided | PolicyDeclared,
    Field(discriminator="type"),
]


class FactRecord(FactModel):
    """All facts of one event, with its raw place. The unit of the topic `facts`.

    (recorded_us, topic, partition, offset) is the event's rank: where two contents claim one (namespace, source, id),
    the record of least rank counts.
    """

    v: Literal[1] = RECORD_VERSION
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
    facts: tuple[Fact, ...]

    @property
    def rank(self) -> tuple[int, str, int, int]:
        """What decides between two contents of one event id: the least counts."""
        return self.recorded_us, self.topic, self.partition, self.offset
