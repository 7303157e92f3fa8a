"""Fact records in the shapes that extraction gives them, in the domain's words. Times are small integers (us)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tether_schemas.canonical import content_hash, content_id
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    FactRecord,
    Linked,
    PolicyDeclared,
)
from tether_schemas.policy import Policy
from tether_schemas.refs import Ref, parse_ref
from tether_schemas.subjects import BadSubject
from tether_schemas.times import us_text
from tether_schemas.topics import KIND_OF_TYPE, TOPIC_OF_TYPE, Kind

HOME = "acme"
OTHER = "beta"
PUBLIC = "*"
TYPE_OF_KIND: dict[Kind, str] = {kind: name for name, kind in KIND_OF_TYPE.items()}
YEAR_ONE = "0001-01-01T00:00:00Z"

Named = str | Ref | FactRecord | tuple[str, str]


@dataclass(frozen=True)
class At:
    """Where and when an event stands: `recorded` is its arrival, by default its own time."""

    id: str
    time: int
    source: str = "ci"
    namespace: str = HOME
    recorded: int | None = None
    session: str | None = None


def record(at: At, kind: Kind, *facts: Fact) -> FactRecord:
    """One event's record: EvidenceRecorded first, then its facts."""
    name = TYPE_OF_KIND[kind]
    everything = (EvidenceRecorded(kind=kind, session_id=at.session), *facts)
    content = [at.time, name, [fact.model_dump(mode="json") for fact in everything]]
    return FactRecord(
        namespace=at.namespace,
        source=at.source,
        id=at.id,
        event_type=name,
        time=us_text(at.time),
        time_us=at.time,
        recorded_us=at.time if at.recorded is None else at.recorded,
        topic=TOPIC_OF_TYPE[name],
        partition=0,
        offset=at.time if at.recorded is None else at.recorded,
        content_hash=content_hash(content),
        extractor="tests",
        facts=everything,
    )


def ref(named: Named) -> Ref:
    """What is named: a Ref, a record (its only assertion), (source, id) of evidence, an assertion id, or a subject."""
    if isinstance(named, FactRecord):
        return Ref(kind="assertion", text=claim_of(named))
    if isinstance(named, tuple):
        return Ref(kind="evidence", text=named[1], source=named[0])
    if isinstance(named, Ref):
        return named
    try:
        return parse_ref(named)
    except BadSubject:  # possible through a policy alone: an object of a versioned scheme without its version
        return Ref(kind="object", text=named)


def claim(subject: str, predicate: str, value: Any, **fields: Any) -> dict[str, Any]:
    """One claim for `said`; times in microseconds; `premises` and `possible` are anything that `ref` takes."""
    times = ("valid_from", "valid_to", "observed_at", "expires_at")
    plain = {name: us_text(given) if name in times and given is not None else given for name, given in fields.items()}
    for name in ("premises", "possible"):
        plain[name] = tuple(ref(named) for named in fields.get(name, ()))
    return {"subject": subject, "predicate": predicate, "value": value, **plain}


def said(at: At, *claims: dict[str, Any]) -> FactRecord:
    """A tool result that makes these claims; their issuer is the source unless they name one."""
    facts: list[Asserted] = []
    for place, one in enumerate(claims):
        whole: dict[str, Any] = {"observed_at": us_text(at.time), "issuer": at.source, "place": place, **one}
        draft = Asserted(assertion_id="", **whole)
        text = draft.model_dump(mode="json", exclude={"assertion_id"})
        name = content_id("as", {"evidence": [at.namespace, at.source, at.id], "claim": text})
        facts.append(draft.model_copy(update={"assertion_id": name}))
    return record(at, "tool_result", *facts)


def says(at: At, subject: str, predicate: str, value: Any, **fields: Any) -> FactRecord:
    """A tool result that makes one claim."""
    return said(at, claim(subject, predicate, value, **fields))


def passes(at: At, subject: str, value: bool = True, *premises: Named, **fields: Any) -> FactRecord:
    """A verdict and what it derives from."""
    return says(at, subject, "passes", value, premises=premises, **fields)


def message(at: At) -> FactRecord:
    """A transcript message."""
    return record(at, "transcript")


def linked(at: At, dependent: Named, premises: Sequence[Named], grade: Any = "stated") -> FactRecord:
    """`dependent` derives from each of `premises`."""
    names = tuple(ref(named) for named in premises)
    text = [ref(dependent).model_dump(), [name.model_dump() for name in names], grade]
    link_id = content_id("ln", {"evidence": [at.namespace, at.source, at.id], "link": text})
    return record(
        at, "tool_result", Linked(link_id=link_id, place=0, dependent=ref(dependent), premises=names, grade=grade)
    )


def revoked(at: At, advisory: str, *subjects: str, modified: str | None = None, withdrawn: bool = False) -> FactRecord:
    """A revision of a revocation; `modified` is by default the event's time."""
    issued = AdvisoryIssued(
        advisory_id=advisory,
        format="revocation",
        modified=modified or us_text(at.time),
        withdrawn=us_text(at.time) if withdrawn else None,
        subjects=subjects,
    )
    return record(at, "advisory", issued)


def osv(at: At, advisory: str, name: str, *events: dict[str, str], withdrawn: bool = False) -> FactRecord:
    """A revision of an OSV advisory on one PyPI package, with one range."""
    affected = {
        "package": {"ecosystem": "PyPI", "name": name},
        "ranges": [{"type": "ECOSYSTEM", "events": list(events)}],
    }
    issued = AdvisoryIssued(
        advisory_id=advisory,
        format="osv",
        modified=us_text(at.time),
        withdrawn=us_text(at.time) if withdrawn else None,
        affected=(affected,),
    )
    return record(at, "advisory", issued)


def deleted(at: At, target: dict[str, Any], until: "int | str | None" = "own") -> FactRecord:
    """A deletion. `until`: "own" for absent, None for ever, else a time."""
    until_us = at.time if isinstance(until, str) else until
    fact = EvidenceDeleted.model_validate(
        {"target": target, "until_us": until_us, "reason": "asked", "requested_by": "ana"}
    )
    return record(at, "deletion", fact)


def decided(at: At, action: Any, target: dict[str, Any]) -> FactRecord:
    """A decision, `invalidate` or `restore`."""
    fact = Decided.model_validate({"action": action, "target": target, "reason": "so", "decided_by": "ana"})
    return record(at, "decision", fact)


def policy(at: At, **parts: dict[str, dict[str, Any]]) -> FactRecord:
    """A declared policy: `predicates`, `schemes`, `sources`."""
    return record(at, "decision", PolicyDeclared(policy=Policy.model_validate(parts), decided_by="ana"))


def evidence(one: FactRecord) -> dict[str, Any]:
    """The target that names this record's evidence."""
    return {"evidence": {"source": one.source, "id": one.id}}


def claim_of(one: FactRecord, place: int = 0) -> str:
    """The id of the assertion at this place of a record."""
    return next(fact.assertion_id for fact in one.facts if isinstance(fact, Asserted) and fact.place == place)


def link_of(one: FactRecord) -> str:
    """The id of a record's link."""
    return next(fact.link_id for fact in one.facts if isinstance(fact, Linked))


def arrived(one: FactRecord, order: int) -> FactRecord:
    """The same event, recorded at another moment."""
    return one.model_copy(update={"recorded_us": order, "offset": order})
