"""Reads of the engine's view against the oracle's, over random histories and over every case of the rule."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from tether_projections.queries import Reader
from tether_schemas.answers import Why
from tether_schemas.facts import FactRecord

from tests.histories import histories
from tests.oracle import Oracle
from tests.projections.views import View, engine_answers, recalled, view_of
from tests.records import HOME, OTHER
from tests.rule_cases import CASES, Case
from tests.test_rule_cases import faults

SEEDS = range(0, 60)
SIZE = 25
TIMES = (None, 3, 12, 25, 40)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_the_engine_says_what_the_rule_says(case: Case) -> None:
    assert not faults(case, engine_answers)


def recall_faults(records: Sequence[FactRecord], view: View) -> list[str]:
    """What is recalled otherwise than by the oracle."""
    found: list[str] = []
    for namespace in (HOME, OTHER):
        oracle = Oracle(records, namespace)
        for scope, subject, predicate in sorted({slot[:3] for slot in oracle.beliefs}):
            for at_us in TIMES:
                want = oracle.recall(subject, predicate, scope, at_us)
                got = view.recall(subject, predicate, scope=scope, valid_at_us=at_us, namespace=namespace)
                if recalled(got) != want:
                    found.append(f"{namespace} {scope} {subject} {predicate} at {at_us}: {recalled(got)}, not {want}")
    return found


def why_faults(records: Sequence[FactRecord], view: View) -> list[str]:
    """I-9: what is explained otherwise than by the oracle, or without a whole path."""
    found: list[str] = []
    for namespace in (HOME, OTHER):
        oracle = Oracle(records, namespace)
        for scope, subject, predicate in sorted({slot[:3] for slot in oracle.beliefs}):
            why = view.queries.why(Reader(namespace), subject, predicate, scope, view.now_us(namespace))
            found += [f"{namespace} {scope} {subject} {predicate}: {fault}" for fault in _faults_of(why, oracle)]
    return found


def _faults_of(why: Why, oracle: Oracle) -> list[str]:
    status = why.answer.status
    causes = [cause for cause in why.causes if not cause.possible]
    if status in ("tombstoned", "invalidated"):
        return [] if causes and all(not cause.distance for cause in causes) else [f"{status}, causes {causes}"]
    got = {(_kind(cause.kind), cause.node, cause.distance) for cause in causes}
    asked = oracle.why_causes(why.subject, why.predicate, why.scope)
    want = {(_kind(kind), node, distance) for kind, node, distance in asked}
    found = [f"{got}, not {want}"] if got != want else []
    if why.answer.coverage == "threatened" and not why.causes:
        found.append("threatened by nothing")
    for cause in why.causes:
        ends = cause.path[-1]
        whole = len(cause.path) == cause.distance + 1 and ends.node == cause.node and ends.evidence is None
        if not whole or any(step.evidence is None for step in cause.path[:-1]) or cause.evidence is None:
            found.append(f"no whole path: {cause}")
    return found


def _kind(kind: str) -> str:
    """The oracle names advisories by id, of which one revision may be a revocation and another not."""
    return "advisory" if kind == "revocation" else kind


@pytest.mark.parametrize("seed", SEEDS)
def test_every_slot_is_recalled_and_explained_as_the_oracle_does(seed: int) -> None:
    records = histories(seed, SIZE)
    view = view_of(records)
    assert not recall_faults(records, view)
    assert not why_faults(records, view)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1_000, 1_400))
def test_many_more_histories(seed: int) -> None:
    records = histories(seed, SIZE + seed % 40)
    view = view_of(records, Random(seed))
    assert not recall_faults(records, view)
    assert not why_faults(records, view)


def everything(view: View) -> list[object]:
    """What every read of a view answers, without what only the live engine has: positions and changes."""
    found: list[object] = []
    for namespace in (HOME, OTHER):
        oracle = Oracle(view.records, namespace)
        reader = Reader(namespace)
        for scope, subject, predicate in sorted({slot[:3] for slot in oracle.beliefs}):
            found.append(view.queries.why(reader, subject, predicate, scope, view.now_us(namespace)))
            history = view.queries.history(reader, subject, predicate, scope)
            found += [replace(one, position="", recorded_at="") for one in history]
            found += view.queries.dependents(reader, subject)
    return found


@pytest.mark.parametrize("seed", range(100, 125))
def test_i2_no_answer_and_no_path_depends_on_the_order_of_arrival_or_on_batches(seed: int) -> None:
    """I-2: `why`, `dependents` and `history` are functions of the set of facts, ties included."""
    records = histories(seed, SIZE)
    one_batch = everything(view_of(records))
    shuffled = Random(seed).sample(records, len(records))
    assert everything(view_of(shuffled, Random(seed))) == one_batch
