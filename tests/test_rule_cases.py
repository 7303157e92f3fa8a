"""Every sentence of the rule that a small example can show, held by the oracle; an engine runs the same CASES."""

from collections.abc import Callable, Sequence

import pytest
from tether_schemas.facts import FactRecord

from tests.oracle import Oracle
from tests.rule_cases import CASES, Case

Build = Callable[[Sequence[FactRecord], str], Oracle]


def faults(case: Case, build: Build = Oracle) -> list[str]:
    """What is answered otherwise than the case expects."""
    found: list[str] = []
    for order in (case.records, case.records[::-1]):
        for want in case.expected:
            got = build(order, want.namespace).recall(want.subject, want.predicate, want.scope, want.at_us)
            others = tuple(value for value, _, _ in got.alternatives)
            pairs = [("status", want.status, got.status), ("value", want.value, got.value)]
            pairs += [("coverage", want.coverage or got.coverage, got.coverage)]
            pairs += [("shown", want.shown or got.assertion, got.assertion)]
            pairs += [("others", others if want.others is None else want.others, others)]
            where = f"{want.subject} {want.predicate} at {want.at_us}"
            found += [f"{where}: {name} is {have!r}, not {wanted!r}" for name, wanted, have in pairs if wanted != have]
        for want in case.rows:
            if want.row not in build(order, want.namespace).snapshot():
                found.append(f"no row {want.row}")
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.sentence)
def test_the_rule_says(case: Case) -> None:
    assert not faults(case)


def test_each_case_says_another_sentence_of_distinct_events() -> None:
    assert len({case.sentence for case in CASES}) == len(CASES)
    for case in CASES:
        names: dict[tuple[str, str, str, int], str] = {}
        for one in case.records:
            key = (one.namespace, one.source, one.id, one.recorded_us)
            assert names.setdefault(key, one.content_hash) == one.content_hash, (case.sentence, key)
