"""The oracle keeps the design's invariants over thousands of random histories: I-2, I-3, I-4, I-5, I-6, I-9."""

from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tether_schemas.facts import FactRecord

from tests import oracle_claims, oracle_lifting
from tests.histories import histories, history_strategy, smallest
from tests.oracle import Oracle
from tests.oracle_claims import Claim
from tests.records import HOME, PUBLIC, At, claim_of, decided, evidence, linked, passes, revoked, says
from tests.rule_cases.case import KEY, at, note

SEEDS = range(2000)

CLAIMS: tuple[Claim, ...] = (
    oracle_claims.in_any_order,
    oracle_claims.nothing_rests_on_what_failed,
    oracle_claims.erasing_serves_no_more,
    oracle_claims.erased_stays_erased,
    oracle_claims.cycles_are_harmless,
    oracle_claims.withdrawals_name_their_causes,
    oracle_lifting.new_advisory,
    oracle_lifting.all_advisories,
    oracle_lifting.failure,
    oracle_lifting.new_failure,
    oracle_lifting.succeeded_failure,
    oracle_lifting.outranked_failure,
    oracle_lifting.link,
)


@lru_cache(maxsize=len(SEEDS))
def history(seed: int) -> tuple[FactRecord, ...]:
    """One of the histories that every claim is held to: of 5 to 34 events."""
    return tuple(histories(seed, 5 + seed % 30))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_the_rule_keeps(claim: Claim) -> None:
    for seed in SEEDS:
        fault = claim(history(seed), Oracle, Random(seed))
        if fault:
            left = smallest(history(seed), lambda records: bool(claim(records, Oracle, Random(seed))))  # noqa: B023 - called here
            pytest.fail(f"seed {seed}: {fault}\nsmallest history:\n" + "\n".join(map(repr, left)))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(history_strategy(), st.randoms(use_true_random=False))
def test_i_2_any_order_and_duplicates_give_one_digest(records: list[FactRecord], random: Random) -> None:
    assert oracle_claims.in_any_order(records, Oracle, random) is None


_origin = note(at(1), "seen")
_weak = passes(at(2, "hub"), "item:b@1", False, _origin)
_failure = passes(at(3), "item:b@1", False, authority="inferred")
_lifting = says(at(4, "record"), "item:b@1", "passes", True, authority="system-of-record")
_gone = decided(at(5), "invalidate", evidence(_origin))


_WRITTEN = "rule 3 as written: a verdict that is lifted is still present"


@pytest.mark.xfail(strict=True, reason=_WRITTEN)
def test_i_4_a_failure_lifted_by_higher_authority_serves_no_more_than_had_it_never_been() -> None:
    """A counterexample to I-4 in the rule itself.

    Of the two false verdicts the weak one derives from an assertion that is invalidated. By rule 3 that premise is the
    subject-version's while the weak verdict is present and no present verdict of its value has higher authority. The
    stronger failure, though lifted, is such a verdict: with it the true verdict is current, without it withdrawn.
    """
    records = [_origin, _weak, _lifting, _gone]
    never = Oracle(records, HOME).recall("item:b@1", "passes")
    lifted = Oracle([*records, _failure], HOME).recall("item:b@1", "passes")
    assert never.status == lifted.status


@pytest.mark.xfail(strict=True, reason=_WRITTEN)
def test_i_4_a_failure_lifted_by_higher_authority_withdraws_no_more_than_had_it_never_been() -> None:
    """The same the other way: what the lifted failure itself derives from still withdraws the true verdict."""
    never = Oracle([_origin, _lifting, _gone], HOME).recall("item:b@1", "passes")
    lifted = Oracle([_origin, _weak, _lifting, _gone], HOME).recall("item:b@1", "passes")
    assert never.status == lifted.status


_bad = revoked(At("r1", 9, "osv", PUBLIC), "ADV-1", "item:a@1")
_chain = [passes(at(1), "item:b@1", True, "item:a@1"), passes(at(2), "item:c@1", True, "item:b@1")]
_pair = linked(at(3), "item:c@1", ["item:a@1"])
_told = note(at(4), "x", passes(at(2), "item:c@1", True, "item:b@1"))


@pytest.mark.parametrize(
    ("records", "asked", "causes"),
    [
        (_chain, ("item:c@1", "passes"), set[Any]()),
        ([*_chain, _bad], ("item:c@1", "passes"), {("revocation", "item:a@1", 2)}),
        ([*_chain, _bad, _pair], ("item:c@1", "passes"), {("revocation", "item:a@1", 1)}),
        ([passes(at(1), "item:a@1"), _bad], ("item:a@1", "passes"), {("revocation", "item:a@1", 0)}),
        ([*_chain, _bad, _told], (KEY, "note"), {("revocation", "item:a@1", 4)}),
        (
            [*_chain, passes(at(5), "item:a@1", False), _bad],
            ("item:b@1", "passes"),
            {("revocation", "item:a@1", 1), ("failed", "item:a@1", 1)},
        ),
        (
            [_origin, note(at(2), "y", ("ci", "e1"), subject="item:b@1"), _gone],
            ("item:b@1", "note"),
            {("invalidated", claim_of(_origin), 1), ("invalidated", '["ci","e1"]', 1)},
        ),
    ],
)
def test_i_9_a_withdrawal_names_each_cause_at_its_shortest_distance(
    records: list[FactRecord], asked: tuple[str, str], causes: set[Any]
) -> None:
    assert Oracle(records, HOME).why_causes(*asked) == causes
