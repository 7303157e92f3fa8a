"""A past that is read equals a whole build up to there with the erasure of now, and what the oracle says of it."""

from random import Random

import pytest
from tether_projections.queries import Queries, Reader
from tether_projections.snapshot import snapshot
from tether_projections.store import ViewStore
from tether_replay import past as past_module
from tether_replay.past import Past, Question
from tether_schemas.errors import LogCorrupt
from tether_schemas.facts import FactRecord

from tests.histories import histories
from tests.projections.driven import NAMESPACES
from tests.records import HOME, At, deleted, evidence, linked, passes, policy, says
from tests.replay.pasts import Pasts, pasts_of

SIZE = 25
POSITIONS = 2


def faults(seed: int, size: int, positions: int) -> list[str]:
    random = Random(seed)
    pasts = pasts_of(histories(seed, size), seed)
    places = [record.offset for record in pasts.records]
    found = [
        fault
        for position in random.sample(places, min(positions, len(places)))
        for fault in pasts.faults(position, random)
    ]
    pasts.close()
    return found


@pytest.mark.parametrize("seed", [*range(12), 100])
def test_every_answer_of_a_past_is_that_of_a_whole_build_and_of_the_oracle(seed: int) -> None:
    assert not faults(seed, SIZE + seed % 20, POSITIONS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_200))
def test_many_more_histories(seed: int) -> None:
    assert not faults(seed, SIZE + seed % 40, 4)


@pytest.mark.parametrize("seed", range(20, 32))
def test_i2_a_whole_build_of_a_past_is_what_the_oracle_says(seed: int) -> None:
    """I-2 and I-5: recorded time is the log's, so that a replay gives the same past, with today's deletions."""
    pasts = pasts_of(histories(seed, SIZE), seed)
    for position in Random(seed).sample([record.offset for record in pasts.records], 4):
        store = ViewStore(":memory:")
        state = pasts.past.prepare(position).build(store, None).state
        got = [snapshot(store, state, name) for name in NAMESPACES]
        assert got == [pasts.oracle(position, name).snapshot() for name in NAMESPACES]
        store.close()
    pasts.close()


@pytest.mark.parametrize("seed", range(40, 46))
def test_the_past_at_the_end_is_the_present(seed: int) -> None:
    pasts = pasts_of(histories(seed, SIZE), seed)
    live = Queries(pasts.store, pasts.past.engine)
    end = pasts.records[-1].offset
    for namespace in NAMESPACES:
        for scope, subject, predicate in pasts.slots(namespace):
            question = Question(Reader(namespace), subject, predicate, scope)
            with pasts.past.queries(question, end) as queries:
                asked = (Reader(namespace), subject, predicate, scope, 50)
                assert queries.why(*asked) == live.why(*asked)
    pasts.close()


def test_a_slice_that_is_too_large_gives_way_to_a_whole_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_module, "SLICE_RECORDS_MAX", 3)
    assert not faults(3, SIZE, 2)


def test_a_slice_reads_only_what_the_answer_depends_on() -> None:
    mine = [passes(At("e1", 1), "item:a@1"), passes(At("e2", 2), "item:b@1", True, "item:a@1")]
    others = [passes(At(f"o{number}", 3 + number), f"item:other{number}@1") for number in range(20)]
    pasts = pasts_of([*mine, *others, passes(At("e3", 40), "item:c@1")])
    read: list[int] = []
    by_offset = {record.offset: record for record in pasts.records}

    def facts_of(places: list[int]) -> list[FactRecord]:
        read.extend(places)
        return [by_offset[place] for place in places]

    past = Past(pasts.past.engine, pasts.log, facts_of)  # pyright: ignore[reportArgumentType]  # it reads lists alone
    with past.queries(Question(Reader(HOME), "item:b@1", "passes", ""), 30) as queries:
        assert queries.recall(Reader(HOME), "item:b@1", "passes", now_us=30).status == "current"
    assert read == [1, 2]
    past.close()
    pasts.close()


def test_a_retelling_by_link_counts_where_the_slot_of_a_premise_is_tied() -> None:
    red = says(At("e1", 1, "ci"), "user:ana", "note", "red")
    again = says(At("e2", 2, "bot"), "user:ana", "note", "red")
    blue = says(At("e3", 3, "hub"), "user:ana", "note", "blue")
    on_red = says(At("e4", 4), "user:ana", "summary", "likes red", premises=[red])
    retold = linked(At("e5", 5), again, [("ci", "e1")])
    pasts = pasts_of([red, again, blue, on_red, retold, passes(At("e6", 6), "item:a@1")])
    assert ask(pasts, 4, "user:ana", "summary") == "current"
    assert ask(pasts, 5, "user:ana", "summary") == "withdrawn"
    pasts.close()


def test_nothing_of_one_read_is_left_for_the_next() -> None:
    pasts = pasts_of(
        [passes(At("e1", 1), "item:a@1"), passes(At("e2", 2), "item:b@1"), passes(At("e3", 3), "item:c@1")]
    )
    for subject in ("item:a@1", "item:b@1"):
        with pasts.past.queries(Question(Reader(HOME), subject, "passes", ""), 2) as queries:
            assert queries.status(None).events == 1
    pasts.close()


def test_facts_that_are_missing_from_the_log_are_an_error() -> None:
    pasts = pasts_of([passes(At("e1", 1), "item:a@1"), passes(At("e2", 2), "item:b@1")])
    past = Past(pasts.past.engine, pasts.log, lambda places: [])
    with (
        pytest.raises(LogCorrupt, match="position 1"),
        past.queries(Question(Reader(HOME), "item:a@1", "passes", ""), 1),
    ):
        pass
    pasts.close()


def ask(pasts: Pasts, position: int, subject: str, predicate: str = "passes") -> str:
    """The status of a slot at a past position."""
    with pasts.past.queries(Question(Reader(HOME), subject, predicate, ""), position) as queries:
        return queries.recall(Reader(HOME), subject, predicate, now_us=position).status


def test_i5_a_deletion_of_today_removes_content_from_every_past() -> None:
    """I-5: by a link that came later too, and where the deletion came first."""
    said = says(At("e1", 1), "user:ana", "note", "secret")
    summary = says(At("e2", 2), "user:ana", "summary", "of a secret")
    link = linked(At("e3", 3), summary, [("ci", "e1")])
    pasts = pasts_of([said, summary, link, deleted(At("d1", 4), evidence(said))])
    assert {ask(pasts, position, "user:ana", "note") for position in (1, 2, 3, 4)} == {"tombstoned"}
    assert {ask(pasts, position, "user:ana", "summary") for position in (2, 3, 4)} == {"tombstoned"}
    with pasts.past.queries(Question(Reader(HOME), "user:ana", "summary", ""), 2) as queries:
        (cause,) = queries.why(Reader(HOME), "user:ana", "summary", "", 2).causes
        assert (cause.kind, cause.detail) == ("tombstoned", "asked (ana)")
        assert cause.evidence is not None and cause.evidence.id == "d1"
        (listed,) = queries.history(Reader(HOME), "user:ana", "summary", "")
        assert (listed.erased, listed.value) == (True, None)
    pasts.close()


def test_i6_a_deletion_of_today_serves_nothing_more_in_a_past() -> None:
    """I-6: what replaced a value stays its successor there, and a failure that is deleted still withdraws."""
    first = says(At("e1", 1), "user:ana", "note", "old")
    second = says(At("e2", 2), "user:ana", "note", "new")
    failed = passes(At("e3", 3), "item:a@1", False)
    on_it = passes(At("e4", 4), "item:b@1", True, "item:a@1")
    gone = [deleted(At(f"d{place}", 4 + place), evidence(one)) for place, one in enumerate((second, failed), 1)]
    pasts = pasts_of([first, second, failed, on_it, *gone])
    assert ask(pasts, 1, "user:ana", "note") == "current"
    assert ask(pasts, 2, "user:ana", "note") == "tombstoned"
    assert ask(pasts, 4, "item:b@1") == "withdrawn"
    pasts.close()


def test_a_past_goes_by_the_policy_of_its_position() -> None:
    many = policy(At("p1", 3), predicates={"note": {"many": True}})
    pasts = pasts_of([says(At("e1", 1), "user:ana", "note", "a"), says(At("e2", 2), "user:ana", "note", "b"), many])
    with pasts.past.queries(Question(Reader(HOME), "user:ana", "note", ""), 2) as queries:
        assert queries.recall(Reader(HOME), "user:ana", "note", now_us=9).value == "b"
    live = Queries(pasts.store, pasts.past.engine)
    assert live.recall(Reader(HOME), "user:ana", "note", now_us=9).value == ["a", "b"]
    pasts.close()


def test_what_is_named_before_it_comes_and_is_deleted_by_now_is_bad_in_that_past_too() -> None:
    later = says(At("e3", 3), "user:ana", "note", "secret")
    link = linked(At("e1", 1), "item:b@1", [later])
    gone = deleted(At("d1", 4), evidence(later))
    kept = pasts_of([link, passes(At("e2", 2), "item:b@1"), later, passes(At("e4", 4), "item:z@1")])
    assert ask(kept, 2, "item:b@1") == "current"
    kept.close()
    pasts = pasts_of([link, passes(At("e2", 2), "item:b@1"), later, gone])
    assert ask(pasts, 2, "item:b@1") == "withdrawn"
    assert not list(pasts.faults(2))
    pasts.close()
