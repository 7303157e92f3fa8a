"""A policy that changes makes the view anew from history; what was told of changes stays true."""

from collections.abc import Sequence

from tether_projections.engine import Engine
from tether_projections.queries import Queries, Reader
from tether_projections.store import ViewStore
from tether_schemas.facts import FactRecord

from tests.records import At, deleted, policy, says

NOTE = "item:a@1"


def engine_of(records: Sequence[FactRecord]) -> Engine:
    done: list[FactRecord] = []
    engine = Engine(ViewStore(":memory:"), lambda _: [list(done)])
    for position, record in enumerate(records, start=1):
        done.append(record)
        engine.apply([record], position)
    return engine


def _told(engine: Engine) -> list[tuple[str, str, str]]:
    changes = Queries(engine.store, engine).changes(Reader("acme"), 0, 100)
    return [(one.kind, one.subject, one.predicate) for one in changes]


def test_changes_told_before_a_policy_keep_their_names_and_nothing_is_told_again() -> None:
    engine = engine_of(
        [
            says(At("e1", 1), "item:b@1", "note", "x"),
            says(At("e2", 2), NOTE, "note", "y"),
            policy(At("p", 3), predicates={"other": {"many": True}}),
        ]
    )
    assert _told(engine) == [("asserted", "item:b@1", "note"), ("asserted", NOTE, "note")]


def test_a_policy_tells_what_it_makes_different() -> None:
    engine = engine_of(
        [
            says(At("e1", 1), NOTE, "audited", False),
            says(At("e2", 2), NOTE, "passes", True),
            policy(At("p", 3), predicates={"audited": {"verdict": True}}),
        ]
    )
    assert _told(engine)[2:] == [("withdrawn", NOTE, "passes")]


def test_a_slot_that_a_policy_ends_is_still_named_in_the_changes_told_of_it() -> None:
    engine = engine_of(
        [
            says(At("e1", 1), NOTE, "tags", "x"),
            policy(At("p", 2), predicates={"tags": {"many": True}}),
        ]
    )
    assert _told(engine) == [("asserted", NOTE, "tags"), ("asserted", NOTE, "tags")]


def test_i5_a_deleted_subject_stays_deleted_when_its_scheme_is_no_longer_versioned() -> None:
    """Whichever policy is in force when the deletion comes: erasure only grows."""
    versioned = policy(At("p1", 3), schemes={"doc": {}})
    plain = policy(At("p2", 4), predicates={})
    said, gone = says(At("e", 1), "doc:d@1", "note", "x"), deleted(At("d", 2), {"subject": "doc:d"})
    for order in ([said, versioned, plain, gone], [gone, versioned, plain, said], [plain, versioned, said, gone]):
        engine = engine_of(order)
        answer = Queries(engine.store, engine).recall(Reader("acme"), "doc:d@1", "note", now_us=10)
        assert answer.status == "tombstoned"
