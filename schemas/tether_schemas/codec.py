"""The only place where bytes become models and models bytes.

What a producer sends is kept exactly or refused. JSON text must be I-JSON (RFC 7493) as far as it matters: UTF-8, no
lone surrogates, no name twice in one object (one of the two values would be lost without a word). Numbers with a
fraction or an exponent are IEEE doubles, as everywhere in JSON; integers are exact up to 64 bits, refused beyond.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, cast, get_args

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from tether_schemas.canonical import NotJson, canonical_of_checked, check_json
from tether_schemas.errors import BadEvent, UnknownVersion
from tether_schemas.events import Envelope, RawEvent, ToolResultEvent, public_fault
from tether_schemas.facts import RECORD_VERSION, Fact, FactRecord
from tether_schemas.fields import first_fault, within
from tether_schemas.refs import Ref
from tether_schemas.topics import TOPIC_OF_TYPE

_EVENT: TypeAdapter[Envelope] = TypeAdapter(RawEvent)
_RECORD = TypeAdapter(FactRecord)
_SPACED_COLON = re.compile(rb'"[ \t\r\n]+:')
_AFTER_QUOTE = (b'" ', b'"\n', b'"\r', b'"\t')

RawInput = Envelope | dict[str, Any] | bytes | str


class Decoded(NamedTuple):
    """One event as accepted: the model, the fields as they came, and the hash that says what is the same content."""

    event: Envelope
    fields: dict[str, Any]
    content_hash: str


def read_event(raw: RawInput, namespace: str | None = None, *, arguments: bool = True) -> Decoded:
    """Read and check one event in any form, in one walk. Raises BadEvent naming the field and the reason.

    `arguments` says whether the arguments of the built-in tools are checked too, as `append` does; where anyone may
    publish, extraction checks them, so that the evidence is recorded whatever they are.
    """
    fields = event_dict(raw, namespace)
    event, plain = _decode(fields, arguments)
    return Decoded(event, fields, hashlib.sha256(canonical_of_checked(fields, plain)).hexdigest())


def decode_event(fields: dict[str, Any], *, arguments: bool = True) -> Envelope:
    """Validate one event. Raises BadEvent naming the field and the reason; `arguments` as in read_event."""
    return _decode(fields, arguments)[0]


def event_dict(raw: RawInput, namespace: str | None = None) -> dict[str, Any]:
    """The event as a dict, whatever form it came in; `namespace` fills in where it names none. Raises BadEvent."""
    if isinstance(raw, bytes | str):
        parsed = _parse(raw)
    elif isinstance(raw, BaseModel):
        parsed = raw.model_dump(exclude_unset=True)
    else:
        parsed = raw
    if not isinstance(parsed, dict):
        raise BadEvent("event", "is no JSON object")
    fields = cast(dict[str, Any], parsed)
    if namespace is not None and "namespace" not in fields:
        return {**fields, "namespace": namespace}
    return fields


def _parse(raw: bytes | str) -> Any:
    try:
        text = raw.encode() if isinstance(raw, str) else raw
        # pydantic's parser keeps integers exact, which others silently make floats of.
        parsed: Any = from_json(text, allow_inf_nan=False, cache_strings="keys")
    except UnicodeEncodeError:
        raise BadEvent("event", "contains a lone surrogate, which is not valid Unicode text") from None
    except (ValueError, RecursionError) as error:
        raise BadEvent("event", f"is no JSON: {error}") from None
    names_max = text.count(b'":')
    if any(pair in text for pair in _AFTER_QUOTE):
        names_max += len(_SPACED_COLON.findall(text))
    # Every name in the text is followed by a colon; strings may hold more of these, so only a surplus needs a look.
    if names_max != _names(parsed):
        _refuse_names_twice(text)
    return parsed


def _names(value: object) -> int:
    count = 0
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found = cast(dict[str, Any], value)
            count += len(found)
            waiting += [inner for inner in found.values() if type(inner) is dict or type(inner) is list]
        elif isinstance(value, list):
            found = cast(list[Any], value)
            waiting += [inner for inner in found if type(inner) is dict or type(inner) is list]
    return count


def _refuse_names_twice(text: bytes) -> None:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for name, value in found:
            if name in seen:
                raise BadEvent(name[:200] or "event", "stands twice in one object; which one is meant?")
            seen[name] = value
        return seen

    try:
        json.loads(text, object_pairs_hook=pairs, parse_int=str)
    except (ValueError, RecursionError) as error:
        raise BadEvent("event", f"is no JSON: {error}") from None


def _decode(fields: dict[str, Any], arguments: bool) -> tuple[Envelope, bool]:
    kind = fields.get("type")
    if isinstance(kind, str) and kind not in TOPIC_OF_TYPE:
        raise BadEvent("type", f"{kind!a:.80} is none of {', '.join(TOPIC_OF_TYPE)}")
    try:
        plain = check_json(fields)
        event = _EVENT.validate_python(fields)
    except NotJson as error:
        raise BadEvent(error.path or "event", error.reason) from None
    except ValidationError as error:
        fault = first_fault(error)
        raise BadEvent(fault.field or "event", fault.reason) from None
    if event.namespace == "*" and (reason := public_fault(event)) is not None:
        raise BadEvent("namespace", reason)
    if arguments and isinstance(event, ToolResultEvent):
        try:
            _ = event.data.built_in
        except ValidationError as error:
            fault = within("data.arguments", error)
            raise BadEvent(fault.field, fault.reason) from None
    return event, plain


def encode_record(record: FactRecord) -> bytes:
    """One fact record as JSON: what equals its default is left out, except for what says how to read it."""
    head = _leave_out_defaults(record, ("v",))
    head["facts"] = [_leave_out_defaults(fact, ("type",)) for fact in record.facts]
    return orjson.dumps(head, default=_as_dict)


def _leave_out_defaults(model: FactRecord | Fact, kept: Iterable[str]) -> dict[str, Any]:
    defaults = _DEFAULTS[type(model)]
    values = model.__dict__
    written: dict[str, Any] = {name: values[name] for name in kept}
    for name, value in values.items():
        if name not in defaults or value != defaults[name]:
            written[name] = value
    return written


def _as_dict(value: Any) -> Any:
    if isinstance(value, Ref):
        return value.__dict__ if value.source else {"kind": value.kind, "text": value.text}
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    return {name: field.default for name, field in model.model_fields.items() if not field.is_required()}


_DEFAULTS: dict[type[BaseModel], dict[str, Any]] = {
    model: _defaults(model) for model in (FactRecord, *get_args(get_args(Fact)[0]))
}


def decode_record(data: bytes) -> FactRecord:
    """Read one fact record. Raises UnknownVersion when a newer Tether wrote it, ValueError when it is damaged."""
    try:
        return _RECORD.validate_json(data)
    except ValidationError:
        head: Any = orjson.loads(data)
        version = cast(dict[str, Any], head).get("v") if isinstance(head, dict) else None
        if isinstance(version, int) and version > RECORD_VERSION:
            raise UnknownVersion("facts", version) from None
        raise
