"""The only place where bytes become models and models bytes.

What a producer sends is kept exactly or refused. JSON text must be I-JSON (RFC 7493) as far as it matters: UTF-8, no
lone surrogates, no name twice in one object (one of the two values would be lost without a word). Numbers with a
fraction or an exponent are IEEE doubles, as everywhere in JSON; integers are exact up to 64 bits, refused beyond.
"""

import json
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple, cast, get_args

import orjson
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from tether_schemas.canonical import NotJson, Survey, canonical_of_checked, check_json
from tether_schemas.errors import BadEvent, UnknownVersion
from tether_schemas.events import Envelope, RawEvent, ToolResultEvent, public_fault
from tether_schemas.facts import RECORD_VERSION, Fact, FactRecord
from tether_schemas.fields import BadField, first_fault
from tether_schemas.forms import FactRecordForm
from tether_schemas.refs import Ref, stored_ref
from tether_schemas.topics import TOPIC_OF_TYPE
from tether_schemas.usual import Usual, is_plain_usual, model_of, nests_too_deep, record_of, usual_of

_validate_event: Callable[[Any], Envelope] = TypeAdapter[Envelope](RawEvent).validator.validate_python
_validate_record: Callable[[bytes], FactRecord] = TypeAdapter(FactRecord).validator.validate_json
_read_record = Decoder(FactRecordForm).decode
_AROUND_DATA = len(',"data":') + len("}")
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')

RawInput = Envelope | dict[str, Any] | bytes | str


class Decoded(NamedTuple):
    """One event as accepted: the model, the fields as they came, and the hash that says what is the same content."""

    event: Envelope
    fields: dict[str, Any]
    content_hash: str


class Read(Struct, frozen=True, gc=False):
    """What Decoded says, where the usual event is not made into models; and the event as it is stored, its `data`
    apart from all else."""

    event: Envelope | Usual
    fields: dict[str, Any]
    content_hash: str
    envelope: bytes
    payload: bytes


def read_event(raw: RawInput, namespace: str | None = None, *, arguments: bool = True) -> Decoded:
    """Read and check one event in any form, in one walk. Raises BadEvent naming the field and the reason.

    `namespace` fills in where the event names none. `arguments` says whether the arguments of the built-in tools are
    checked too, as `append` does; where anyone may publish, extraction checks them, so that the evidence is recorded
    whatever they are.
    """
    found = read(raw, namespace, arguments=arguments)
    event = model_of(found.event, found.fields) if isinstance(found.event, Usual) else found.event
    return Decoded(event, found.fields, found.content_hash)


def read(raw: RawInput, namespace: str | None = None, *, arguments: bool = True) -> Read:
    """read_event for those who store the event and make facts of it."""
    if (type(raw) is bytes or type(raw) is str) and (found := _read_normal(raw, namespace, arguments)) is not None:
        return found
    text, fields = _read(raw)
    survey = _look_over(fields, text)
    fields = _filled_in(fields, namespace)
    event = usual_of(fields) or _validate(fields, arguments)
    return _as_read(event, fields, survey.plain)


def _read_normal(raw: bytes | str, namespace: str | None, arguments: bool) -> Read | None:
    """An event from JSON text that is just what orjson writes of it, so that no name stands twice and every number is
    read as it is. None for any other text, and for any that is to be refused."""
    try:
        text = raw.encode() if isinstance(raw, str) else raw
        fields: Any = orjson.loads(text)
        if type(fields) is not dict or orjson.dumps(fields) != text:
            return None
        filled = _filled_in(cast(dict[str, Any], fields), namespace)
        event = usual_of(filled)
        if event is not None:
            return _as_read(event, filled, is_plain_usual(event, filled), text if filled is fields else None)
        plain = check_json(filled).plain
        return _as_read(_validate(filled, arguments), filled, plain)
    except (ValueError, TypeError, BadEvent):  # ValueError is NotJson too; TypeError: nested too deep to be written
        return None


def _filled_in(fields: dict[str, Any], namespace: str | None) -> dict[str, Any]:
    return {**fields, "namespace": namespace} if namespace is not None and "namespace" not in fields else fields


def _as_read(event: Envelope | Usual, fields: dict[str, Any], plain: bool, whole: bytes | None = None) -> Read:
    """`whole` is what orjson writes of `fields`, where that is known."""
    content_hash = sha256(canonical_of_checked(fields, plain)).hexdigest()
    payload = orjson.dumps(fields["data"])
    if whole is not None and next(reversed(fields)) == "data":
        return Read(event, fields, content_hash, whole[: -len(payload) - _AROUND_DATA] + b"}", payload)
    attributes = fields.copy()
    del attributes["data"]
    return Read(event, fields, content_hash, orjson.dumps(attributes), payload)


def decode_event(fields: dict[str, Any], *, arguments: bool = True) -> Envelope:
    """Validate one event. Raises BadEvent naming the field and the reason; `arguments` as in read_event."""
    _look_over(fields, None)
    usual = usual_of(fields)
    return _validate(fields, arguments) if usual is None else model_of(usual, fields)


def read_stored(envelope: bytes, payload: bytes) -> Envelope | Usual:
    """An event as Read stores it, for those who make facts of it; arguments are left to them. Raises BadEvent."""
    fields: dict[str, Any] = orjson.loads(envelope)
    fields["data"] = orjson.loads(payload)
    usual = usual_of(fields)
    if usual is not None and not nests_too_deep(usual, fields):
        return usual
    _look_over(fields, None)
    return _validate(fields, arguments=False)


def event_dict(raw: RawInput, namespace: str | None = None) -> dict[str, Any]:
    """The event as a dict, not yet validated; `namespace` fills in where it names none. Raises BadEvent."""
    text, fields = _read(raw)
    if text is not None:
        _look_over(fields, text)
    return _filled_in(fields, namespace)


def _read(raw: RawInput) -> tuple[bytes | None, dict[str, Any]]:
    """The JSON text, where it came as such, and the fields."""
    text = None
    if isinstance(raw, bytes | str):
        try:
            text = raw.encode() if isinstance(raw, str) else raw
            # pydantic's parser keeps integers exact, which others silently make floats of.
            parsed: Any = from_json(text, allow_inf_nan=False, cache_strings="keys")
        except UnicodeEncodeError:
            raise BadEvent("event", "contains a lone surrogate, which is not valid Unicode text") from None
        except ValueError as error:
            raise BadEvent("event", f"is no JSON: {error}") from None
    elif type(raw) is dict or not isinstance(raw, BaseModel):
        parsed = raw
    else:
        parsed = raw.model_dump(exclude_unset=True, warnings=False)
    if not isinstance(parsed, dict):
        raise BadEvent("event", f"is a {type(parsed).__name__}; an event is a JSON object")
    return text, cast(dict[str, Any], parsed)


def _look_over(fields: dict[str, Any], text: bytes | None) -> Survey:
    try:
        survey = check_json(fields)
    except NotJson as error:
        raise BadEvent(error.path or "event", error.reason) from None
    if text is not None:
        # Every name in the text is followed by a colon; strings may hold more of these, so only a surplus needs a look.
        colons = text.count(b'":')
        if b"\n" in text or b" :" in text or b"\t" in text or b"\r" in text:
            colons += len(_SPACED_COLON.findall(text))
        if colons != survey.names:
            _refuse_names_twice(text)
    return survey


def _refuse_names_twice(text: bytes) -> None:
    def pairs(found: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in found:
            if name in seen:
                raise BadEvent(name[:200] or "event", "stands twice in one object; which one is meant?")
            seen.add(name)

    try:
        json.loads(text.decode(), object_pairs_hook=pairs, parse_int=str, strict=False)
    except ValueError as error:
        raise BadEvent("event", f"is no JSON: {error}") from None


def _validate(fields: dict[str, Any], arguments: bool) -> Envelope:
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in TOPIC_OF_TYPE:
        reason = "is missing; it is" if "type" not in fields else f"{kind!a:.80} is none of"
        raise BadEvent("type", f"{reason} {', '.join(TOPIC_OF_TYPE)}")
    try:
        event = _validate_event(fields)
    except ValidationError as error:
        fault = first_fault(error)
        raise BadEvent(fault.field or "event", fault.reason) from None
    if event.namespace == "*" and (reason := public_fault(event)) is not None:
        raise BadEvent("namespace", reason)
    if arguments and isinstance(event, ToolResultEvent):
        try:
            _ = event.data.built_in
        except BadField as error:
            fault = error.within("data.arguments")
            raise BadEvent(fault.field, fault.reason) from None
    return event


def encode_record(record: FactRecord) -> bytes:
    """One fact record as JSON: what equals its default is left out, except for what says how to read it."""
    written = record.__dict__.copy()
    if written["rules"] is None:
        del written["rules"]
    written["facts"] = [_without_defaults(fact) for fact in record.facts]
    return orjson.dumps(written, default=_as_dict)


def _without_defaults(fact: Fact) -> dict[str, Any]:
    written = fact.__dict__.copy()
    for name, default in _DEFAULTS[type(fact)]:
        value = written[name]
        if value is default or value == default:
            del written[name]
    return written


def _as_dict(value: Any) -> Any:
    if isinstance(value, Ref):
        return stored_ref(value)
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _defaults(fact: type[BaseModel]) -> list[tuple[str, Any]]:
    fields = fact.model_fields.items()
    return [(name, field.default) for name, field in fields if not field.is_required() and name != "type"]


_DEFAULTS: dict[type[BaseModel], list[tuple[str, Any]]] = {
    fact: _defaults(fact) for fact in get_args(get_args(Fact)[0])
}


def decode_record(data: bytes) -> FactRecord:
    """Read one fact record. Raises UnknownVersion when a newer Tether wrote it, ValueError when it is damaged."""
    try:
        return record_of(_read_record(data))
    except (MsgspecError, ValueError):  # it holds other facts, is of another version, or damaged
        return _validated_record(data)


def _validated_record(data: bytes) -> FactRecord:
    try:
        return _validate_record(data)
    except ValidationError:
        head: Any = orjson.loads(data)
        version = cast(dict[str, Any], head).get("v") if isinstance(head, dict) else None
        if isinstance(version, int) and version > RECORD_VERSION:
            raise UnknownVersion("facts", version) from None
        raise
