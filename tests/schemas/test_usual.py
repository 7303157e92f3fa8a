"""The usual event, read fast, is what the models make of it: accepted and refused alike, the same model, content hash,
stored bytes and facts. What is compared with is the same code with the fast reading taken out."""

import json
from collections.abc import Callable
from typing import Any, cast

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Struct
from msgspec.structs import fields as fields_of
from msgspec.structs import replace
from pydantic import BaseModel
from tether_schemas import codec, forms
from tether_schemas.builtin import MemoryWrite
from tether_schemas.codec import Read, encode_record, read, read_event, read_stored
from tether_schemas.errors import BadEvent
from tether_schemas.events import ToolResultEvent
from tether_schemas.facts import Asserted, EvidenceRecorded, FactRecord
from tether_schemas.refs import EvidenceRef, Ref
from tether_schemas.topics import TOPIC_OF_TYPE
from tether_schemas.usual import Usual, model_of
from tether_streams.core.extract import Fault, RawPlace, extract, extract_usual

from tests.raw import Json, put, write
from tests.schemas.test_bad_events import CASES
from tests.schemas.test_codec import GOOD
from tests.schemas.test_fuzz import ANYTHING, LEAVES, changed, mutated, places

USUAL = write(
    subject="pkg:golang/example.com/module@v1.3.6",
    predicate="passes",
    value=True,
    authority="inferred",
    derived_from=["pkg:golang/example.com/dep@v1.0.0", "item:a@1", "item:a@1", {"source": "ci", "id": "e-0"}],
    premises_complete=True,
)
TIMES = ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.25+02:00", "2026-02-30T12:00:00Z", "2026-01-31", ""]
NAMES = st.sampled_from(["ana", "", "a b", "a\x00", "a\x85", "é", "\u00a0", "\u200b", "x" * 256, "x" * 257, "\ue000"])
SUBJECTS = st.sampled_from(
    ["item:a@1", "item:a", "user:ana", "pkg:PyPI/A.b@1", "pkg:pypi/a-b@1", "pkg:pypi/a", "as_" + "0" * 32, "a", ""]
)
REFS = SUBJECTS | st.fixed_dictionaries({"source": NAMES, "id": NAMES}) | st.just({"source": "ci"}) | LEAVES
VALUES = st.booleans() | st.floats(allow_nan=False) | st.integers(-(2**64), 2**65) | st.text(max_size=3) | ANYTHING
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "scope": NAMES,
    "issuer": NAMES | st.none(),
    "memory_type": NAMES | st.none(),
    "mode": st.sampled_from(["explicit", "inferred", "loud"]),
    **dict.fromkeys(
        ("valid_from", "valid_to", "observed_at", "expires_at", "review_at"), st.sampled_from(TIMES) | st.none()
    ),
    "authority": st.sampled_from(["unknown", "inferred", "root"]),
    "confidence": st.sampled_from([None, 0, 1, 0.0, 1.0, -0.0, 0.5, 1e-5, 5e-324, 1.5, -1, True, "0.5"]),
    "sensitivity": NAMES,
    "readers": st.lists(NAMES, max_size=2) | st.none(),
    "derived_from": st.lists(REFS, max_size=3) | st.lists(SUBJECTS, max_size=3).map(tuple),
    "premises_complete": st.booleans() | st.just(1),
    "original_text": st.text(max_size=3) | st.none(),
    "write_reason": st.text(max_size=3),
    "valeu": st.none(),
}
WRITES = st.fixed_dictionaries(
    {"subject": SUBJECTS, "predicate": st.sampled_from(["passes", "drinks", "a\n"]), "value": VALUES},
    optional=ARGUMENTS,
)
DATA: dict[str, st.SearchStrategy[Any]] = {
    "session_id": NAMES | st.none(),
    "call_id": NAMES,
    "result": VALUES,
    "is_error": st.booleans(),
    "note": st.none(),
}
ATTRIBUTES: dict[str, st.SearchStrategy[Any]] = {
    "id": NAMES,
    "source": NAMES,
    "time": st.sampled_from(TIMES),
    "namespace": st.sampled_from(["acme", "acme/build", "*", "", "a b", "a/b/c", "é", "acme\n"]),
    "traceparent": st.just("00-1-2-01"),
    "subject": st.just("x"),
}


@st.composite
def written(draw: st.DrawFn) -> Json:
    """A `memory.write`, valid more often than not in each part."""
    event = write()
    data = {**event["data"], "arguments": draw(WRITES), **draw(st.fixed_dictionaries({}, optional=DATA))}
    return {**event, **draw(st.fixed_dictionaries({}, optional=ATTRIBUTES)), "data": data}


def careful(read: Callable[[], Any]) -> Any:
    """What `read` gives when nothing is read fast."""

    def nothing(*_: Any) -> None:
        return None

    def damaged(_: bytes) -> None:
        raise ValueError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "usual_of", nothing)
        patch.setattr(codec, "_read_normal", nothing)
        patch.setattr(codec, "_read_record", damaged)
        return read()


def facts_of(found: Read) -> tuple[FactRecord, bytes, tuple[Fault, ...]]:
    """The record, its stored bytes, and faults."""
    place = RawPlace(1_000, TOPIC_OF_TYPE[found.fields["type"]], 0, 7, found.content_hash)
    if isinstance(found.event, Usual):
        record, stored = extract_usual(found.event, place, None)
        return record, orjson.dumps(stored), ()
    record, faults = extract(found.event, place)
    return record, encode_record(record), faults


def spelled(model: Any) -> Any:
    """A model in full: types, values, which fields were given, and so inside."""
    if isinstance(model, BaseModel):
        inside = {name: spelled(value) for name, value in model.__dict__.items() if name != "built_in"}
        return type(model), inside, model.model_fields_set, model.model_extra, spelled(model.__dict__.get("built_in"))
    return list(map(spelled, cast(tuple[Any, ...], model))) if isinstance(model, tuple) else repr(model)


def told(raw: Any, namespace: str | None, arguments: bool) -> Any:
    """Everything that reading `raw` gives."""
    try:
        found = read(raw, namespace, arguments=arguments)
    except BadEvent as fault:
        return fault.field, fault.reason
    event = model_of(found.event, found.fields) if isinstance(found.event, Usual) else found.event
    if not arguments and isinstance(event, ToolResultEvent):
        vars(event.data).pop("built_in", None)  # nobody asked for it
    stored = repr(found.fields), found.content_hash, found.envelope, found.payload
    again = replace(found, event=read_stored(found.envelope, found.payload))
    return spelled(event), stored, [repr(one) for one in facts_of(found)], [repr(one) for one in facts_of(again)]


def same(raw: Any, namespace: str | None = None) -> None:
    for arguments in (True, False):
        fast = told(raw, namespace, arguments)
        assert fast == careful(lambda arguments=arguments: told(raw, namespace, arguments))


def same_in_any_form(fields: Any) -> None:
    same(fields)
    same(fields, "beta")
    for write_json in (json.dumps, orjson.dumps):
        try:
            text = write_json(fields)
        except (TypeError, ValueError):
            continue
        same(text)
        same(text, "beta")


@settings(max_examples=500, deadline=None)  # each is read in six forms, twice
@given(written())
def test_any_memory_write_is_read_alike(fields: Json) -> None:
    same_in_any_form(fields)


@settings(max_examples=300, deadline=None)
@given(mutated())
def test_any_event_changed_in_any_places_is_read_alike(raw: Any) -> None:
    same_in_any_form(raw)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_usual_event_changed_in_one_place_is_read_alike(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(USUAL)))
    same_in_any_form(changed(USUAL, path, data.draw(ANYTHING)))


@pytest.mark.parametrize("fields", [*GOOD, USUAL, put(USUAL, "namespace", ...), *(case[0] for case in CASES)])
def test_known_events_good_and_bad_are_read_alike(fields: Json) -> None:
    same_in_any_form(fields)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([USUAL, *GOOD]), st.data())
def test_json_with_bytes_changed_is_read_alike(fields: Json, data: st.DataObject) -> None:
    text = bytearray(orjson.dumps(fields))
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 1))] = data.draw(st.sampled_from([b'"', b" ", b"\\u00e9", b"-", b"0"]))
    same(bytes(text))


NUMBERS = ["-0", "-0.0", "1E5", "1e400", "1e-400", "0.1e1", "18446744073709551616", "9007199254740993.0", "1.0", "01"]


@pytest.mark.parametrize("number", [*NUMBERS, "1.7976931348623157e308", "123456789012345678901234567890.5", "5e-324"])
@pytest.mark.parametrize("place", ["value", "confidence", "result"])
def test_a_number_in_any_spelling_is_read_alike(number: str, place: str) -> None:
    path = "data.result" if place == "result" else f"data.arguments.{place}"
    text = orjson.dumps(put(put(USUAL, "data.arguments.predicate", "drinks"), path, "?"))
    same(text.replace(b'"?"', number.encode()))


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_alike(value: float) -> None:
    same_in_any_form(put(write(value=value), "data.result", [value, {"a": value}]))


@pytest.mark.parametrize("depth", [59, 60, 61, 62, 63, 64, 130, 300])
@pytest.mark.parametrize("path", ["data.result", "data.arguments.value"])
@pytest.mark.parametrize("deep", [1, 1.0])
def test_nesting_has_the_same_limit(deep: Any, path: str, depth: int) -> None:
    for _ in range(depth):
        deep = {"a": deep}
    same_in_any_form(put(write(), path, deep))
    same_in_any_form(put(put(write(), path, deep), "data.result", 1.0))


def test_stored_bytes_that_nest_too_deep_are_refused_alike() -> None:
    payload = orjson.dumps({**USUAL["data"], "result": "?"}).replace(b'"?"', b"[" * 63 + b"]" * 63)
    envelope = orjson.dumps({name: value for name, value in USUAL.items() if name != "data"})
    with pytest.raises(BadEvent, match="nested deeper"):
        read_stored(envelope, payload)


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"a":1,"a" :2}', '"\\":"'])
def test_a_name_twice_is_seen_alike(text: str) -> None:
    same(orjson.dumps(put(USUAL, "data.result", "?")).replace(b'"?"', text.encode()))


class Text(str):
    """A text of another type."""


@pytest.mark.parametrize("path", ["id", "type", "time", "namespace", "data.tool", "data.arguments.subject"])
def test_texts_of_another_type_are_refused_alike(path: str) -> None:
    assert isinstance(told(put(USUAL, path, Text("item:a@1")), None, True), tuple)
    same(put(USUAL, path, Text("item:a@1")))
    same({Text(name): value for name, value in USUAL.items()})


@pytest.mark.parametrize("raw", [USUAL, orjson.dumps(USUAL), json.dumps(USUAL), put(USUAL, "namespace", ...)])
def test_the_usual_event_is_read_fast(raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise every event would take twice the time."""

    def refuse(*_: Any) -> None:
        raise AssertionError("read slowly")

    monkeypatch.setattr(codec, "_validate", refuse)
    found = read(raw, "acme")
    assert isinstance(found.event, Usual)
    assert isinstance(read_stored(found.envelope, found.payload), Usual)
    assert read_event(raw, "acme").event.id == "e-1"


def test_the_usual_json_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "from_json", None)
    assert isinstance(read(orjson.dumps(USUAL)).event, Usual)


def test_what_is_printable_is_no_control_character() -> None:
    controls = {*range(0x20), *range(0x7F, 0xA0)}
    assert not any(chr(code).isprintable() for code in controls)
    assert "None".isprintable()


@pytest.mark.parametrize(
    ("form", "model"),
    [
        (forms.WriteForm, MemoryWrite),
        (forms.EvidenceRefForm, EvidenceRef),
        (forms.RefForm, Ref),
        (forms.EvidenceRecordedForm, EvidenceRecorded),
        (forms.AssertedForm, Asserted),
        (forms.FactRecordForm, FactRecord),
    ],
)
def test_a_form_has_the_fields_and_defaults_of_its_model(form: type[Struct], model: type[BaseModel]) -> None:
    of_form = {field.name: UNSET if field.required else field.default for field in fields_of(form)}
    of_model = {name: UNSET if field.is_required() else field.default for name, field in model.model_fields.items()}
    for name in {"v", "type"} & of_model.keys():
        of_model[name] = UNSET  # what leaves it out is left to the model
    assert list(of_form.items()) == list(of_model.items())
