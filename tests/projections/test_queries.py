"""What the named reads answer, in examples."""

import pytest
from tether_projections.queries import Reader
from tether_schemas.answers import Cause, EvidenceId, Step
from tether_schemas.errors import BadNamespace, BadRequest
from tether_schemas.facts import FactRecord
from tether_schemas.refs import EvidenceRef, evidence_text

from tests.projections.views import View, view_of
from tests.records import (
    HOME,
    OTHER,
    PUBLIC,
    At,
    claim_of,
    decided,
    deleted,
    evidence,
    linked,
    message,
    osv,
    policy,
    says,
)

ME = Reader(HOME)
A1, B1, C1, D1 = "item:a@1", "item:b@1", "item:c@1", "item:d@1"
X1 = "pkg:pypi/x@1.0"


def passes(name: str, time: int, subject: str, *premises: str, value: bool = True) -> FactRecord:
    return says(At(name, time), subject, "passes", value, premises=premises)


def why(view: View, subject: str, predicate: str = "passes") -> tuple[Cause, ...]:
    return view.queries.why(ME, subject, predicate, "", view.now_us()).causes


def ci(name: str) -> EvidenceId:
    return EvidenceId("ci", name)


CHAIN = [passes("e1", 1, A1), passes("e2", 2, B1, A1), passes("e3", 3, C1, B1)]
FAILED = says(At("f1", 9, "lab"), A1, "passes", False)


def test_what_is_held_is_served_with_its_evidence() -> None:
    answer = view_of(CHAIN).recall(C1)
    assert (answer.value, answer.status, answer.assertion) == (True, "current", claim_of(CHAIN[2]))
    assert answer.evidence == (ci("e3"),)
    assert answer.reason == "current: nothing that it rests on has failed"


def test_the_reason_of_a_withdrawal_names_the_nearest_cause_and_how_far_it_is() -> None:
    view = view_of([*CHAIN, FAILED])
    assert view.recall(A1).value is False
    assert view.recall(C1).reason == "withdrawn: item:a@1 is bad: passes is false, says lab, 2 steps away; see why()"
    assert view.recall(B1).reason.endswith(", 1 step away; see why()")


def test_an_advisory_is_named_by_its_id_and_what_it_covers() -> None:
    issued = osv(At("adv", 9, "osv", PUBLIC), "PYSEC-1", "x", {"introduced": "0"})
    view = view_of([passes("e1", 1, X1), passes("e2", 2, B1, X1), issued])
    assert view.recall(X1).reason == f"withdrawn: PYSEC-1 covers {X1}; see why()"
    (cause,) = why(view, B1)
    assert cause.evidence == EvidenceId("osv", "adv", PUBLIC)
    assert cause.path == (Step(B1, ci("e2")), Step(X1, None))


def test_every_spelling_of_a_package_url_names_one_slot() -> None:
    said = says(At("e1", 1), "pkg:golang/github.com/Masterminds/semver@v2.0.0+incompatible", "passes", True)
    answer = view_of([said]).recall("pkg:golang/github.com/Masterminds/semver@v2.0.0%2Bincompatible")
    assert answer.status == "current"


@pytest.mark.parametrize(
    ("field", "subject", "predicate", "scope"),
    [("subject", "grouse", "passes", ""), ("predicate", A1, "", ""), ("scope", A1, "passes", "a\0b")],
)
def test_what_is_no_name_is_refused_by_its_field(field: str, subject: str, predicate: str, scope: str) -> None:
    with pytest.raises(BadRequest) as raised:
        view_of(CHAIN).recall(subject, predicate, scope=scope)
    assert raised.value.field == field


def test_a_read_without_a_namespace_is_an_error() -> None:
    with pytest.raises(BadNamespace):
        Reader("")


def test_an_unknown_slot_hints_at_what_is_on_record_close_to_it() -> None:
    view = view_of([*CHAIN, says(At("e4", 4), A1, "licence", "MIT", scope="east")])
    assert view.recall("item:zz@1").reason == "unknown: nothing is asserted of item:zz@1 passes"
    assert view.recall(A1, "note").reason.endswith("; asserted of this subject: licence (scope 'east'), passes")
    assert view.recall("item:a@2").reason.endswith("; on record are item:a@1")
    assert view.recall("item:a").reason.endswith("; on record are item:a@1")


def test_a_slot_of_another_namespace_is_unknown_and_gives_no_hint() -> None:
    """I-8: the wall of the namespace."""
    view = view_of([says(At("e1", 1, namespace=OTHER), A1, "passes", True), *CHAIN[1:]])
    assert view.recall(A1).reason == f"unknown: nothing is asserted of {A1} passes"


def test_many_values_are_listed_in_the_order_of_their_json() -> None:
    many = policy(At("p", 0), predicates={"tags": {"many": True}})
    said = [says(At(f"e{n}", n), A1, "tags", value) for n, value in enumerate(("red", 2, "blue"), 1)]
    answer = view_of([many, *said, deleted(At("d", 9), evidence(said[2]))]).recall(A1, "tags")
    assert (answer.value, answer.assertion) == (["red", 2], None)
    assert set(answer.evidence) == {ci("e1"), ci("e2")}


def test_alternatives_are_the_best_statement_of_each_other_value() -> None:
    said = [
        says(At("e1", 1, "a"), A1, "note", "red", authority="user-direct"),
        says(At("e2", 2, "b"), A1, "note", "blue"),
        says(At("e3", 3, "c"), A1, "note", "blue", authority="inferred"),
    ]
    answer = view_of(said).recall(A1, "note")
    assert answer.value == "red"
    assert [(one.value, one.stance, one.evidence.source) for one in answer.alternatives] == [("blue", "outranked", "c")]


def test_i9_each_cause_has_its_shortest_path_and_of_equal_ones_the_least_by_name() -> None:
    """I-9: every withdrawal names its cause and path."""
    records = [passes("e1", 1, D1, C1, B1), passes("e2", 2, C1, A1), passes("e3", 3, B1, A1), FAILED]
    (cause,) = why(view_of(records), D1)
    assert (cause.kind, cause.node, cause.distance) == ("failed", A1, 2)
    assert cause.evidence == EvidenceId("lab", "f1")
    assert cause.path == (Step(D1, ci("e1")), Step(B1, ci("e3")), Step(A1, None))


def test_of_several_that_state_one_derivation_the_least_evidence_is_named() -> None:
    records = [passes("e2", 1, B1, A1), linked(At("e1", 2), B1, [A1]), linked(At("z", 3, "a-source"), B1, [A1]), FAILED]
    (cause,) = why(view_of(records), B1)
    assert cause.path[0].evidence == EvidenceId("a-source", "z")


def test_a_failed_subject_is_no_step_away_from_what_rests_on_it() -> None:
    quotes = says(At("e1", 1), A1, "passes", True, premises=[("ci", "m1")])
    view = view_of([quotes, message(At("m1", 0)), says(At("e2", 2, "lab"), A1, "passes", False, scope="east")])
    (cause,) = why(view, A1)
    assert (cause.distance, cause.path) == (0, (Step(A1, None),))
    assert cause.detail == "passes is false in scope 'east', says lab"


def test_a_cause_in_content_names_the_statement_or_evidence_and_what_says_so() -> None:
    first = says(At("e1", 1), A1, "note", "red")
    rest = [says(At("e2", 2, "bot"), B1, "note", "x", premises=[first]), message(At("m", 2)),
            says(At("e3", 3, "bot"), C1, "note", "y", premises=[("ci", "m")])]  # fmt: skip
    later = says(At("e9", 9), A1, "note", "blue")
    view = view_of([first, *rest, later, decided(At("c", 10, "ops"), "invalidate", evidence(rest[1]))])
    (superseded,) = why(view, B1, "note")
    assert (superseded.kind, superseded.node) == ("superseded", claim_of(first))
    assert superseded.evidence == ci("e9")
    assert superseded.path[0] == Step(claim_of(rest[0]), EvidenceId("bot", "e2"))
    (invalidated,) = why(view, C1, "note")
    assert (invalidated.kind, invalidated.node) == ("invalidated", evidence_text("ci", "m"))
    assert (invalidated.detail, invalidated.evidence) == ("so (ana)", EvidenceId("ops", "c"))


def test_what_is_deleted_names_the_deletion_also_through_what_it_derives_from() -> None:
    first = says(At("e1", 1), A1, "note", "red")
    summary = says(At("e2", 2), B1, "note", "short", premises=[first])
    view = view_of([first, summary, deleted(At("d", 3, "ops"), evidence(first))])
    (cause,) = why(view, B1, "note")
    assert (cause.kind, cause.detail, cause.evidence) == ("tombstoned", "asked (ana)", EvidenceId("ops", "d"))
    assert cause.path == (Step(claim_of(summary), None),)


def test_possible_causes_are_marked_and_do_not_withdraw() -> None:
    records = [says(At("e1", 1), B1, "passes", True, possible=[A1]), FAILED]
    view = view_of(records)
    assert (view.recall(B1).value, view.recall(B1).coverage) == (True, "threatened")
    (cause,) = why(view, B1)
    assert cause.possible and cause.path == (Step(B1, ci("e1")), Step(A1, None))


def test_a_higher_version_is_named_by_a_verdict_that_puts_it_on_record() -> None:
    view = view_of([*CHAIN, passes("e9", 9, "item:a@2")])
    (cause,) = why(view, A1)
    assert (cause.kind, cause.detail, cause.evidence) == (
        "higher_version",
        "item:a@2 passes, which is above item:a@1",
        ci("e9"),
    )


def test_dependents_are_listed_near_to_far_with_their_paths() -> None:
    view = view_of([*CHAIN, says(At("e4", 4), B1, "licence", "MIT"), says(At("e5", 5), D1, "note", "x", premises=[C1])])
    found = view.queries.dependents(ME, A1)
    assert [(one.node, one.distance, one.down) for one in found][:2] == [(B1, 1, False), (C1, 2, False)]
    assert found[2].path == (found[2].node, C1, B1, A1)
    assert [one.path for one in view.queries.dependents(ME, "item:a", limit=1)] == [(B1, A1)]


def test_dependents_are_down_when_a_failure_reaches_them() -> None:
    rests = policy(At("p", 0), predicates={"licence": {"rests_on_subject": True}})
    licence = says(At("e4", 4), A1, "licence", "MIT")
    found = view_of([rests, *CHAIN, licence, FAILED]).queries.dependents(ME, A1)
    assert {(one.node, one.distance, one.down) for one in found} == {
        (B1, 1, True), (claim_of(licence), 1, True), (C1, 2, True)
    }  # fmt: skip


def test_dependents_of_an_assertion_and_of_evidence() -> None:
    first, chat = says(At("e1", 1), A1, "note", "red"), message(At("m", 1))
    told = says(At("e2", 2), B1, "note", "x", premises=[first, ("ci", "m")])
    view = view_of([first, chat, told])
    assert [one.node for one in view.queries.dependents(ME, claim_of(first))] == [claim_of(told)]
    assert [one.node for one in view.queries.dependents(ME, EvidenceRef(source="ci", id="m"))] == [claim_of(told)]
    assert not view.queries.dependents(ME, "item:never@1")


def test_a_limit_that_makes_no_sense_is_refused() -> None:
    view = view_of(CHAIN)
    for ask in (lambda: view.queries.dependents(ME, A1, limit=0), lambda: view.queries.changes(ME, 0, 10**9)):
        with pytest.raises(BadRequest) as raised:
            ask()
        assert raised.value.field == "limit"
