"""Extraction: what each kind of event becomes. The evidence is recorded whatever else fails."""

from typing import Any

import pytest
from tether_schemas.builtin import MemoryWrite
from tether_schemas.codec import decode_record, encode_record
from tether_schemas.facts import (
    AdvisoryIssued,
    Asserted,
    Decided,
    EvidenceDeleted,
    EvidenceRecorded,
    Fact,
    FactRecord,
    Linked,
    PolicyDeclared,
)
from tether_schemas.refs import Ref
from tether_schemas.targets import SubjectTarget
from tether_schemas.times import time_us
from tether_streams.core.extract import EXTRACTOR

from tests.raw import (
    TIME,
    Json,
    decision,
    deletion,
    extracted,
    link,
    osv,
    policy,
    put,
    revocation,
    tool_result,
    transcript,
    write,
)
from tests.schemas.test_codec import GOOD


def facts(fields: Json) -> tuple[Fact, ...]:
    """All facts but the first, of an event without faults."""
    record, faults = extracted(fields)
    assert faults == ()
    return record.facts[1:]


def only(fields: Json) -> Any:
    (fact,) = facts(fields)
    return fact


@pytest.mark.parametrize("fields", GOOD)
def test_the_evidence_comes_first_and_once(fields: Json) -> None:
    record, _ = extracted(fields)
    kinds = [fact for fact in record.facts if isinstance(fact, EvidenceRecorded)]
    assert kinds == [record.facts[0]]


@pytest.mark.parametrize("fields", GOOD)
def test_a_record_is_as_valid_as_if_it_had_been_checked(fields: Json) -> None:
    record, _ = extracted(fields)
    assert FactRecord.model_validate(record.model_dump()) == record
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize("fields", GOOD)
def test_extracting_twice_gives_the_same(fields: Json) -> None:
    assert encode_record(extracted(fields)[0]) == encode_record(extracted(fields)[0])


def test_a_record_says_where_its_event_stands_and_what_made_it() -> None:
    record, _ = extracted(write())
    assert (record.namespace, record.source, record.id, record.event_type) == (
        "acme",
        "ci",
        "e-1",
        "tether.tool_result.v1",
    )
    assert (record.time, record.time_us) == (TIME, time_us(TIME))
    assert record.rank == (1_000, "raw.tool-results", 0, 7)
    assert (len(record.content_hash), record.extractor, record.rules) == (64, EXTRACTOR, None)


def test_evidence_says_of_which_session_and_tool_it_is() -> None:
    message, result = extracted(transcript())[0].facts[0], extracted(tool_result("pip"))[0].facts[0]
    assert message == EvidenceRecorded(kind="transcript", session_id="s-1", seq=1, role="user")
    assert result == EvidenceRecorded(kind="tool_result", tool="pip", is_error=False)


def test_a_message_asserts_nothing_yet() -> None:
    assert facts(transcript("drinks tea")) == ()


def test_a_write_asserts_what_it_says() -> None:
    fact = only(write(scope="work", confidence=0.5, readers=["ana"], premises_complete=True, original_text="tea!"))
    assert fact == Asserted(
        assertion_id=fact.assertion_id,
        place=0,
        subject="user:ana",
        predicate="drinks",
        value="tea",
        scope="work",
        issuer="ci",
        observed_at=TIME,
        confidence=0.5,
        readers=("ana",),
        premises_complete=True,
        original_text="tea!",
    )


def test_the_issuer_is_as_given_else_the_source() -> None:
    assert only(write(issuer="ana")).issuer == "ana"
    assert only(write(issuer=None)).issuer == "ci"


def test_the_observation_is_as_given_else_the_time_of_the_event() -> None:
    assert only(write(observed_at="2020-01-01T00:00:00Z")).observed_at == "2020-01-01T00:00:00Z"
    assert only(write()).observed_at == TIME


def test_premises_are_references_in_one_spelling_each_once() -> None:
    refs = ["pkg:golang/x/y@v2.0.0%2Bincompatible", {"source": "ci", "id": "e"}, "as_" + "0" * 32]
    fact = only(write(derived_from=[*refs, "pkg:golang/x/y@v2.0.0+incompatible", "key:ci"]))
    assert fact.premises == (
        Ref(kind="object", text="pkg:golang/x/y@v2.0.0+incompatible"),
        Ref(kind="evidence", text="e", source="ci"),
        Ref(kind="assertion", text="as_" + "0" * 32),
        Ref(kind="object", text="key:ci"),
    )


def test_an_assertion_has_every_field_of_a_write() -> None:
    own = {"type", "assertion_id", "place", "premises", "possible", "value_key"}
    assert set(Asserted.model_fields) - own == set(MemoryWrite.model_fields) - {"derived_from"}


def test_a_link_links() -> None:
    fact = only(link(dependent="item:a@2", premises=["item:b@1", "item:b@1"], grade="possible"))
    premise = Ref(kind="object", text="item:b@1")
    assert fact == Linked(
        link_id=fact.link_id,
        place=0,
        dependent=Ref(kind="object", text="item:a@2"),
        premises=(premise,),
        grade="possible",
    )


def test_a_failed_call_asserts_nothing() -> None:
    assert facts(put(write(), "data.is_error", True)) == ()


def test_bad_arguments_are_a_fault_and_the_evidence_stays() -> None:
    record, faults = extracted(write(subject="ana"), arguments=False)
    assert [type(fact) for fact in record.facts] == [EvidenceRecorded]
    assert [fault.reason.startswith("data.arguments.subject: ") for fault in faults] == [True]


def test_an_osv_advisory_keeps_what_says_which_versions_are_covered() -> None:
    entry = {
        "package": {"name": "x", "ecosystem": "Go"},
        "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}],
        "versions": ["1.0"],
        "ecosystem_specific": {"imports": [{"path": "x"}], "custom_ranges": [{"type": "ECOSYSTEM"}]},
        "severity": [],
    }
    fact = only(
        osv(affected=[entry, {"package": {}}], aliases=["CVE-1"], summary="bad", details="long", withdrawn=None)
    )
    assert fact == AdvisoryIssued(
        advisory_id="GO-2026-0001",
        format="osv",
        modified="2026-01-30T00:00:00Z",
        aliases=("CVE-1",),
        summary="bad",
        affected=(
            {
                "package": {"name": "x", "ecosystem": "Go"},
                "ranges": entry["ranges"],
                "versions": ["1.0"],
                "ecosystem_specific": {"custom_ranges": [{"type": "ECOSYSTEM"}]},
            },
            {"package": {}},
        ),
    )


@pytest.mark.parametrize("absent", [{}, {"affected": None, "aliases": None, "summary": 5}])
def test_an_osv_advisory_may_lack_what_is_optional(absent: Json) -> None:
    assert only(osv(**absent)) == AdvisoryIssued(
        advisory_id="GO-2026-0001", format="osv", modified="2026-01-30T00:00:00Z"
    )


def test_a_revocation_names_its_subjects_in_one_spelling() -> None:
    fact = only(revocation(subjects=["item:a", "pkg:PyPI/Zope.Interface@1", "pkg:pypi/zope-interface@1"]))
    assert (fact.subjects, fact.summary) == (("item:a", "pkg:pypi/zope-interface@1"), "leaked")


@pytest.mark.parametrize(
    ("until", "until_us"),
    [({}, time_us(TIME)), ({"until": None}, None), ({"until": "1970-01-01T00:00:01Z"}, 1_000_000)],
)
def test_a_deletion_covers_up_to_its_own_time_or_as_it_says(until: Json, until_us: int | None) -> None:
    fact = only(deletion({"source": "ci"}, **until))
    assert isinstance(fact, EvidenceDeleted)
    assert fact.until_us == until_us


def test_a_deletion_of_a_subject_names_it_in_one_spelling() -> None:
    assert only(deletion({"subject": "pkg:PyPI/A_b"})).target == SubjectTarget(subject="pkg:pypi/a-b")


def test_decisions_are_facts() -> None:
    decided, declared = only(decision("invalidate", target={"source": "x"})), only(policy(policy={}))
    assert isinstance(decided, Decided) and isinstance(declared, PolicyDeclared)
    assert (decided.action, decided.reason, decided.decided_by) == ("invalidate", "wrong", "ana")
    assert declared.policy is not None and declared.rules is None


def test_rules_are_kept_as_the_document_that_they_came_as() -> None:
    document = {"version": 1, "rules": [{"name": "a", "tool": "b", "link": {"dependent": "x", "premises": ["y"]}}]}
    assert only(policy(rules=document)).rules == document
