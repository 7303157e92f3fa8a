"""The door of the log: what is accepted as an event, and what is kept of what is not."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from msgspec import Struct
from pydantic import BaseModel
from tether_schemas.builtin import MemoryWrite
from tether_schemas.codec import RawInput, read
from tether_schemas.errors import BadEvent, BadNamespace
from tether_schemas.events import DecisionEvent, Envelope, ToolResultEvent
from tether_schemas.facts import Asserted
from tether_schemas.ghosts import Ghost
from tether_schemas.times import time_us, us_text
from tether_schemas.topics import TOOL_RESULTS, TOPIC_OF_TYPE
from tether_schemas.usual import Usual

from tether_streams.ports import NewLetter, NewRecord

PAYLOAD_BYTES_MAX = 16 * 1024 * 1024
ENVELOPE_BYTES_MAX = 256 * 1024
FUTURE_SKEW_MAX_S = 300
LETTER_BYTES_MAX = 64 * 1024 * 1024
DESCRIPTION_CHARS_MAX = 4096

_FORMS = (dict, bytes, str, Envelope)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an event may be at most: the bytes of its `data` as JSON, and how far its times lie ahead of the log's."""

    payload_bytes_max: int = PAYLOAD_BYTES_MAX
    future_skew_max_s: int = FUTURE_SKEW_MAX_S


@dataclass(frozen=True, slots=True)
class Door:
    """Through whom an event comes. With a `namespace`, which fills in where the event names none, it is the only one
    allowed, and policy is not declared here; without, the event names its own, `*` included."""

    namespace: str | None = None


class Admitted(Struct, frozen=True, gc=False):
    """An accepted event, and its record. `settled`: nobody outside holds a part of it that extraction reads."""

    event: Envelope | Usual
    record: NewRecord
    settled: bool


def admit(raw: object, door: Door, limits: Limits, now_us: int) -> Admitted:
    """Read and check one event. Raises BadEvent naming the field and the reason, BadNamespace for one that the door
    does not let through. `now_us` is the log's clock."""
    if not isinstance(raw, _FORMS):
        raise BadEvent("event", f"is a dict, JSON text or bytes, or an event model, not {type(raw).__name__}")
    is_text = isinstance(raw, (bytes, str))
    if is_text and len(raw) > limits.payload_bytes_max + ENVELOPE_BYTES_MAX:
        raise BadEvent("event", _too_large(len(raw), limits.payload_bytes_max + ENVELOPE_BYTES_MAX))
    found = read(cast(RawInput, raw), door.namespace)
    event = found.event
    if door.namespace is not None:
        _check_door(event, door.namespace)
    _check_times(event, now_us, limits.future_skew_max_s)
    payload, envelope = found.payload, found.envelope
    if len(payload) > limits.payload_bytes_max:
        raise BadEvent("data", _too_large(len(payload), limits.payload_bytes_max))
    if len(envelope) > ENVELOPE_BYTES_MAX:
        raise BadEvent("event", f"has attributes of {len(envelope)} bytes; move what is large into data")
    topic = TOOL_RESULTS if isinstance(event, Usual) else TOPIC_OF_TYPE[event.__dict__["type"]]
    record = NewRecord(topic, event.namespace, event.source, event.id, found.content_hash, envelope, payload)
    return Admitted(event, record, is_text or _is_settled(event))


def _too_large(size_bytes: int, limit_bytes: int) -> str:
    return f"has {size_bytes} bytes, over the limit of {limit_bytes} (TETHER_PAYLOAD_BYTES_MAX); split it or raise it"


def _check_door(event: Envelope | Usual, allowed: str) -> None:
    if event.namespace != allowed:
        raise BadNamespace(f"this memory is of {allowed!r}; append to {event.namespace!r} through Store")
    if type(event) is DecisionEvent and event.data.action == "policy":
        raise BadEvent("data.action", "a policy decision is the operator's; append it through Store")


def _check_times(event: Envelope | Usual, now_us: int, skew_max_s: int) -> None:
    if isinstance(event, Usual):
        at_us, observed_at = event.time_us, event.claim.observed_at
    else:
        write = event.data.built_in if isinstance(event, ToolResultEvent) else None
        at_us, observed_at = time_us(event.time), write.observed_at if isinstance(write, MemoryWrite) else None
    latest_us = now_us + skew_max_s * 1_000_000
    if at_us > latest_us:
        raise BadEvent("time", _ahead(event.time, now_us, skew_max_s))
    if observed_at is not None and time_us(observed_at) > latest_us:
        raise BadEvent("data.arguments.observed_at", _ahead(observed_at, now_us, skew_max_s))


def check_ahead(ghost: Ghost, now_us: int, limits: Limits) -> None:
    """Raise BadEvent where a time of a ghost lies ahead of the log's clock, as `admit` does for an event."""
    observed = (fact.observed_at for fact in ghost.ghost.facts if isinstance(fact, Asserted))
    for time in (ghost.time, *observed):
        if time_us(time) > now_us + limits.future_skew_max_s * 1_000_000:
            raise BadEvent("time", _ahead(time, now_us, limits.future_skew_max_s))


def _ahead(time: str, now_us: int, skew_max_s: int) -> str:
    return (
        f"{time} is more than {skew_max_s} s ahead of the log's clock ({us_text(now_us)}); what is to hold later has a "
        "valid_from (TETHER_FUTURE_SKEW_MAX_S sets the limit)"
    )


def _is_settled(event: Envelope | Usual) -> bool:
    """Whether extraction reads nothing of a dict that its owner may still change: arguments are read by then, and are
    texts and numbers but for a value."""
    if isinstance(event, Usual):
        return isinstance(event.claim.value, str | int | float | bool)
    if not isinstance(event, ToolResultEvent) or event.data.built_in is None:
        return False
    built_in = event.data.built_in
    return not isinstance(built_in, MemoryWrite) or isinstance(built_in.value, str | int | float | bool)


def letter(raw: object, reason: str, namespace: str | None) -> NewLetter:
    """The dead letter of an event that a batch could not take. The same event refused again is the same letter."""
    payload = _whole(raw)
    digest = hashlib.sha256(payload + b"\0" + reason.encode(errors="replace")).hexdigest()
    return NewLetter(namespace, "append", reason, payload, f"append:{namespace}:{digest}")


def named_namespace(raw: object) -> str | None:
    """The namespace that a refused event names, where that much can be read."""
    if isinstance(raw, bytes | str):
        try:
            raw = orjson.loads(raw)
        except ValueError:
            return None
    named: Any = (
        cast(dict[Any, Any], raw).get("namespace") if isinstance(raw, dict) else getattr(raw, "namespace", None)
    )
    return named if isinstance(named, str) and len(named) <= 257 and named.isprintable() else None


def _whole(raw: object) -> bytes:
    """What came, whole: bytes as they are, else JSON; where there is none, a bounded description that says so."""
    try:
        if isinstance(raw, BaseModel):
            raw = raw.model_dump(exclude_unset=True)
        if isinstance(raw, bytes):
            data = raw
        elif isinstance(raw, str):
            data = raw.encode()
        else:
            data = _json(raw)
        if len(data) <= LETTER_BYTES_MAX:
            return data
        return _description(raw, f"has {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")
    except (ValueError, TypeError, RecursionError) as error:
        return _description(raw, f"cannot be written as JSON: {error}")


def _json(value: object) -> bytes:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    _check_names(value)
    return text.encode()


def _check_names(value: object) -> None:
    """Raise where json.dumps would have written a key that is no text as if it were one."""
    if isinstance(value, dict):
        for name, inner in cast(dict[object, object], value).items():
            if not isinstance(name, str):
                raise ValueError(f"a key is no string: {name!a:.80}")
            _check_names(inner)
    elif isinstance(value, list | tuple):
        for inner in cast(Sequence[object], value):
            _check_names(inner)


def _description(raw: object, why: str) -> bytes:
    try:
        shown = ascii(raw)[:DESCRIPTION_CHARS_MAX]
    except Exception as error:  # whatever the object's own __repr__ raises
        shown = f"no text either: {type(error).__name__}"
    return orjson.dumps(
        {
            "description": shown,
            "of": type(raw).__name__,
            "why": f"this is no event but a description: it {ascii(why)[1:-1]}",
        }
    )
