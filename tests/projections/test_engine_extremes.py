"""The engine at its edges: strange names, great numbers, everything before what it concerns. Held to the oracle, or
where that cannot keep up to a build in another order."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from tether_schemas.facts import FactRecord

from tests.projections.driven import Driven, build_faults, cut, empty_store, memory_faults
from tests.records import (
    HOME,
    PUBLIC,
    YEAR_ONE,
    At,
    arrived,
    claim_of,
    decided,
    deleted,
    link_of,
    linked,
    passes,
    policy,
    revoked,
    says,
)

STRANGE = ("user:\U0001f600", "user:e\u0301", "user:\u00e9", "user:\u202eab\u05d0", "key:\u4e2d\u6587", "user:\uffff")
SPELLINGS: tuple[Any, ...] = (
    *(1, 1.0, True, "1", [1], [1.0], {"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, 0, -0.0, 1e20, None, False, "", []),
    *(2**64 - 1, -(2**63), 1.7976931348623157e308, "nul \0 within", {"\U0001f600": 1, "\uffff": 2, "": [None, "\0"]}),
)


def in_order(records: Sequence[FactRecord]) -> list[FactRecord]:
    return [arrived(one, order) for order, one in enumerate(records)]


def oracle_faults(records: Sequence[FactRecord], size: int, seed: int = 0) -> list[str]:
    """What is wrong after any batch of this size at most, in this order (seed 0) or another, restarted every time."""
    ordered, random = in_order(records), Random(seed)
    if seed:
        random.shuffle(ordered)
    driven = Driven()
    for batch in cut(ordered, random, size):
        driven.restart()
        driven.apply(batch)
        found = driven.faults()
        if found:
            return found
    return build_faults(driven)


def orders_faults(records: Sequence[FactRecord], size: int) -> tuple[Driven, list[str]]:
    """A view of records in their order, and what differs in one of another order."""
    ordered = in_order(records)
    driven, other = Driven(), Driven(empty_store("other"))
    for view, arriving in ((driven, ordered), (other, Random(1).sample(ordered, len(ordered)))):
        for start in range(0, len(arriving), size):
            view.apply(arriving[start : start + size])
    found = memory_faults(driven.store, driven.engine.state)
    if driven.snapshots() != other.snapshots():
        found.append("another order gives another snapshot")
    return driven, found


def statuses(driven: Driven) -> dict[str, int]:
    return dict(driven.store.rows("SELECT status, count(*) FROM memory_now GROUP BY status"))


@pytest.mark.parametrize("seed", [0, 1])
def test_names_and_values_of_any_characters_are_kept_apart(seed: int) -> None:
    records: list[FactRecord] = []
    for place, subject in enumerate(STRANGE):
        before, at = STRANGE[place - 1], At(f"u{place}\U0001f680", 2 * place + 1, "src\u202e")
        records.append(says(at, subject, "no\u0301te", f"v\0{subject}", premises=[before], original_text="x\0y"))
        records.append(passes(At(f"p{place}", 2 * place + 2), subject, True, before))
    records += [revoked(At("a", 98), "ADV\U0001f600", STRANGE[0]), deleted(At("d", 99), {"subject": STRANGE[1]})]
    assert not oracle_faults(records, 4, seed)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_values_are_equal_when_their_canonical_json_is(seed: int, many: bool) -> None:
    records = [policy(At("p", 90), predicates={"tags": {"many": many}})]
    for place, value in enumerate(SPELLINGS):
        for predicate in ("note", "tags"):
            issuer = f"ci#{place % 5}"
            records.append(says(At(f"{predicate}{place}", place + 1), "key:a", predicate, value, issuer=issuer))
    assert not oracle_faults(records, 8, seed)


def test_values_of_megabytes_are_kept_whole() -> None:
    driven = Driven()
    large = [says(At("h1", 1), "key:a", "note", "x" * 4_000_000), says(At("h2", 2), "key:b", "note", ["z"] * 100_000)]
    driven.apply(in_order(large))
    assert not driven.faults()


@pytest.mark.parametrize("size", [1, 3, 11])
def test_a_premise_on_itself_or_named_twice_is_harmless(size: int) -> None:
    records = [
        passes(At("s", 1), "key:s", True, "key:s", "key:s"),
        passes(At("t", 2), "key:t", True, "key:s", "key:s"),
        linked(At("l", 3), "key:s", ["key:s", "key:s"]),
        says(At("n", 4), "key:s", "note", "x", premises=["key:s", ("ci", "n")]),
        linked(At("l2", 5), ("ci", "n"), [("ci", "n")]),
        revoked(At("r", 6), "ADV", "key:s"),
        revoked(At("r2", 7), "ADV", "key:s", withdrawn=True),
        deleted(At("d", 8), {"evidence": {"source": "ci", "id": "n"}}),
        deleted(At("d2", 9), {"evidence": {"source": "ci", "id": "l2"}}),
    ]
    assert not oracle_faults(records, size)


def test_an_assertion_with_ten_thousand_premises_falls_with_the_last_of_them() -> None:
    premises = [f"key:p{place}" for place in range(10_000)]
    records = [
        passes(At("w", 1), "key:w", True, *premises),
        says(At("n", 2), "key:n", "note", "x", premises=[("ci", "w")]),
        revoked(At("r", 3), "ADV", premises[-1]),
    ]
    driven, found = orders_faults(records, 1)
    assert not found
    assert statuses(driven) == {"withdrawn": 2}


@pytest.mark.parametrize("hops", [50, 5_000])
def test_a_chain_falls_and_rises_whole(hops: int) -> None:
    """I-4: one hop or thousands."""
    records = [passes(At(f"e{hop}", hop + 1), f"key:{hop}", True, f"key:{hop - 1}") for hop in range(1, hops + 1)]
    driven, found = orders_faults([*records, revoked(At("r", hops + 9), "ADV", "key:0")], 500)
    assert not found
    assert statuses(driven) == {"withdrawn": hops}
    driven.apply([arrived(revoked(At("r2", hops + 10), "ADV", "key:0", withdrawn=True), hops + 10)])
    assert statuses(driven) == {"current": hops}


@pytest.mark.parametrize("dependents", [3_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_a_hub_is_lifted_and_failed_again_and_again(dependents: int) -> None:
    driven = Driven()
    records = in_order(
        [passes(At(f"e{place}", place + 1), f"key:{place}", True, "key:hub") for place in range(dependents)]
    )
    for start in range(0, dependents, 1_000):
        driven.apply(records[start : start + 1_000])
    for turn in range(6):
        at = At(f"r{turn}", dependents + turn + 1)
        driven.apply([arrived(revoked(at, "ADV", "key:hub", withdrawn=bool(turn % 2)), at.time)])
        assert statuses(driven) == {"current" if turn % 2 else "withdrawn": dependents}
    assert not memory_faults(driven.store, driven.engine.state)


@pytest.mark.parametrize("verdict", [False, True])
def test_a_slot_holds_two_thousand_statements(verdict: bool) -> None:
    records = [
        passes(At(f"e{place}", place + 1), "key:k", place % 3 > 0, issuer=f"ci#{place % 97}", authority=rank)
        if verdict
        else says(At(f"e{place}", place + 1), "key:k", "note", place % 7, issuer=f"ci#{place % 11}", authority=rank)
        for place in range(2_000)
        for rank in [("unknown", "inferred")[place % 2]]
    ]
    driven, found = orders_faults(records, 200)
    assert not found
    assert not driven.faults()


def test_five_hundred_values_of_one_predicate_stand_side_by_side() -> None:
    records = [policy(At("p", 1), predicates={"tags": {"many": True, "rests_on_subject": True}})]
    records += [
        says(At(f"e{place}", place + 2), "key:k", "tags", f"v{place}", premises=[f"key:p{place % 9}"])
        for place in range(500)
    ]
    driven, found = orders_faults([*records, revoked(At("r", 900), "ADV", "key:p3")], 100)
    assert not found + driven.faults()
    assert statuses(driven) == {"current": 444, "withdrawn": 56}


@pytest.mark.parametrize("seed", range(4))
def test_what_rules_before_what_it_rules_over_rules_the_same(seed: int) -> None:
    """Deletions and decisions long before, and a policy that says late which subjects have versions."""
    made = [passes(At(f"e{hop}", hop + 10), f"key:{hop}", hop != 3, f"key:{hop - 1}") for hop in range(1, 14)]
    links = [linked(At(f"l{hop}", hop + 40), f"key:{hop}", [("ci", f"e{hop - 2}")]) for hop in range(3, 14)]
    rulings = [
        deleted(At("d0", 1, "ops"), {"evidence": {"source": "ci", "id": "e5"}}, None),
        deleted(At("d1", 2, "ops"), {"source": "hub"}, None),
        decided(At("c1", 3, "ops"), "invalidate", {"evidence": {"source": "ci", "id": "e3"}}),
        decided(At("c2", 4, "ops"), "invalidate", {"assertion": claim_of(made[6])}),
        decided(At("c3", 5, "ops"), "invalidate", {"source": "bot"}),
        decided(At("c4", 80, "ops"), "invalidate", {"assertion": link_of(links[4])}),
        decided(At("c5", 81, "ops"), "restore", {"evidence": {"source": "ci", "id": "e3"}}),
    ]
    late = [
        says(At("h", 60, "hub"), "key:2", "note", "x", premises=[("ci", "e5")]),
        says(At("b", 4, "bot"), "key:2", "note", "y", premises=[("hub", "h")]),
        passes(At("v1", 71), "key:2@1", True),
        passes(At("v2", 72), "key:2@2", True, "key:2@1"),
        policy(At("p", 70), schemes={"key": {"versioned": True}}, predicates={"note": {"verdict": True}}),
    ]
    assert not oracle_faults([*rulings, *made, *links, *late], 6, seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_two_hundred_advisories_with_withdrawn_revisions_between_survive_a_rebuild(seed: int) -> None:
    records = [passes(At(f"e{n}", n + 1), f"item:x@{n}", True, f"item:x@{n - 1}") for n in range(1, 40)]
    for name in range(200):
        for revision in range(3):
            at = At(f"a{name}.{revision}", 100 + name * 3 + revision, "feed", PUBLIC if name % 3 else HOME)
            covered = [f"item:x@{name % 40}", "item:x" if name % 50 == 0 else "key:q"]
            modified, withdrawn = YEAR_ONE if name % 5 == 0 else None, bool((revision + name) % 2)
            records.append(revoked(at, f"ADV-{name}", *covered, modified=modified, withdrawn=withdrawn))
    records.append(decided(At("c1", 2000), "invalidate", {"advisory": "ADV-3"}))
    records.append(decided(At("c2", 2001), "invalidate", {"source": "feed"}))
    driven = Driven()
    for batch in cut(Random(seed).sample(in_order(records), len(records)), Random(seed), 150):
        driven.apply(batch)
    assert not driven.faults()
    late = policy(At("p", 3000), schemes={"item": {"higher_version": False}, "key": {"versioned": True}})
    driven.apply([arrived(late, 3000)])
    assert not driven.faults() + build_faults(driven)


def test_a_version_on_record_is_known_after_a_restart_in_every_scheme_that_retires_versions() -> None:
    records = in_order(
        [
            policy(At("p", 1), schemes={"pkg": {"higher_version": True}}),
            passes(At("a", 2), "pkg:pypi/x@1.5"),
            passes(At("b", 3), "pkg:pypi/x@1.0"),
        ]
    )
    driven = Driven()
    driven.apply(records[:2])
    driven.restart()
    driven.apply(records[2:])
    assert not driven.faults()
