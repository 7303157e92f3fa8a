"""Fact records: what is encoded is decoded to the same, and keeps what says how to read it."""

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.codec import decode_record, encode_record
from tether_schemas.errors import UnknownVersion
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    FactRecord,
    Linked,
    Mentioned,
    PolicyDeclared,
)
from tether_schemas.policy import AUTHORITY_RANK, MODE_RANK, Policy, PredicatePolicy, SchemePolicy, SourcePolicy
from tether_schemas.refs import EvidenceRef, Ref
from tether_schemas.targets import (
    AdvisoryTarget,
    AssertionTarget,
    EvidenceTarget,
    SessionTarget,
    SourceTarget,
    SubjectTarget,
)

from tests.schemas.test_canonical import VALUES

TEXT = st.text(max_size=8)
NAME = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
MAYBE = st.none() | TEXT
SMALL = st.integers(0, 2**63 - 1)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
GRADE = st.sampled_from(["stated", "possible"])
AUTHORITY = st.sampled_from(list(AUTHORITY_RANK))
REFS = st.builds(Ref, kind=st.sampled_from(["object", "assertion", "evidence"]), text=TEXT, source=TEXT)
MANY_REFS = st.lists(REFS, max_size=3).map(tuple)
EVIDENCE = st.builds(EvidenceTarget, evidence=st.builds(EvidenceRef, source=NAME, id=NAME))
SOURCE = st.builds(SourceTarget, source=NAME)
ASSERTION = st.builds(AssertionTarget, assertion=st.just("ln_" + "0" * 32))
POLICY = st.builds(
    Policy,
    predicates=st.dictionaries(TEXT, st.builds(PredicatePolicy), max_size=2),
    schemes=st.dictionaries(TEXT, st.builds(SchemePolicy), max_size=2),
    sources=st.dictionaries(TEXT, st.builds(SourcePolicy), max_size=2),
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(TEXT, VALUES, max_size=2)

FACTS: st.SearchStrategy[Fact] = st.one_of(
    st.builds(
        EvidenceRecorded,
        kind=st.sampled_from(["transcript", "decision"]),
        session_id=MAYBE,
        seq=st.none() | SMALL,
        role=MAYBE,
        tool=MAYBE,
        call_id=MAYBE,
        is_error=st.none() | st.booleans(),
    ),
    st.builds(
        Asserted,
        assertion_id=TEXT,
        place=SMALL,
        subject=TEXT,
        predicate=TEXT,
        value=VALUES,
        scope=TEXT,
        issuer=TEXT,
        memory_type=MAYBE,
        mode=st.sampled_from(list(MODE_RANK)),
        valid_from=MAYBE,
        valid_to=MAYBE,
        observed_at=TEXT,
        expires_at=MAYBE,
        review_at=MAYBE,
        authority=AUTHORITY,
        confidence=st.none() | st.floats(0, 1),
        sensitivity=MAYBE,
        readers=st.none() | TEXTS,
        premises=MANY_REFS,
        possible=MANY_REFS,
        premises_complete=st.booleans(),
        original_text=MAYBE,
        write_reason=MAYBE,
    ),
    st.builds(Linked, link_id=TEXT, place=SMALL, dependent=REFS, premises=MANY_REFS, grade=GRADE),
    st.builds(Mentioned, place=SMALL, name=TEXT, session_id=MAYBE, order=SMALL, span=st.tuples(SMALL, SMALL)),
    st.builds(
        AdvisoryIssued,
        advisory_id=TEXT,
        format=st.sampled_from(["osv", "revocation"]),
        modified=TEXT,
        withdrawn=MAYBE,
        aliases=TEXTS,
        summary=MAYBE,
        affected=st.lists(OBJECTS, max_size=2).map(tuple),
        subjects=TEXTS,
    ),
    st.builds(
        EvidenceDeleted,
        target=EVIDENCE
        | SOURCE
        | st.builds(SessionTarget, source=NAME, session_id=NAME)
        | st.builds(SubjectTarget, subject=st.just("item:a@1")),
        until_us=st.none() | SMALL,
        reason=TEXT,
        requested_by=TEXT,
    ),
    st.builds(
        Decided,
        action=st.sampled_from(["invalidate", "restore"]),
        reason=TEXT,
        decided_by=TEXT,
        target=EVIDENCE | SOURCE | ASSERTION | st.builds(AdvisoryTarget, advisory=NAME),
    ),
    st.builds(PolicyDeclared, policy=st.none() | POLICY, rules=st.none() | OBJECTS, decided_by=TEXT),
)
RECORDS = st.builds(
    FactRecord,
    namespace=TEXT,
    source=TEXT,
    id=TEXT,
    event_type=TEXT,
    time=TEXT,
    time_us=st.integers(-(2**62), 2**62),
    recorded_us=SMALL,
    topic=TEXT,
    partition=SMALL,
    offset=SMALL,
    content_hash=TEXT,
    extractor=TEXT,
    rules=MAYBE,
    facts=st.lists(FACTS, max_size=4).map(tuple),
)


def plain_record(*facts: Fact) -> FactRecord:
    return FactRecord(
        namespace="acme",
        source="ci",
        id="e",
        event_type="t",
        time="2026-01-31T12:00:00Z",
        time_us=1,
        recorded_us=2,
        topic="raw.tool-results",
        partition=0,
        offset=3,
        content_hash="0",
        extractor="1",
        facts=facts,
    )


@settings(max_examples=400)
@given(RECORDS)
def test_every_record_round_trips_exactly(record: FactRecord) -> None:
    again = decode_record(encode_record(record))
    assert again == record
    assert repr(again.facts) == repr(record.facts)  # 1 is not 1.0, nor True
    assert encode_record(again) == encode_record(record)


@given(FACTS)
def test_defaults_are_left_out_and_tags_are_kept(fact: Fact) -> None:
    written = orjson.loads(encode_record(plain_record(fact)))
    assert written["v"] == 1
    assert written["facts"][0]["type"] == type(fact).__name__
    optional = {name: field for name, field in type(fact).model_fields.items() if not field.is_required()}
    del optional["type"], written["facts"][0]["type"]
    assert not [name for name in optional.keys() & written["facts"][0] if getattr(fact, name) == optional[name].default]


def test_a_record_of_a_newer_tether_says_so() -> None:
    newer = orjson.dumps({**orjson.loads(encode_record(plain_record())), "v": 2, "facts": [{"type": "Guessed"}]})
    with pytest.raises(UnknownVersion, match="facts version 2"):
        decode_record(newer)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"v":1}', b'{"v":"x"}', b"\xff"])
def test_a_damaged_record_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_record(data)
