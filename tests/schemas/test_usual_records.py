"""A fact record read fast is what the models make of the same bytes, and refused where they refuse it."""

from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from tether_schemas import codec
from tether_schemas.codec import decode_record, encode_record
from tether_schemas.errors import UnknownVersion
from tether_schemas.facts import FactRecord

from tests.raw import Json, extracted, put, write
from tests.schemas.test_fuzz import ANYTHING, changed, places
from tests.schemas.test_records import RECORDS
from tests.schemas.test_usual import USUAL, careful, spelled

FULL = write(
    **{name: "x" for name in ("scope", "issuer", "memory_type", "sensitivity", "original_text", "write_reason")},
    **{name: "2026-01-31T12:00:00Z" for name in ("valid_from", "valid_to", "observed_at", "expires_at", "review_at")},
    mode="inferred", authority="inferred", confidence=0.5, readers=["ana"], derived_from=["item:a@1"],
    value={"a": [1, 1.5, None, "é", 2**64 - 1, -(2**63), 1e300]},
)  # fmt: skip
EVENTS = [USUAL, FULL, write(), put(write(), "data.is_error", True), put(USUAL, "data.session_id", "s")]
STORED: list[Json] = [orjson.loads(encode_record(extracted(event)[0])) for event in EVENTS]


def told(data: bytes) -> Any:
    try:
        record = decode_record(data)
    except (ValueError, UnknownVersion) as error:
        return type(error)
    return {name: spelled_whole(value) for name, value in record.__dict__.items()}


def spelled_whole(value: Any) -> Any:
    """Types and values; which of them stand in the bytes is no part of a fact."""
    if isinstance(value, tuple):
        return list(map(spelled_whole, cast(tuple[Any, ...], value)))
    if isinstance(value, BaseModel):
        return type(value), {name: spelled_whole(inner) for name, inner in value.__dict__.items()}
    return spelled(value)


def same(data: bytes) -> None:
    assert told(data) == careful(lambda: told(data))


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(STORED), st.data())
def test_a_record_changed_in_one_place_is_read_alike(stored: Json, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(stored)))
    try:
        text = orjson.dumps(changed(stored, path, data.draw(ANYTHING)))
    except TypeError:
        return  # no JSON
    same(text)


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(STORED), st.data())
def test_a_record_with_bytes_changed_is_read_alike(stored: Json, data: st.DataObject) -> None:
    text = bytearray(orjson.dumps(stored))
    for _ in range(data.draw(st.integers(1, 2))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    same(bytes(text))


@given(RECORDS)
def test_any_record_is_read_alike(record: FactRecord) -> None:
    same(encode_record(record))


@pytest.mark.parametrize("stored", STORED, ids=range(len(STORED)))
def test_a_record_as_extraction_writes_it_is_read_alike(stored: Json) -> None:
    same(orjson.dumps(stored))
    same(orjson.dumps({**stored, "v": 2}))
    same(orjson.dumps(put(stored, "rules", "r-1")))


def test_the_usual_record_is_read_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_validate_record", None)
    assert decode_record(orjson.dumps(STORED[0])).id == "e-1"
    assert decode_record(orjson.dumps(STORED[1])).id == "e-1"
