"""What comes without content counts as it did with it: any history, with what is erased in it made ghosts."""

from random import Random

import pytest
from hypothesis import given, settings
from tether_projections.batch import key_of
from tether_schemas.facts import Asserted, FactRecord
from tether_streams.core.ghosts import ghost_of

from tests.histories import histories, history_strategy
from tests.oracle import Oracle
from tests.projections.driven import Driven, answer_faults, cut, explained, memory_faults
from tests.records import HOME, OTHER, At, claim_of, deleted, passes, policy, says


def as_ghosts(records: list[FactRecord]) -> list[FactRecord]:
    """The records as an export gives them: of what anything is erased of, only facts that say nothing."""
    oracles = {namespace: Oracle(records, namespace) for namespace in (HOME, OTHER)}
    return [as_ghost(one, oracles[one.namespace]) if one.namespace in oracles else one for one in records]


def as_ghost(record: FactRecord, oracle: Oracle) -> FactRecord:
    gone = ("evidence", record.source, record.id) in oracle.deleted
    told = {fact.assertion_id: key(fact, oracle) for fact in record.facts if isinstance(fact, Asserted)}
    keys = {name: value_key for name, value_key in told.items() if name in oracle.erased}
    exists = any((one.source, one.id, one.content_hash) == (record.source, record.id, record.content_hash)
                 for one in oracle.own)  # fmt: skip
    if not exists or not (gone or keys):
        return record
    return record.model_copy(update={"facts": ghost_of(record, keys, gone).ghost.facts})


def key(fact: Asserted, oracle: Oracle) -> str:
    """As an export keys values: a verdict by its effect, else by what is on record, else by chance."""
    if oracle.policy.predicate(fact.predicate).verdict and isinstance(fact.value, bool):
        return "true" if fact.value else "false"
    slot, same = (fact.scope, fact.subject, fact.predicate), key_of(fact.value)
    kept = [said for said in oracle.said.values() if said.id not in oracle.erased]
    if any((said.fact.scope, said.fact.subject, said.fact.predicate) == slot for said in kept
           if key_of(said.fact.value) == same):  # fmt: skip
        return same
    return f"{Random(repr((slot, same))).getrandbits(128):032x}"


def faults(records: list[FactRecord]) -> list[str]:
    ghosts = as_ghosts(records)
    driven = Driven()
    for batch in cut(ghosts, Random(len(records))):
        driven.apply(batch)
    wrong = [*answer_faults(driven), *memory_faults(driven.store, driven.engine.state)]
    for namespace in (HOME, OTHER):
        if Oracle(records, namespace).digest() != Oracle(ghosts, namespace).digest():
            wrong.append(f"{namespace}: ghosts count otherwise than what they are ghosts of")
    return wrong


@pytest.mark.parametrize("seed", range(60))
def test_i6_what_comes_as_a_ghost_counts_as_it_did_with_its_content(seed: int) -> None:
    """The digest of every namespace, by the oracle and by the engine."""
    assert not explained(histories(seed, 40), faults)


@settings(max_examples=40, deadline=None)
@given(history_strategy())
def test_i6_so_it_does_in_histories_that_shrink(records: list[FactRecord]) -> None:
    assert not faults(records)


def test_i5_a_ghost_is_erased_without_the_deletion_that_made_it_one() -> None:
    """A copy that ends before the deletion serves nothing of it."""
    chat = says(At("chat", 1, "log"), "user:u", "note", "secret")
    history = as_ghosts([chat, deleted(At("d", 2), {"source": "log"})])
    driven = Driven()
    driven.apply(history[:1])
    [row] = [row for row in driven.snapshots()[0] if row[0] == "memory"]
    assert row[5:7] == ["tombstoned", None]
    assert answer_faults(driven) == []


def test_i6_the_ghost_of_a_failure_fails_whatever_its_predicate_means_later() -> None:
    failed = passes(At("e", 1, "audit"), "item:lib@1", False)
    app = passes(At("app", 1), "item:app@1", True, "item:lib@1")
    history = as_ghosts([app, failed, deleted(At("d", 2), {"source": "audit"})])
    driven = Driven()
    driven.apply(history)
    driven.apply([policy(At("p", 3), predicates={"passes": {"verdict": False}})])
    driven.apply([policy(At("q", 4), predicates={"passes": {"verdict": True}})])
    rows = {row[2]: row for row in driven.snapshots()[0] if row[0] == "memory"}
    assert [rows[name][5] for name in ("item:app@1", "item:lib@1")] == ["withdrawn", "tombstoned"]
    assert driven.faults() == []
    assert claim_of(failed) in rows["item:lib@1"]
