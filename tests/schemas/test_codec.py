"""Reading events: any form gives the same content, kept exactly; names twice in one object are refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.builtin import MemoryLink, MemoryWrite
from tether_schemas.codec import decode_event, event_dict, read_event
from tether_schemas.errors import BadEvent
from tether_schemas.events import ToolResultEvent

from tests.raw import Json, decision, deletion, link, osv, policy, put, revocation, tool_result, transcript, write

GOOD: list[Json] = [
    transcript("hi\x00 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")),
    transcript([{"type": "text", "text": "x"}], tool_calls=[{"id": "c"}], model="m"),
    transcript(None),
    tool_result("pip", {"x": 1}, {"pass": [1.5, 2.0, 2**64 - 1, -(2**63), None, "\x00"]}),
    write(),
    write(
        subject="item:grouse@2", predicate="passes", value=False, derived_from=["item:a@1", {"source": "ci", "id": "x"}]
    ),
    write(valid_from="2026-01-01T00:00:00Z", valid_to="2025-01-01T00:00:00Z", expires_at="2020-01-01T00:00:00Z"),
    write(subject="item:a@1", derived_from=["item:a@1", "item:a@1"], readers=["ana"], confidence=1),
    link(dependent="as_" + "0" * 32, premises=["key:ci-signing", {"source": "s", "id": "i"}], grade="possible"),
    osv(affected=[{"package": {"name": "x", "ecosystem": "Go"}}], aliases=["CVE-1"], withdrawn=None),
    put(revocation(subjects=["item:a", "pkg:pypi/x@1"]), "namespace", "*"),
    deletion({"evidence": {"source": "ci", "id": "e"}}, until=None),
    deletion({"source": "ci", "session_id": "s"}, until="2026-01-01T00:00:00Z"),
    deletion({"subject": "user:ana"}),
    decision("invalidate", target={"advisory": "GO-1"}),
    put(decision("restore", target={"evidence": {"source": "ci", "id": "e"}}), "namespace", "*"),
    policy(policy={"predicates": {"passes": {"verdict": True, "decay_days": 3}}}),
    put(transcript(), "traceparent", "00-1-2-01"),
    put(transcript(), "namespace", "acme/build"),
]


LOOKALIKES = st.text('":\\ \n,{}', max_size=4)
INDENTS = st.sampled_from([None, 1])


@pytest.mark.parametrize("fields", GOOD)
def test_every_form_gives_the_same_event_and_content(fields: Json) -> None:
    as_dict = read_event(fields)
    ascii_json, utf8 = json.dumps(fields, indent=1), json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    for raw in (ascii_json, ascii_json.encode(), utf8, utf8.encode(), as_dict.event):
        again = read_event(raw)
        assert again.event == as_dict.event
        assert again.content_hash == as_dict.content_hash


@pytest.mark.parametrize("fields", GOOD)
def test_what_came_is_kept_exactly(fields: Json) -> None:
    decoded = read_event(json.dumps(fields))
    assert decoded.fields == fields
    assert repr(decoded.event.model_dump(exclude_unset=True)["data"]) == repr(event_dict(decoded.event)["data"])


def test_nul_inside_content_is_kept() -> None:
    event = decode_event(tool_result(result="a\x00b"))
    assert isinstance(event, ToolResultEvent)
    assert event.data.result == "a\x00b"


def test_defaults_are_no_content() -> None:
    """Whether a field is left out or written as its default makes two contents: what was said is what counts."""
    assert read_event(write()).content_hash != read_event(write(scope="")).content_hash


def test_the_namespace_is_filled_in_only_where_none_is_named() -> None:
    bare = put(write(), "namespace", ...)
    assert read_event(bare, "acme").content_hash == read_event(write()).content_hash
    assert read_event(json.dumps(bare), "acme").event.namespace == "acme"
    assert read_event(write(), "beta").event.namespace == "acme"
    assert "namespace" not in bare
    assert event_dict(json.dumps(bare), "acme")["namespace"] == "acme"


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"x":{"a":1,"b":2,"a":3}}',
        '{"x":[{"a":1 , "\\u0061" : 2}]}',
        '{"x":"\\":\\":","a"\n:1,"a"\t:2}',
        '{"":1,"":2}',
    ],
)
def test_a_name_twice_in_one_object_is_refused(text: str) -> None:
    for read in (event_dict, read_event):
        with pytest.raises(BadEvent, match="twice in one object"):
            read(text)


@given(st.recursive(LOOKALIKES, lambda inner: st.lists(inner) | st.dictionaries(LOOKALIKES, inner)), INDENTS)
def test_texts_that_look_like_names_are_no_names(value: Any, indent: int | None) -> None:
    assert event_dict(json.dumps({"x": value}, indent=indent)) == {"x": value}


def test_arguments_are_read_once() -> None:
    event = decode_event(write())
    assert isinstance(event, ToolResultEvent)
    assert isinstance(event.data.built_in, MemoryWrite)
    assert event.data.built_in is event.data.built_in


def test_arguments_may_be_left_to_extraction() -> None:
    bad = write(subject="grouse")
    assert read_event(bad, arguments=False).event == decode_event(bad, arguments=False)
    with pytest.raises(BadEvent):
        decode_event(bad)


def test_only_the_built_in_tools_have_arguments_of_ours() -> None:
    other, failed = decode_event(tool_result()), decode_event(put(write(subject="x"), "data.is_error", True))
    linked = decode_event(link(dependent="item:a@1", premise="item:b@1"))
    assert isinstance(other, ToolResultEvent) and other.data.built_in is None
    assert isinstance(failed, ToolResultEvent) and failed.data.built_in is None
    assert isinstance(linked, ToolResultEvent) and isinstance(linked.data.built_in, MemoryLink)
