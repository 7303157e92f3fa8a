"""Ghosts as they travel: what comes back is what went out, and nothing gets in that extraction would not make."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tether_schemas.errors import BadEvent
from tether_schemas.facts import FactRecord
from tether_schemas.ghosts import encode_ghost, read_ghost, stored_ghost
from tether_streams.core.ghosts import ghost_of

from tests import raw
from tests.raw import Json, extracted

KEY = "0" * 32
EVENTS = (
    raw.write(
        value="secret", original_text="secret", write_reason="secret", memory_type="secret", derived_from=["key:k"]
    ),
    raw.link(dependent="item:a@1", premises=["item:b@1", {"source": "ci", "id": "e"}], grade="possible"),
    raw.tool_result("shell", {"say": "secret"}, "secret"),
    raw.transcript("secret", model="secret"),
    raw.osv(
        summary="secret",
        details="secret",
        aliases=["secret"],
        affected=[
            {
                "package": {"ecosystem": "PyPI", "name": "x", "note": "secret"},
                "versions": ["1.0", {"note": "secret"}],
                "ranges": [{"type": "SEMVER", "events": [{"introduced": "0", "note": "secret"}], "repo": "secret"}],
                "ecosystem_specific": {"custom_ranges": "secret"},
            }
        ],
    ),
    raw.revocation(reason="secret"),
    raw.deletion({"source": "ci"}, reason="secret", requested_by="secret", until=None),
    raw.decision("invalidate", target={"source": "ci"}, reason="secret", decided_by="secret"),
    raw.policy(policy={"predicates": {"tags": {"many": True}}}) | {"subject": "secret", "note": "secret"},
    raw.policy(rules={"version": 1, "rules": []}),
)


def ghost_line(event: Json) -> Json:
    """The ghost of an event all of which is erased."""
    return orjson.loads(encode_ghost(ghost_of(record_of(event), keys(record_of(event)), True)))


def record_of(event: Json) -> FactRecord:
    record, faults = extracted(event)
    assert faults == ()
    return record


def keys(record: FactRecord) -> dict[str, str]:
    return {fact.assertion_id: KEY for fact in record.facts if fact.type == "Asserted"}


@pytest.mark.parametrize("event", EVENTS)
def test_i5_a_ghost_says_nothing_of_its_content(event: Json) -> None:
    assert b"secret" not in orjson.dumps(ghost_line(event))


@pytest.mark.parametrize("event", EVENTS)
def test_a_ghost_comes_back_as_it_went(event: Json) -> None:
    line = orjson.dumps(ghost_line(event))
    ghost = read_ghost(line)
    assert read_ghost(encode_ghost(ghost)) == ghost
    assert ghost == stored_ghost(line)


def test_what_is_not_erased_keeps_its_value_and_no_text_that_may_quote_what_is() -> None:
    record = record_of(raw.write(value="tea", original_text="secret", write_reason="secret"))
    line = encode_ghost(ghost_of(record, {}, False))
    assert b'"value":"tea"' in line and b"secret" not in line


def test_an_extension_attribute_called_ghost_makes_no_ghost() -> None:
    assert stored_ghost(orjson.dumps(raw.transcript() | {"ghost": "x"})) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("type", "tether.transcript.v1"),
        ("type", "tether.unknown.v1"),
        ("namespace", "*"),
        ("namespace", "a b"),
        ("time", "yesterday"),
        ("id", ""),
        ("extra", 1),
        ("ghost.v", 2),
        ("ghost.facts", []),
        ("ghost.facts.0", {"type": "Mentioned", "place": 0, "name": "x", "span": [0, 1]}),
        ("ghost.facts.0.seq", 2**63),
        ("ghost.facts.1.value", "content"),
        ("ghost.facts.1.value_key", "tea"),
        ("ghost.facts.1.subject", "nothing"),
        ("ghost.facts.1.predicate", "passes"),
        ("ghost.facts.1.observed_at", "never"),
        ("ghost.facts.1.expires_at", "never"),
        ("ghost.facts.1.place", 2**40),
        ("ghost.facts.1.assertion_id", "as_1"),
        ("ghost.facts.1.issuer", ""),
        ("ghost.facts.1.confidence", 7),
        ("ghost.facts.1.authority", "god"),
        ("ghost.facts.1.premises", [{"kind": "object", "text": "item:a"}]),
        ("ghost.facts.1.premises", [{"kind": "assertion", "text": "item:a@1"}]),
        ("ghost.facts.1.type", "EvidenceDeleted"),
    ],
)
def test_i11_what_extraction_never_makes_is_refused(path: str, value: Any) -> None:
    """What got in unchecked would stop the view."""
    ghost = ghost_line(EVENTS[0])
    assert read_ghost(ghost)
    at: Any = ghost
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        at = at[step]
    at[last] = value
    with pytest.raises(BadEvent):
        read_ghost(ghost)


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        (1, "link_id", "ln_"),
        (1, "dependent", {"kind": "object", "text": "x"}),
        (1, "premises", []),
        (4, "modified", "then"),
        (4, "affected", [{"package": 1}, 2]),
        (4, "advisory_id", ""),
        (5, "subjects", []),
        (5, "subjects", ["x"]),
        (6, "until_us", 2**70),
        (6, "target", {"subject": "x"}),
        (7, "target", {"evidence": {"source": ""}}),
        (7, "action", "approve"),
        (8, "policy", None),
        (8, "policy", {"schemes": 1}),
        (9, "rules", {"version": 1}),
    ],
)
def test_i11_so_it_is_of_every_kind(event: int, field: str, value: Any) -> None:
    ghost = ghost_line(EVENTS[event])
    ghost["ghost"]["facts"][1][field] = value
    with pytest.raises(BadEvent):
        read_ghost(ghost)


NAMES = st.sampled_from(["facts", "v", "type", "value", "extractor"]) | st.text()
VALUES = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_whatever_a_ghost_holds_is_read_or_refused(value: Any) -> None:
    for path in ("ghost", "facts", "fact"):
        ghost = ghost_line(EVENTS[0])
        if path == "ghost":
            ghost["ghost"] = value
        elif path == "facts":
            ghost["ghost"]["facts"] = value
        else:
            ghost["ghost"]["facts"][1] = value
        with pytest.raises(BadEvent):
            read_ghost(ghost)
