"""Whatever comes in, an event comes out or BadEvent: never another error."""

import json
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.canonical import canonical_json
from tether_schemas.codec import read_event
from tether_schemas.errors import BadEvent

from tests.raw import Json
from tests.schemas.test_codec import GOOD

LEAVES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=6)
    | st.binary(max_size=3)
    | st.sampled_from(["item:a@1", "2026-01-31T12:00:00Z", "as_" + "0" * 32, "*", "acme", "memory.write", "pkg:x/y@1"])
)
NAMES = st.text(st.characters(exclude_categories=()), max_size=3) | st.sampled_from(
    ["id", "type", "data", "source", "target", "evidence", "arguments", "subject", "value", "derived_from", "rules"]
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)


def read(raw: Any) -> None:
    """Read it; what is read must have a canonical form, what is refused a message that can be written."""
    try:
        decoded = read_event(raw)
    except BadEvent as fault:
        assert fault.field and fault.reason
        str(fault).encode()
    else:
        canonical_json(decoded.fields)


def inside(value: Any) -> list[tuple[Any, Any]]:
    """What a container holds, by name or index."""
    if isinstance(value, dict):
        return list(cast(dict[Any, Any], value).items())
    return list(enumerate(cast(list[Any], value))) if isinstance(value, list) else []


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    return [path, *(place for key, inner in inside(value) for place in places(inner, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    held = {key: changed(inner, path[1:], new) if key == path[0] else inner for key, inner in inside(value)}
    return held if isinstance(value, dict) else list(held.values())


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    event: Any = draw(st.sampled_from(GOOD))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(event)))
        event = changed(event, path, draw(ANYTHING))
    return event


@given(ANYTHING)
def test_anything_at_all(raw: Any) -> None:
    read(raw)


@settings(max_examples=600)
@given(mutated())
def test_a_valid_event_changed_in_any_places(raw: Any) -> None:
    read(raw)


@settings(max_examples=300)
@given(mutated())
def test_the_same_as_json(raw: Any) -> None:
    read(json.dumps(raw, default=str))


@given(st.sampled_from(GOOD), st.data())
def test_json_text_with_bytes_changed(fields: Json, data: st.DataObject) -> None:
    text = bytearray(json.dumps(fields).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    read(bytes(text))


@given(st.binary(max_size=64))
def test_any_bytes(raw: bytes) -> None:
    read(raw)
