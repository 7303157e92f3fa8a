"""What a deletion covers is what appending it erases, for a reader that sees everything; others learn no name."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from tether_projections.queries import Reader
from tether_schemas.answers import Covered
from tether_schemas.targets import DeletionTarget

from tests.histories import histories
from tests.projections.views import ANA, View, view_of
from tests.records import HOME, OTHER, At, claim_of, deleted, message, says

TARGET: TypeAdapter[DeletionTarget] = TypeAdapter(DeletionTarget)
OPERATOR = Reader(HOME, operator=True)
END = 10_000
SEEDS = range(8)


def covered(view: View, target: dict[str, Any], until_us: int | None = None, reader: Reader = OPERATOR) -> Covered:
    return view.queries.covered(reader, TARGET.validate_python(target), until_us)


def targets(view: View) -> list[dict[str, Any]]:
    """Some of what may be deleted in a view, by every form."""
    rows = view.store.rows("SELECT source, id, session_id FROM evidence WHERE namespace = ? ORDER BY ev", [HOME])
    subjects = view.store.rows("SELECT DISTINCT subject FROM memory WHERE namespace = ? ORDER BY 1", [HOME])
    found: list[dict[str, Any]] = [{"evidence": {"source": row[0], "id": row[1]}} for row in rows[::5]]
    found += [{"source": source} for source in sorted({row[0] for row in rows})[:2]]
    found += [{"source": source, "session_id": session} for source, _, session in rows if session is not None][:2]
    return found + [{"subject": text} for row in subjects[:3] for text in {row[0], row[0].partition("@")[0]}]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_covered_is_what_the_deletion_erases(seed: int) -> None:
    records = histories(seed, 20)
    for target in targets(view_of(records)):
        before = view_of(records)
        said, erased = covered(before, target), before.queries.status(HOME).erased
        after = view_of([*records, deleted(At("the-deletion", END, "deleter"), target, None)])
        assert after.queries.status(HOME).erased - erased == said.statements - said.erased, target
        assert covered(after, target).erased == said.statements, target


def test_a_time_bounds_what_is_covered() -> None:
    view = view_of([says(At("e1", 1), "user:u", "note", "x"), says(At("e2", 5), "user:u", "note", "y")])
    assert [covered(view, {"subject": "user:u"}, until).statements for until in (0, 1, 5, None)] == [0, 1, 2, 2]
    assert covered(view, {"subject": "user:u"}, 0).reason.startswith("nothing on record up to that time matches user:u")


def test_what_derives_from_evidence_that_never_came_is_covered() -> None:
    note = claim_of(says(At("e9", 9), "user:u", "note", "x"))
    view = view_of([says(At("e1", 1), "user:u", "sum", "y", premises=[("chat", "m1"), note])])
    found = covered(view, {"evidence": {"source": "chat", "id": "m1"}})
    assert (found.events, found.statements) == (0, 1)


@pytest.mark.parametrize(
    ("target", "named", "near"),
    [
        ({"subject": "item:grose"}, "item:grose", "item:grouse@1, item:grouse@2"),
        ({"subject": "item:grouse@7"}, "item:grouse@7", "item:grouse@1, item:grouse@2"),
        ({"source": "chta"}, "source chta", "chat"),
        ({"source": "chat", "session_id": "x"}, "session x of source chat", ""),
        ({"source": "chta", "session_id": "x"}, "session x of source chta", "source chat"),
        ({"evidence": {"source": "chat", "id": "note-2"}}, "evidence chat note-2", "chat note-1"),
        ({"source": "nothing like it"}, "source nothing like it", ""),
    ],
)
def test_what_matches_nothing_is_told_with_the_nearest_names(target: dict[str, Any], named: str, near: str) -> None:
    records = [says(At(f"e{n}", n), f"item:grouse@{n}", "note", "x") for n in (1, 2)]
    away = says(At("e9", 9, "chatt", OTHER), "item:grouse@9", "note", "x")
    view = view_of([*records, message(At("note-1", 3, "chat")), away])
    listed = f"; on record are {near}" if near else ""
    assert covered(view, target) == Covered(0, 0, 0, f"nothing on record matches {named}{listed}")


def test_i8_what_a_reader_may_not_see_is_neither_counted_nor_named() -> None:
    secret = says(At("e1", 1, "hr"), "user:ana", "salary", 7, readers=[ANA])
    view = view_of([secret, says(At("e2", 2, "chat"), "user:anna", "city", "Rome")])
    for target in ({"subject": "user:ana"}, {"source": "hr"}, {"evidence": {"source": "hr", "id": "e1"}}):
        assert covered(view, target).statements == 1
        assert covered(view, target, reader=Reader(HOME, ANA)).statements == 1
        hidden = covered(view, target, reader=Reader(HOME))
        assert (hidden.events, hidden.statements, "hr are" in hidden.reason) == (0, 0, False)
        assert hidden.reason.startswith("nothing that this memory may see matches ")
    assert "user:ana," not in covered(view, {"subject": "user:an"}, reader=Reader(HOME)).reason
