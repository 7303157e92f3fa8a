"""History, changes, evidence and counts, in examples."""

import pytest
from tether_projections.queries import Reader
from tether_schemas.answers import EvidenceId
from tether_schemas.errors import BadNamespace

from tests.projections.views import view_of
from tests.records import HOME, OTHER, PUBLIC, At, claim, claim_of, deleted, evidence, linked, osv, revoked, said, says

ME = Reader(HOME)
A1, B1, C1 = "item:a@1", "item:b@1", "item:c@1"


def test_history_lists_every_statement_in_statement_order_with_its_status() -> None:
    first = says(At("e1", 1), A1, "note", "red", authority="user-direct", premises=[B1], possible=[C1])
    other = says(At("e2", 2, "hub"), A1, "note", "gone", mode="inferred")
    later = says(At("e3", 3), A1, "note", "blue", authority="user-direct", valid_from=2, expires_at=90)
    more = [
        linked(At("l", 4), first, [C1]),
        deleted(At("d", 5), evidence(other)),
        says(At("f", 6), B1, "passes", False),
    ]
    found = view_of([later, first, other, *more]).queries.history(ME, A1, "note", "")
    assert [one.assertion for one in found] == [claim_of(first), claim_of(other), claim_of(later)]
    assert [(one.value, one.stance, one.erased, one.withdrawn) for one in found] == [
        ("red", "superseded", False, True), (None, "outranked", True, False), ("blue", "standing", False, False)
    ]  # fmt: skip
    assert (found[0].premises, found[0].authority, found[1].mode) == ((B1, C1), "user-direct", "inferred")
    assert (found[2].observed_at, found[2].valid_from) == ("1970-01-01T00:00:00.000003Z", "1970-01-01T00:00:00.000002Z")
    assert found[2].evidence == EvidenceId("ci", "e3")


def test_a_false_verdict_that_holds_is_not_withdrawn_by_itself() -> None:
    (one,) = view_of([says(At("e1", 1), A1, "passes", False)]).queries.history(ME, A1, "passes", "")
    assert (one.value, one.withdrawn) == (False, False)


def test_changes_name_what_is_served_otherwise_and_the_cause() -> None:
    records = [says(At("e1", 1), B1, "passes", True, premises=[A1]), revoked(At("r", 2, "osv", PUBLIC), "R-1", A1)]
    view = view_of(records[:1])
    view.engine.apply(records[1:], 2)
    view.engine.apply([revoked(At("r2", 3, "osv", PUBLIC), "R-1", A1, withdrawn=True)], 3)
    found = view.queries.changes(ME, 0, 10)
    assert [(one.kind, one.status, one.subject, one.cause) for one in found] == [
        ("asserted", "current", B1, None),
        ("withdrawn", "withdrawn", B1, f"R-1 covers {A1}"),
        ("restored", "current", B1, None),
    ]
    assert {one.assertion for one in found} == {claim_of(records[0])}
    assert view.queries.changes(ME, found[1].seq, 10) == found[2:]
    assert view.queries.changes(ME, 0, 1) == found[:1]
    assert not view.queries.changes(Reader(OTHER), 0, 10)
    assert view.queries.changes(None, 0, 10) == found


def test_evidence_says_what_is_recorded_of_it() -> None:
    one = says(At("e1", 1, session="s"), A1, "note", "red")
    view = view_of([one, osv(At("a", 2, "osv", PUBLIC), "ADV", "x", {"introduced": "0"})])
    found = view.queries.get(ME, "ci", "e1")
    assert found is not None and found.payload_visible
    assert (found.kind, found.session_id, found.assertions) == ("tool_result", "s", (claim_of(one),))
    public = view.queries.get(ME, "osv", "a", PUBLIC)
    assert public is not None and public.namespace == PUBLIC
    assert view.queries.get(ME, "osv", "a") is None
    assert view.queries.get(Reader(OTHER), "ci", "e1") is None
    with pytest.raises(BadNamespace):
        view.queries.get(ME, "ci", "e1", OTHER)


def test_evidence_that_is_deleted_shows_no_payload() -> None:
    """I-5: by its own deletion, by that of a subject it speaks of, or with all that it says."""
    gone, about = says(At("e1", 1), A1, "note", "red"), said(At("e2", 2), claim(B1, "note", 1), claim(C1, "note", 2))
    told = says(At("e3", 3), C1, "note", "x", premises=[gone])
    deletions = [deleted(At("d1", 8), evidence(gone)), deleted(At("d2", 9), {"subject": B1})]
    queries = view_of([gone, about, told, *deletions]).queries
    found = [queries.get(ME, "ci", name) for name in ("e1", "e2", "e3", "d1")]
    shown = [one is not None and (one.tombstoned, one.payload_erased, one.payload_visible) for one in found]
    assert shown == [(True, False, False), (False, True, False), (True, False, False), (False, False, True)]


def test_counts_are_of_the_namespace_or_of_everything() -> None:
    records = [says(At("e1", 1), B1, "passes", True, premises=[A1]), says(At("e2", 2), A1, "passes", False)]
    strange = says(At("e4", 4), "pkg:pypi/x@odd", "passes", True)
    public = osv(At("a", 3, "osv", PUBLIC), "ADV", "x", {"introduced": "0"}, {"fixed": "2"})
    away = says(At("e1", 1, namespace=OTHER), A1, "note", "x")
    view = view_of([*records, strange, public, away])
    mine, whole = view.queries.status(HOME), view.queries.status(None)
    assert (mine.events, mine.assertions, mine.slots, mine.edges, mine.advisories) == (3, 3, 3, 1, 1)
    assert (mine.down, len(mine.unresolved)) == (2, 1)
    assert mine.unresolved[0].startswith("ADV: pkg:pypi/x@odd: ")
    assert (whole.events, whole.assertions, whole.slots, whole.down) == (5, 4, 4, 2)
    assert not view.queries.status(OTHER).unresolved
