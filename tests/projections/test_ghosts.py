"""What is deleted goes on counting, and what it said is shown by no answer."""

from tether_projections.queries import Queries, Reader
from tether_schemas.answers import to_json

from tests.projections.driven import Driven
from tests.projections.test_rebuild_in_place import engine_of
from tests.records import At, claim, claim_of, decided, deleted, evidence, linked, passes, revoked, said, says

LIB, APP = "item:lib@1", "item:app@1"


def test_i5_a_deleted_failure_still_withdraws_and_is_told_without_what_it_said() -> None:
    engine = engine_of(
        [
            passes(At("e1", 1), APP, True, LIB),
            passes(At("e2", 2, "audit"), LIB, False),
            deleted(At("d", 3), {"source": "audit"}),
        ]
    )
    why = Queries(engine.store, engine).why(Reader("acme"), APP, "passes", "", now_us=9)
    assert why.answer.status == "withdrawn"
    assert [(one.kind, one.node) for one in why.causes] == [("failed", LIB)]
    assert b"passes is false" not in to_json(why)


def test_i5_a_deleted_advisory_still_covers_and_its_summary_is_not_shown() -> None:
    engine = engine_of(
        [
            passes(At("e1", 1), APP, True, LIB),
            revoked(At("a", 2, "house"), "KEY-1", LIB),
            deleted(At("d", 3), {"source": "house"}),
        ]
    )
    why = Queries(engine.store, engine).why(Reader("acme"), APP, "passes", "", now_us=9)
    assert why.answer.status == "withdrawn"
    assert why.causes[0].detail == "KEY-1: by what has been deleted since"


def test_i5_a_deleted_pass_of_a_higher_version_still_retires_and_is_told_without_what_it_said() -> None:
    engine = engine_of(
        [
            passes(At("e1", 1), "item:lib@1", True),
            passes(At("e2", 2, "audit"), "item:lib@2", True),
            deleted(At("d", 3), {"source": "audit"}),
        ]
    )
    why = Queries(engine.store, engine).why(Reader("acme"), "item:lib@1", "passes", "", now_us=9)
    assert why.answer.status == "withdrawn"
    assert [one.detail for one in why.causes] == ["item:lib@2 is above item:lib@1, by what has been deleted since"]
    assert b"item:lib@2 passes" not in to_json(why)


def test_i5_a_payload_is_not_shown_once_one_of_its_assertions_is_erased() -> None:
    """Erased through a premise: the event says both, so its text would say what is gone."""
    chat = says(At("chat", 1, "log"), "user:u", "note", "x")
    both = said(At("both", 2), claim("user:u", "summary", "y", premises=[claim_of(chat)]), claim("user:v", "note", "z"))
    engine = engine_of([chat, both, deleted(At("d", 3), {"source": "log"})])
    view = Queries(engine.store, engine).get(Reader("acme"), "ci", "both")
    assert view is not None and not view.tombstoned and not view.payload_visible


def test_i5_evidence_all_of_whose_statements_are_erased_stays_bad_when_an_invalidation_of_it_is_taken_back() -> None:
    target = {"evidence": {"source": "ci", "id": "e1"}}
    driven = Driven()
    for record in [
        says(At("e1", 1), "user:ana", "city", "Lisbon"),
        decided(At("d1", 2), "invalidate", target),
        deleted(At("d2", 3), {"subject": "user:ana"}),
        decided(At("d3", 4), "restore", target),
    ]:
        driven.apply([record])
        assert driven.faults() == []


def test_i5_a_claim_that_was_erased_before_it_came_leaves_no_content() -> None:
    root = says(At("e1", 1, "bot"), "user:u", "note", "root")
    late = says(At("e2", 2, "hub"), "user:v", "note", "blue", original_text="blue, said hub", write_reason="asked")
    driven = Driven()
    for one in (deleted(At("d1", 9), evidence(root)), linked(At("l1", 3), late, [("bot", "e1")]), root, late):
        driven.apply([one])
    assert driven.faults() == []
    query = "SELECT value, original_text, write_reason FROM assertion WHERE id = 'e2'"
    assert driven.store.rows(query) == [(None, None, None)]
