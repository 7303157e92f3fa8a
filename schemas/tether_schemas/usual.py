"""The usual event, read fast: a `memory.write` that its form and a few more checks prove to be valid.

What they do not prove is left to the models in `events` and `builtin`, which alone refuse an event and say why. The
tests hold both ways equal: whatever is taken here is valid there, and gives the same models and facts.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple, cast

import orjson
from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import asdict, replace

from tether_schemas.build import trusted
from tether_schemas.builtin import MEMORY_WRITE, VERDICTS, MemoryWrite
from tether_schemas.canonical import NotJson, is_plain_inside
from tether_schemas.events import NAMESPACE_PATTERN, PUBLIC, ToolResultData, ToolResultEvent
from tether_schemas.facts import Asserted, EvidenceRecorded, FactRecord
from tether_schemas.forms import (
    EvidenceRefForm,
    FactRecordForm,
    WriteEventForm,
    WriteForm,
    WrittenForm,
)
from tether_schemas.refs import EvidenceRef, Ref, parse_ref, stored_ref
from tether_schemas.subjects import BadSubject, spelling_of
from tether_schemas.times import BadTime, new_time_us, time_us

TYPE = "tether.tool_result.v1"
NAMESPACES_CACHED_MAX = 4_096
REFS_CACHED_MAX = 65_536

_NAMESPACE = re.compile(NAMESPACE_PATTERN.removesuffix("$"))


class Premise(NamedTuple):
    """One premise: what tells it from others, the reference, and that as facts store it."""

    key: str
    ref: Ref
    stored: orjson.Fragment


class Usual(Struct, frozen=True, gc=False):
    """A valid `memory.write`, read, and no more of it than its facts are made of, since many are held at once. It
    shares nothing that its owner may change but a value that is a list or an object."""

    namespace: str
    source: str
    id: str
    time: str
    time_us: int
    session_id: str | None
    call_id: str | None
    claim: WriteForm  # Invariant: derived_from is empty; it is in premises
    subject: str  # in canonical spelling
    premises: tuple[Premise, ...]  # each once, in order


# A plain dictionary: half the time of lru_cache where most are there, since nothing is written to find one.
_premises: dict[str, Premise] = {}


def usual_of(fields: dict[str, Any]) -> Usual | None:
    """The event, if it is the usual one and proved valid; None says nothing about it.

    `fields` holds JSON's own types only, and texts that have a UTF-8 form: check_json said so, or a parser made them.
    """
    try:
        event = convert(fields, WriteEventForm)
        return _proved(event, event.data, event.data.arguments)
    except (ValidationError, BadSubject, BadTime):
        return None


def model_of(usual: Usual, fields: dict[str, Any]) -> ToolResultEvent:
    """The event as its models, which are what validation makes of `fields`."""
    data, arguments = fields["data"], fields["data"]["arguments"]
    held = {
        "session_id": usual.session_id,
        "call_id": usual.call_id,
        "tool": MEMORY_WRITE,
        "arguments": dict(arguments),
        "result": data["result"],
        "is_error": False,
    }
    made = trusted(ToolResultData, held, set(data))
    claim = asdict(usual.claim)
    claim["derived_from"] = tuple(map(_ref_as_written, arguments.get("derived_from", ())))
    held["built_in"] = trusted(MemoryWrite, claim, set(arguments))  # where its cached property keeps it
    values = {
        "specversion": "1.0",
        "id": usual.id,
        "source": usual.source,
        "time": usual.time,
        "namespace": usual.namespace,
        "subject": None,
        "datacontenttype": None,
        "dataschema": None,
        "type": TYPE,
        "data": made,
    }
    return trusted(ToolResultEvent, values, set(fields), {})


def stored_claim(usual: Usual) -> dict[str, Any]:
    """What the event claims, as facts store it: without its premises and what equals its default, the subject in
    canonical spelling, issuer and observed time filled in."""
    claim = usual.claim
    issuer, observed_at = claim.issuer or usual.source, claim.observed_at or usual.time
    return to_builtins(replace(claim, subject=usual.subject, issuer=issuer, observed_at=observed_at))


def record_of(form: FactRecordForm) -> FactRecord:
    """The record as its models."""
    recorded, asserted = form.facts
    values = asdict(asserted)
    if asserted.premises:
        values["premises"] = tuple([_ref(one.kind, one.text, one.source) for one in asserted.premises])
    if asserted.possible:
        values["possible"] = tuple([_ref(one.kind, one.text, one.source) for one in asserted.possible])
    record = asdict(form)
    record["facts"] = (trusted(EvidenceRecorded, asdict(recorded)), trusted(Asserted, values))
    return trusted(FactRecord, record)


@lru_cache(maxsize=REFS_CACHED_MAX)
def _ref(kind: str, text: str, source: str) -> Ref:
    return trusted(Ref, {"kind": kind, "text": text, "source": source})


def is_plain_usual(usual: Usual, fields: dict[str, Any]) -> bool:
    """What check_json says of the event that a parser made: only these three can be anything but plain. Raises NotJson
    where they are nested too deep."""
    result, confidence = fields["data"]["result"], usual.claim.confidence
    plain = result is None or is_plain_inside(result, 2)
    plain = is_plain_inside(usual.claim.value, 3) and plain
    return plain if confidence is None else is_plain_inside(confidence, 3) and plain


def nests_too_deep(usual: Usual, fields: dict[str, Any]) -> bool:
    """Whether check_json would refuse the event that a parser made."""
    try:
        is_plain_usual(usual, fields)
    except NotJson:
        return True
    return False


def _proved(event: WriteEventForm, data: WrittenForm, claim: WriteForm) -> Usual | None:
    """Raises BadSubject, BadTime."""
    # What is printable holds no control characters, and more is not asked of a name; None is as good as none here.
    names = f"{event.id}{event.source}{data.session_id}{data.call_id}{claim.predicate}{claim.scope}{claim.issuer}"
    if (
        not (names.isprintable() and f"{claim.memory_type}{claim.sensitivity}".isprintable())
        or not _is_namespace(event.namespace)
        or data.is_error
        or claim.value is None
        or (claim.readers is not None and not "".join(claim.readers).isprintable())
    ):
        return None
    subject, unversioned = spelling_of(claim.subject)
    if claim.predicate in VERDICTS and (unversioned or not _is_verdict(claim)):
        return None
    for time in (claim.valid_from, claim.valid_to, claim.observed_at, claim.expires_at, claim.review_at):
        if time is not None:
            time_us(time)
    premises: dict[str, Premise] = {}
    for one in claim.derived_from:
        is_text = type(one) is str
        premise = (_premises.get(one) or _of_text(one)) if is_text else _of_evidence(cast(EvidenceRefForm, one))
        if premise is None:
            return None
        premises[premise[0]] = premise
    claim.derived_from = ()
    head = (event.namespace, event.source, event.id, event.time, new_time_us(event.time))
    return Usual(*head, data.session_id, data.call_id, claim, subject, tuple(premises.values()))


def _of_text(text: str) -> Premise:
    """Raises BadSubject."""
    if len(_premises) >= REFS_CACHED_MAX:
        _premises.clear()
    premise = _premises[text] = _premise(parse_ref(text))
    return premise


def _of_evidence(form: EvidenceRefForm) -> Premise | None:
    if not (form.source.isprintable() and form.id.isprintable()):
        return None
    return _premise(parse_ref(EvidenceRef(source=form.source, id=form.id)))


def _premise(ref: Ref) -> Premise:
    return Premise(ref.key, ref, orjson.Fragment(orjson.dumps(stored_ref(ref))))


def _ref_as_written(ref: str | dict[str, str]) -> str | EvidenceRef:
    return ref if isinstance(ref, str) else trusted(EvidenceRef, {"source": ref["source"], "id": ref["id"]})


def _is_verdict(claim: WriteForm) -> bool:
    return type(claim.value) is bool and claim.valid_from is claim.valid_to is claim.expires_at is None


@lru_cache(maxsize=NAMESPACES_CACHED_MAX)
def _is_namespace(text: str) -> bool:
    return text != PUBLIC and text.isascii() and _NAMESPACE.fullmatch(text) is not None
