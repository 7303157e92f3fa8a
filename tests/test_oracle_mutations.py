"""A rule changed in one sentence is caught: by a case of the rule, or by a claim about any history."""

from random import Random

import pytest

from tests.histories import histories
from tests.oracle_mutations import MUTATIONS, Mutation, mutant
from tests.rule_cases import CASES
from tests.test_oracle import CLAIMS
from tests.test_rule_cases import faults

SEEDS = range(40)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.says)
def test_a_changed_rule_is_caught(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    build = mutant(mutation, monkeypatch)
    if any(faults(case, build) for case in CASES):
        return
    for seed in SEEDS:
        records = histories(seed, 25)
        if any(claim(records, build, Random(seed)) for claim in CLAIMS):
            return
    pytest.fail(f"nothing catches that {mutation.says}")


def test_the_changes_say_different_things() -> None:
    assert len({mutation.says for mutation in MUTATIONS}) == len(MUTATIONS)
