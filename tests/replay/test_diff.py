"""What two generations believe differently is the difference of what the rule says of their facts."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tether_projections.beliefs import Side, beliefs
from tether_projections.engine import Engine
from tether_projections.store import ViewStore
from tether_replay.build import Builder
from tether_schemas.canonical import canonical_json
from tether_schemas.facts import FactRecord
from tether_schemas.reports import Belief, BeliefDifference, DifferingBelief

from tests.histories import histories
from tests.oracle import Oracle
from tests.projections.driven import NAMESPACES
from tests.records import At, deleted, evidence, passes, says
from tests.replay.logs import fact_log

EXAMPLES = 1_000


def build(records: Sequence[FactRecord], folder: Path, name: str) -> str:
    """The file of a view of records."""
    log, taken = fact_log(records)
    file = folder / name
    with closing(ViewStore(str(file))) as store:
        Builder(log, store).advance(len(taken))
    return str(file)


def compare(
    folder: Path, before: Sequence[FactRecord], after: Sequence[FactRecord], live: Sequence[FactRecord] = ()
) -> BeliefDifference:
    """The difference of the views of two histories, told by one of a third."""
    sides = Side("1", build(before, folder, "a.duckdb")), Side("2", build(after, folder, "b.duckdb"))
    with closing(ViewStore(":memory:")) as store:
        Engine(store, lambda _: []).apply(live, max(len(live), 1))
        return beliefs(store, sides, None, EXAMPLES)


def examples(found: BeliefDifference) -> list[DifferingBelief]:
    return [each for one in found.predicates for each in one.examples]


@pytest.mark.parametrize("seed", range(8))
def test_two_builds_of_the_same_facts_believe_the_same(seed: int, tmp_path: Path) -> None:
    records = histories(seed, 30)
    found = compare(tmp_path, records, records)
    assert found.equal
    assert examples(found) == []
    assert sum(one.same for one in found.predicates) > 0


Slot = tuple[str, ...]  # namespace, scope, subject, predicate
Told = dict[Slot, str]


def slots_of(file: str) -> tuple[set[Slot], set[Slot]]:
    """The slots of a view, and those whose answer depends on the time or that are one of many values."""
    query = """
        SELECT
            namespace, scope, subject, predicate,
            many IS NOT NULL OR slot IN (
                SELECT slot FROM assertion
                WHERE valid_from IS NOT NULL OR valid_to IS NOT NULL OR expires_at IS NOT NULL
            )
        FROM memory
    """
    with closing(ViewStore(file)) as store:
        rows = store.rows(query)
    return {row[:4] for row in rows}, {row[:4] for row in rows if row[4]}


def by_the_rule(records: Sequence[FactRecord], slots: set[Slot]) -> Told:
    """Status and value of some slots as the oracle tells them."""
    found: Told = {}
    for name in NAMESPACES:
        oracle = Oracle(records, name)
        for namespace, scope, subject, predicate in slots:
            if namespace == name:
                answer = oracle.recall(subject, predicate, scope)
                found[namespace, scope, subject, predicate] = f"{answer.status} {canonical_json(answer.value)}"
    return found


@pytest.mark.parametrize("seed", range(24))
def test_a_build_up_to_here_and_one_up_to_there_differ_as_the_answers_do(seed: int, tmp_path: Path) -> None:
    _, records = fact_log(histories(seed, 30))
    before, after = records[: 10 + seed % 10], records
    found = compare(tmp_path, before, after)
    (had, timed), (has, timed_now) = slots_of(str(tmp_path / "a.duckdb")), slots_of(str(tmp_path / "b.duckdb"))
    slots = (had | has) - timed - timed_now
    told = by_the_rule(before, had & slots), by_the_rule(after, has & slots)
    want = {
        (name, "added" if name not in told[0] else "gone" if name not in told[1] else "changed")
        for name in told[0].keys() | told[1].keys()
        if told[0].get(name) != told[1].get(name)
    }
    got = {
        ((one.namespace, each.scope, each.subject, one.predicate), each.kind)
        for one in found.predicates
        for each in one.examples
        if (one.namespace, each.scope, each.subject, one.predicate) in slots
    }
    assert got == want


ONE = says(At("e1", 1), "user:u", "city", "Lisbon")


def test_added_gone_and_changed_are_told_with_value_assertion_and_evidence(tmp_path: Path) -> None:
    gone = says(At("e2", 2), "user:v", "city", "Rome")
    added = says(At("e3", 3), "user:w", "city", "Oslo")
    later = says(At("e4", 4), "user:u", "city", "Porto")
    found = compare(tmp_path, [ONE, gone], [ONE, added, later])
    [of_city] = found.predicates
    assert (of_city.added, of_city.gone, of_city.changed, of_city.same) == (1, 1, 1, 0)
    told = {each.kind: each for each in of_city.examples}
    assert (told["added"].a, told["gone"].b) == (None, None)
    changed = told["changed"]
    assert isinstance(changed.a, Belief) and isinstance(changed.b, Belief)
    assert (changed.subject, changed.a.value, changed.b.value) == ("user:u", "Lisbon", "Porto")
    assert changed.b.evidence is not None and changed.b.evidence.id == "e4"
    assert (found.a.position, found.b.position) == ("2", "4")


def test_a_withdrawal_is_a_change_of_status(tmp_path: Path) -> None:
    before = [passes(At("e1", 1), "item:b@1", True, "item:a@1")]
    found = compare(tmp_path, before, [*before, passes(At("e2", 2), "item:a@1", False)])
    [added, changed] = sorted(examples(found), key=lambda one: one.kind)
    assert (added.subject, changed.subject) == ("item:a@1", "item:b@1")
    assert changed.a is not None and changed.b is not None
    assert (changed.a.status, changed.a.value) == ("current", True)
    assert (changed.b.status, changed.b.value) == ("withdrawn", None)


def test_the_same_value_in_another_spelling_is_no_difference(tmp_path: Path) -> None:
    found = compare(tmp_path, [says(At("e1", 1), "user:u", "age", 1)], [says(At("e1", 1), "user:u", "age", 1.0)])
    assert found.equal


@pytest.mark.parametrize("where", ["in B", "in the live view"])
def test_i5_a_value_that_is_erased_is_not_shown_though_a_generation_has_it(tmp_path: Path, where: str) -> None:
    deletion = deleted(At("d1", 5), evidence(ONE))
    later = says(At("e4", 6), "user:u", "city", "Porto", issuer="ci#b", authority="user-direct")
    after = [ONE, deletion, later] if where == "in B" else [ONE, later]
    found = compare(tmp_path, [ONE], after, [ONE, deletion, later])
    [changed] = examples(found)
    assert changed.a is not None and changed.b is not None
    assert (changed.a.value, changed.a.withheld) == (None, True)
    assert (changed.b.value, changed.b.withheld) == ("Porto", False)
    assert "Lisbon" not in repr(found)


def test_i8_a_value_that_not_everyone_may_see_is_not_shown(tmp_path: Path) -> None:
    found = compare(tmp_path, [], [says(At("e1", 1), "user:u", "note", "secret", readers=("ana",))])
    [added] = examples(found)
    assert added.b is not None and added.b.withheld
    assert "secret" not in repr(found)
