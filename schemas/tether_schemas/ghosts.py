"""Ghosts as they travel: an event without its content, with the facts by which it goes on counting.

A ghost is what an export keeps of evidence of which something is erased, and what a log keeps of it as the envelope of
a record without payload. What it says is checked as the event's content would have been: nothing that extraction
would refuse gets in as facts.
"""

import re
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from tether_schemas.builtin import MemoryLink, MemoryWrite
from tether_schemas.codec import event_dict
from tether_schemas.errors import BadEvent
from tether_schemas.events import PUBLIC, Namespace, Revocation, check_osv_head
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    Linked,
    PolicyDeclared,
)
from tether_schemas.fields import BadField, EventId, Name, Time, check_time, first_fault
from tether_schemas.refs import parse_ref
from tether_schemas.rules import check_rules
from tether_schemas.subjects import parse_subject
from tether_schemas.topics import KIND_OF_TYPE, Kind

GHOST_HASH = "ghost"  # stands for the hash of a content that nobody may guess
GHOST_FACTS_MAX = 10_001
INT_MIN, INT_MAX = -(2**63), 2**63 - 1
VERDICT_KEYS = {"true": True, "false": False}

_ASSERTION_ID = re.compile(r"as_[0-9a-f]{32}")
_LINK_ID = re.compile(r"ln_[0-9a-f]{32}")
_VALUE_KEY = re.compile(r"true|false|[0-9a-f]{32}")
# Facts of a claim that neither its model nor its id is made of.
_NOT_CLAIMED = {"type", "assertion_id", "place", "premises", "possible", "value_key"}
_ONE_OF_KIND: dict[Kind, tuple[type[Fact], ...]] = {
    "transcript": (),
    "tool_result": (Asserted, Linked),
    "advisory": (AdvisoryIssued,),
    "deletion": (EvidenceDeleted,),
    "decision": (Decided, PolicyDeclared),
}


class Carried(BaseModel):
    """The facts of a ghost, and what made them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    extractor: Name
    rules: Annotated[str, StringConstraints(max_length=256)] | None = None
    facts: tuple[Fact, ...]


class Ghost(BaseModel):
    """One event without content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    specversion: Literal["1.0"]
    id: EventId
    source: EventId
    type: str
    time: Time
    namespace: Namespace
    ghost: Carried

    @property
    def kind(self) -> Kind:
        """The kind of its event."""
        return KIND_OF_TYPE[self.type]


def encode_ghost(ghost: Ghost) -> bytes:
    """A ghost as one line of JSON."""
    written = {**ghost.__dict__, "ghost": {**ghost.ghost.__dict__, "facts": [*map(_written, ghost.ghost.facts)]}}
    return orjson.dumps(written, default=_as_dict)


def _written(fact: Fact) -> dict[str, Any]:
    defaults = {name: field.default for name, field in type(fact).model_fields.items() if name != "type"}
    return {name: value for name, value in fact.__dict__.items() if name == "value" or value != defaults.get(name, ...)}


def _as_dict(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def stored_ghost(envelope: bytes) -> Ghost | None:
    """The ghost that a log keeps as an envelope; None for another envelope. Raises ValueError when it is damaged."""
    if b'"ghost":{' not in envelope:
        return None
    fields = orjson.loads(envelope)
    return Ghost.model_validate(fields) if isinstance(fields.get("ghost"), dict) else None


def read_ghost(raw: bytes | dict[str, Any]) -> Ghost:
    """Read and check one ghost. Raises BadEvent naming the field and the reason."""
    fields = event_dict(raw)
    try:
        ghost = Ghost.model_validate(fields)
    except ValidationError as error:
        fault = first_fault(error)
        raise BadEvent(fault.field or "event", fault.reason) from None
    try:
        _check_head(ghost)
        for place, fact in enumerate(ghost.ghost.facts):
            _checked(fact, f"ghost.facts.{place}")
    except BadField as fault:
        raise BadEvent(fault.field, fault.reason) from None
    return ghost


def _check_head(ghost: Ghost) -> None:
    facts = ghost.ghost.facts
    if ghost.type not in KIND_OF_TYPE:
        raise BadField("type", f"{ghost.type!a:.80} is none of {', '.join(KIND_OF_TYPE)}")
    if ghost.namespace == PUBLIC:
        raise BadField("namespace", "nothing in the namespace * is ever erased, so it has no ghosts")
    check_time(ghost.time, "time")
    if len(facts) > GHOST_FACTS_MAX:
        raise BadField("ghost.facts", f"are {len(facts)}, over {GHOST_FACTS_MAX}")
    head = facts[0] if facts else None
    if not isinstance(head, EvidenceRecorded) or head.kind != ghost.kind:
        raise BadField("ghost.facts.0", f"is the EvidenceRecorded of a {ghost.kind}")
    allowed = _ONE_OF_KIND[ghost.kind]
    if any(not isinstance(fact, allowed) for fact in facts[1:]):
        raise BadField("ghost.facts", f"are none that a {ghost.kind} makes")
    if ghost.kind not in ("transcript", "tool_result") and len(facts) != 2:
        raise BadField("ghost.facts", f"of a {ghost.kind} are two")


def _checked(fact: Fact, field: str) -> None:
    """Raise BadField where a fact is none that extraction makes."""
    try:
        _check(fact)
    except ValidationError as error:
        raise first_fault(error).within(field) from None
    except BadField as fault:
        raise fault.within(field) from None
    except ValueError as error:
        raise BadField(field, str(error)) from None


def _check(fact: Fact) -> None:
    match fact:
        case EvidenceRecorded():
            _check_bounds("seq", fact.seq)
        case Asserted():
            _check_claim(fact)
        case Linked():
            _check_link(fact)
        case AdvisoryIssued():
            _check_advisory(fact)
        case EvidenceDeleted():
            _check_bounds("until_us", fact.until_us)
        case PolicyDeclared():
            if (fact.policy is None) == (fact.rules is None):
                raise BadField("policy", "a policy decision gives either policy or rules")
            if fact.rules is not None:
                check_rules(fact.rules)
        case _:
            pass


def _check_bounds(field: str, value: int | None) -> None:
    if value is not None and not INT_MIN <= value <= INT_MAX:
        raise BadField(field, "is beyond 64 bits")


def _check_claim(fact: Asserted) -> None:
    claimed = {name: value for name, value in fact.__dict__.items() if name not in _NOT_CLAIMED}
    if fact.value_key is not None:
        if fact.value is not None or not _VALUE_KEY.fullmatch(fact.value_key):
            raise BadField("value_key", "stands in the place of the value: true, false, or 32 hex digits")
        claimed["value"] = VERDICT_KEYS.get(fact.value_key, fact.predicate != "passes" or None)
    if not _ASSERTION_ID.fullmatch(fact.assertion_id) or not 0 <= fact.place < GHOST_FACTS_MAX:
        raise BadField("assertion_id", "or its place is none that extraction gives")
    claimed["derived_from"] = [ref.public() for ref in (*fact.premises, *fact.possible)]
    MemoryWrite.model_validate(claimed)
    if fact.issuer == "" or parse_subject(fact.subject).text != fact.subject:
        raise BadField("subject", "or the issuer is not in the spelling that extraction gives")
    _check_refs((*fact.premises, *fact.possible))


def _check_link(fact: Linked) -> None:
    if not _LINK_ID.fullmatch(fact.link_id) or not 0 <= fact.place < GHOST_FACTS_MAX:
        raise BadField("link_id", "or its place is none that extraction gives")
    premises = [ref.public() for ref in fact.premises]
    MemoryLink.model_validate({"dependent": fact.dependent.public(), "premises": premises, "grade": fact.grade})
    _check_refs((fact.dependent, *fact.premises))


def _check_refs(refs: tuple[Any, ...]) -> None:
    for ref in refs:
        written = ref.public()
        if ref.kind != "evidence" and parse_ref(written) != ref:
            raise BadField("premises", f"{ref.text!a:.80} is not in the spelling that extraction gives")


def _check_advisory(fact: AdvisoryIssued) -> None:
    if fact.format == "revocation":
        head = {"id": fact.advisory_id, "subjects": list(fact.subjects), "reason": ""}
        Revocation.model_validate({**head, "modified": fact.modified, "withdrawn": fact.withdrawn})
    else:
        head = {"id": fact.advisory_id, "modified": fact.modified, "withdrawn": fact.withdrawn}
        check_osv_head({**head, "affected": list(fact.affected)})
