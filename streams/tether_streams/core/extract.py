"""Extraction: one event to its facts. Pure and stateless: the same event under the same rules gives the same record.

The evidence is always recorded, whatever else fails; what fails is returned as faults, which are dead letters.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from tether_schemas.build import trusted
from tether_schemas.builtin import MEMORY_WRITE, MemoryLink, MemoryWrite
from tether_schemas.events import (
    AdvisoryEvent,
    DecisionEvent,
    DeletionEvent,
    Envelope,
    Revocation,
    ToolResultEvent,
    TranscriptEvent,
)
from tether_schemas.facts import (
    RECORD_VERSION,
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    FactRecord,
    PolicyDeclared,
)
from tether_schemas.fields import BadField
from tether_schemas.subjects import parse_subject
from tether_schemas.targets import SubjectTarget
from tether_schemas.times import time_us
from tether_schemas.topics import KIND_OF_TYPE
from tether_schemas.usual import TYPE, Usual, stored_claim

from tether_streams.core.claims import Claims, TooManyFacts, assertion_id_of
from tether_streams.core.rules import RuleSet

EXTRACTOR = "1"

# In the order in which claims.Claims fills it, so that both write the same bytes.
_ASSERTED: dict[str, Any] = {
    name: Asserted.model_fields[name].default
    for name in (*MemoryWrite.model_fields, "type", "assertion_id", "place", "premises", "possible", "value_key")
    if name != "derived_from"
}
_RECORDED: dict[str, Any] = {name: field.default for name, field in EvidenceRecorded.model_fields.items()}
_OUTSIDE = {"type": "EvidenceRecorded", "kind": "tool_result", "tool": MEMORY_WRITE, "is_error": False}
_OUTSIDE_SESSIONS = trusted(EvidenceRecorded, {**_RECORDED, **_OUTSIDE}), _OUTSIDE
# What a claim says where it is silent, and its id is made of.
_SAID_ANYHOW = {name: _ASSERTED[name] for name in ("scope", "mode", "authority", "premises_complete")}


class RawPlace(NamedTuple):
    """Where an event stands in the log, and the hash of its content."""

    recorded_us: int
    topic: str
    partition: int
    offset: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something of an event that could not become a fact. `rule` names the rule that failed, if one did."""

    reason: str
    rule: str | None = None


def extract(event: Envelope, place: RawPlace, rules: RuleSet | None = None) -> tuple[FactRecord, tuple[Fault, ...]]:
    """The facts of one event, EvidenceRecorded first, and what failed. Never raises on an event that decodes."""
    faults: list[Fault] = []
    facts = (_evidence(event), *_facts(event, rules, faults))
    head = (event.namespace, event.source, event.id, event.__dict__["type"], event.time, time_us(event.time))
    return trusted(FactRecord, _record(head, place, None if rules is None else rules.version, facts)), tuple(faults)


def extract_usual(usual: Usual, place: RawPlace, rules: str | None) -> tuple[FactRecord, dict[str, Any]]:
    """The same for a `memory.write` that was read as such, which cannot fail; and the record as JSON, written as
    codec.encode_record writes it. `rules` is the version of the rules in force."""
    assertion, stored = _of_usual(usual)
    recorded, stored_recorded = _evidence_of_usual(usual)
    head = (usual.namespace, usual.source, usual.id, TYPE, usual.time, usual.time_us)
    record = _record(head, place, rules, (recorded, assertion))
    written = {**record, "facts": (stored_recorded, stored)}
    if rules is None:
        del written["rules"]
    return trusted(FactRecord, record), written


def _of_usual(usual: Usual) -> tuple[Asserted, dict[str, Any]]:
    stored, premises = stored_claim(usual), usual.premises
    keys = sorted([premise.key for premise in premises])
    evidence = (usual.namespace, usual.source, usual.id)
    assertion_id = assertion_id_of(evidence, {**_SAID_ANYHOW, **stored, "premises": keys})
    stored["type"] = "Asserted"
    stored["assertion_id"] = assertion_id
    stored["place"] = 0
    values = {**_ASSERTED, **stored}
    if premises:
        stored["premises"] = [premise.stored for premise in premises]
        values["premises"] = tuple([premise.ref for premise in premises])
    return trusted(Asserted, values), stored


def _evidence_of_usual(usual: Usual) -> tuple[EvidenceRecorded, dict[str, Any]]:
    if usual.session_id is None and usual.call_id is None:
        return _OUTSIDE_SESSIONS
    stored: dict[str, Any] = {"type": "EvidenceRecorded", "kind": "tool_result"}
    if usual.session_id is not None:
        stored["session_id"] = usual.session_id
    stored["tool"] = MEMORY_WRITE
    if usual.call_id is not None:
        stored["call_id"] = usual.call_id
    stored["is_error"] = False
    return trusted(EvidenceRecorded, {**_RECORDED, **stored}), stored


def _record(
    head: tuple[str, str, str, str, str, int], place: RawPlace, rules: str | None, facts: tuple[Fact, ...]
) -> dict[str, Any]:
    """The fields of a record; `head` is of the event: namespace, source, id, type, time in both forms."""
    namespace, source, event_id, event_type, time, in_us = head
    recorded_us, topic, partition, offset, content_hash = place
    return {
        "v": RECORD_VERSION,
        "namespace": namespace,
        "source": source,
        "id": event_id,
        "event_type": event_type,
        "time": time,
        "time_us": in_us,
        "recorded_us": recorded_us,
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "content_hash": content_hash,
        "extractor": EXTRACTOR,
        "rules": rules,
        "facts": facts,
    }


def _evidence(event: Envelope) -> EvidenceRecorded:
    fields = event.__dict__
    data = fields["data"].__dict__
    return trusted(
        EvidenceRecorded,
        {
            "type": "EvidenceRecorded",
            "kind": KIND_OF_TYPE[fields["type"]],
            "session_id": data.get("session_id"),
            "seq": data.get("seq"),
            "role": data.get("role"),
            "tool": data.get("tool"),
            "call_id": data.get("call_id"),
            "is_error": data.get("is_error"),
            "deleted": False,
        },
    )


def _facts(event: Envelope, rules: RuleSet | None, faults: list[Fault]) -> "list[Fact] | tuple[Fact, ...]":
    match event:
        case ToolResultEvent():
            return () if event.data.is_error else _of_tool_result(event, rules, faults)
        case TranscriptEvent():
            return ()
        case AdvisoryEvent():
            return (_of_advisory(event),)
        case DeletionEvent():
            return (_of_deletion(event),)
        case DecisionEvent():
            return (_of_decision(event),)
        case _:
            raise AssertionError(f"no extraction for {type(event).__name__}")


def _of_tool_result(event: ToolResultEvent, rules: RuleSet | None, faults: list[Fault]) -> list[Fact]:
    claims = Claims(event)
    try:
        match event.data.built_in:
            case MemoryWrite() as write:
                claims.write(write, event.source)
            case MemoryLink() as link:
                claims.link(link)
            case None:
                if rules is not None:
                    _by_rules(event, rules, claims, faults)
    except BadField as error:
        faults.append(Fault(str(error.within("data.arguments"))))
    except TooManyFacts as error:
        faults.append(Fault(str(error)))
    return list(claims.facts)


def _by_rules(event: ToolResultEvent, rules: RuleSet, claims: Claims, faults: list[Fault]) -> None:
    issuer = f"{event.source}/{event.data.tool}"
    for found in rules.apply(event):
        match found.made:
            case MemoryWrite() as write:
                claims.write(write, issuer)
            case MemoryLink() as link:
                claims.link(link)
            case reason:
                faults.append(Fault(reason, found.rule))


def _of_advisory(event: AdvisoryEvent) -> AdvisoryIssued:
    advisory = event.data.advisory
    if event.data.format == "revocation":
        revoked = Revocation.model_validate(advisory)
        subjects = {parse_subject(text).text: None for text in revoked.all_subjects}
        return AdvisoryIssued(
            advisory_id=revoked.id,
            format="revocation",
            modified=revoked.modified,
            withdrawn=revoked.withdrawn,
            summary=revoked.reason,
            subjects=tuple(subjects),
        )
    summary = advisory.get("summary")
    return AdvisoryIssued(
        advisory_id=advisory["id"],
        format="osv",
        modified=advisory["modified"],
        withdrawn=advisory.get("withdrawn"),
        aliases=tuple(advisory.get("aliases") or ()),
        summary=summary if isinstance(summary, str) else None,
        affected=tuple(_affected(entry) for entry in advisory.get("affected") or ()),
    )


def _affected(entry: dict[str, Any]) -> dict[str, Any]:
    """Of one entry of an OSV record's `affected`, what says which versions are covered."""
    kept = {name: entry[name] for name in ("package", "ranges", "versions") if name in entry}
    specific: Any = entry.get("ecosystem_specific")
    if isinstance(specific, dict) and "custom_ranges" in specific:
        kept["ecosystem_specific"] = {"custom_ranges": specific["custom_ranges"]}
    return kept


def _of_deletion(event: DeletionEvent) -> EvidenceDeleted:
    data = event.data
    target = data.target
    if isinstance(target, SubjectTarget):
        target = SubjectTarget(subject=parse_subject(target.subject).text)
    if "until" not in data.model_fields_set:
        until_us: int | None = time_us(event.time)
    else:
        until_us = None if data.until is None else time_us(data.until)
    return EvidenceDeleted(target=target, until_us=until_us, reason=data.reason, requested_by=data.requested_by)


def _of_decision(event: DecisionEvent) -> Decided | PolicyDeclared:
    data = event.data
    if data.action == "invalidate" or data.action == "restore":
        assert data.target is not None and data.reason is not None  # checked by DecisionData
        return Decided(action=data.action, target=data.target, reason=data.reason, decided_by=data.decided_by)
    return PolicyDeclared(policy=data.policy, rules=data.rules, decided_by=data.decided_by)
