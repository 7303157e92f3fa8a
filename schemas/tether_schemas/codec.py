"""The only place where bytes become models and models bytes."""

from typing import Any, cast

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from tether_schemas.canonical import NotJson, check_json
from tether_schemas.errors import BadEvent, UnknownVersion
from tether_schemas.events import Envelope, RawEvent, public_fault
from tether_schemas.facts import RECORD_VERSION, FactRecord
from tether_schemas.topics import TOPIC_OF_TYPE

_EVENT: TypeAdapter[Envelope] = TypeAdapter(RawEvent)
_RECORD = TypeAdapter(FactRecord)


def event_dict(event: "Envelope | dict[str, Any] | bytes | str", namespace: str | None = None) -> dict[str, Any]:
    """The event as a dict, whatever form it came in; `namespace` fills in where it names none. Raises BadEvent."""
    if isinstance(event, bytes | str):
        try:
            # pydantic's parser keeps integers exact, which others silently make floats of.
            parsed: Any = from_json(event, allow_inf_nan=False, cache_strings="keys")
        except ValueError as error:
            raise BadEvent("event", f"is no JSON: {error}") from None
    elif isinstance(event, BaseModel):
        parsed = event.model_dump(mode="json", exclude_unset=True)
    else:
        parsed = event
    if not isinstance(parsed, dict):
        raise BadEvent("event", "is no JSON object")
    fields = cast(dict[str, Any], parsed)
    if namespace is not None and "namespace" not in fields:
        return {**fields, "namespace": namespace}
    return fields


def decode_event(fields: dict[str, Any]) -> Envelope:
    """Validate one event. Raises BadEvent naming the field and the reason."""
    kind = fields.get("type")
    if isinstance(kind, str) and kind not in TOPIC_OF_TYPE:
        raise BadEvent("type", f"{kind!r:.80} is none of {', '.join(TOPIC_OF_TYPE)}")
    try:
        check_json(fields)
        event = _EVENT.validate_python(fields)
    except NotJson as error:
        raise BadEvent(error.path or "event", error.reason) from None
    except ValidationError as error:
        raise bad_event(error) from None
    except RecursionError:
        raise BadEvent("event", "is nested too deeply") from None
    if event.namespace == "*" and (fault := public_fault(event)) is not None:
        raise BadEvent("namespace", fault)
    return event


def bad_event(error: ValidationError) -> BadEvent:
    """The first fault of a pydantic error as BadEvent: dotted field, reason in words."""
    first = error.errors(include_url=False)[0]
    parts = [str(part) for part in first["loc"] if not _is_branch(part)]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error" and ": " in message:
        inner, _, reason = message.partition(": ")
        if inner.replace(".", "").replace("_", "").isalnum() and len(inner) < 40:
            return BadEvent(".".join([*parts, inner]), reason)
    if first["type"] == "extra_forbidden":
        message = "is no field of this event; check its spelling"
    if first["type"] == "missing":
        message = "is missing"
    return BadEvent(".".join(parts) or "event", message)


def _is_branch(part: object) -> bool:
    return isinstance(part, str) and (part.startswith("tether.") or part.endswith(("Target", "Ref")) or "[" in part)


def encode_record(record: FactRecord) -> bytes:
    """One fact record as JSON."""
    return record.__pydantic_serializer__.to_json(record, exclude_defaults=True)


def decode_record(data: bytes) -> FactRecord:
    """Read one fact record. Raises UnknownVersion when it was written by a newer Tether, ValueError when it is damaged."""
    try:
        return _RECORD.validate_json(data)
    except ValidationError:
        head: Any = orjson.loads(data)
        version = cast(dict[str, Any], head).get("v") if isinstance(head, dict) else None
        if isinstance(version, int) and version > RECORD_VERSION:
            raise UnknownVersion("facts", version) from None
        raise
