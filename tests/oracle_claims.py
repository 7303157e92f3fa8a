"""The design's invariants as claims about any history: each gives None, or says how the history breaks it.

`build` is the oracle, or a changed one that the claims must catch. What lifts a cause is in oracle_lifting.py.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tether_schemas.canonical import canonical_json
from tether_schemas.facts import Asserted, FactRecord, Linked

from tests.oracle import Oracle, Recalled
from tests.oracle_rule import node_of
from tests.oracle_slots import Node, Slot
from tests.records import HOME, At, decided, deleted, evidence, linked

Records = Sequence[FactRecord]
Build = Callable[[Records, str], Oracle]
Claim = Callable[[Records, Build, Random], str | None]
FAR_US = 10_000
COVERAGE_RANK = {"threatened": 0, "unknown": 1, "complete": 2}
BARE = {"item:a", "item:b", "pkg:pypi/x", "doc:d"}


def evidence_of(one: FactRecord) -> Node:
    """The node of a record's evidence."""
    return ("evidence", one.source, one.id)


def named_in(records: Records) -> set[Node]:
    """Everything that a premise or a link names."""
    named: set[Node] = set()
    for fact in (fact for one in records for fact in one.facts):
        if isinstance(fact, Asserted):
            named |= {node_of(ref) for ref in (*fact.premises, *fact.possible)}
        if isinstance(fact, Linked):
            named |= {node_of(ref) for ref in (fact.dependent, *fact.premises)}
    return named


def some_object(records: Records, random: Random) -> str:
    """A subject-version or an entity that these records name."""
    named = {node[1] for node in named_in(records) if node[0] == "object"}
    named |= {fact.subject for one in records for fact in one.facts if isinstance(fact, Asserted)}
    return random.choice(sorted(named - BARE) or ["item:a@1"])


def uncontested(records: Records) -> list[FactRecord]:
    """The records that exist: of two contents under one id, the one of least rank."""
    first: dict[tuple[str, str, str], FactRecord] = {}
    for one in sorted(records, key=lambda one: one.rank):
        first.setdefault((one.namespace, one.source, one.id), one)
    return list(first.values())


def same_memory(lifted: Oracle, never: Oracle, at_us: int) -> str | None:
    """How a slot, or the flags of an assertion, of `never` differs in `lifted`, or None."""
    for slot in never.beliefs:
        had, got = never.answer(slot, at_us), lifted.answer(slot, at_us)
        if had[:4] != got[:4]:
            return f"{slot} is {got}; had the cause never been, {had}"
    for name, said in never.said.items():
        had, got = ((one.stance(one.said[name]), *one.flags(one.said[name])) for one in (never, lifted))
        if had != got:
            return f"{said.fact} is {got}; had the cause never been, {had}"
    return None


def in_any_order(records: Records, build: Build, random: Random) -> str | None:
    """I-2: the order of arrival and duplicates make no difference."""
    other = [*records, *random.choices(records, k=5)] if records else []
    random.shuffle(other)
    return None if build(records, HOME).digest() == build(other, HOME).digest() else "another order, another digest"


def _answers(oracle: Oracle, records: Records, random: Random) -> dict[tuple[Slot, int], Recalled]:
    now_us = max((one.time_us for one in records), default=0)
    times = (now_us, FAR_US, random.randint(0, now_us + 5), random.randint(0, now_us + 5))
    return {(slot, at_us): oracle.answer(slot, at_us) for slot in oracle.beliefs for at_us in times}


def _some_deletion(records: Records, random: Random) -> FactRecord:
    """A deletion of something in these records, at the time of the namespace's latest event."""
    own = [one for one in records if one.namespace == HOME]
    now_us = max((one.time_us for one in own), default=0)
    subjects = [fact.subject for one in own for fact in one.facts if isinstance(fact, Asserted)]
    targets: list[dict[str, Any]] = [{"subject": random.choice(subjects)}] if subjects else []
    if own:
        one = random.choice(own)
        targets += [evidence(one), evidence(one), {"source": one.source}, {"source": one.source, "session_id": "s1"}]
    target = random.choice(targets or [{"source": "ci"}])
    return deleted(At("forgets", now_us, "eraser"), target, random.choice((None, "own", now_us // 2)))


def erasing_serves_no_more(records: Records, build: Build, random: Random) -> str | None:
    """I-6: a deletion makes no slot current, changes no value that stays, betters no coverage and shows nothing new."""
    deletion = _some_deletion(records, random)
    seed = random.random()
    before = _answers(build(records, HOME), records, Random(seed))
    after = _answers(build([*records, deletion], HOME), records, Random(seed))
    for key, got in after.items():
        had = before[key]
        told = f"{deletion.facts[1]} made {key} {got}, which was {had}"
        if got.status == "current":
            if had.status != "current" or canonical_json(had.value) != canonical_json(got.value):
                return told
            if COVERAGE_RANK[got.coverage] > COVERAGE_RANK[had.coverage]:
                return told
        shown, were = ({canonical_json(value) for value, _, _ in one.alternatives} for one in (got, had))
        if not shown <= were:
            return told
    return None


def erased_stays_erased(records: Records, build: Build, random: Random) -> str | None:
    """I-5: what is erased stays so whatever is added, and is served or shown at no time.

    Among events that exist: a record of lesser rank that comes late displaces another of its id, which then never was.
    """
    kept = uncontested(records)
    random.shuffle(kept)
    some, whole = build(kept[: random.randint(0, len(kept))], HOME), build(kept, HOME)
    own = [one for one in kept if one.namespace == HOME]
    back = [decided(At(f"back{place}", FAR_US, "ops"), "restore", evidence(one)) for place, one in enumerate(own)]
    restored = build([*kept, *back], HOME)
    if not some.erased <= whole.erased <= restored.erased:
        return f"no longer erased: {(some.erased - whole.erased) | (whole.erased - restored.erased)}"
    for oracle in (whole, restored):
        for key, got in _answers(oracle, kept, random).items():
            shown = {name for _, _, name in got.alternatives}
            shown |= {got.assertion or ""} if got.status in ("current", "withdrawn", "expired") else set[str]()
            if shown & oracle.erased or (got.status != "current" and got.value is not None):
                return f"{key} shows what is erased: {got}"
    return None


def nothing_rests_on_what_failed(records: Records, build: Build, random: Random) -> str | None:
    """I-3: from what is served, a held false apart, no stated derivation leads to anything bad."""
    oracle = build(records, HOME)
    answers = {slot: oracle.answer(slot) for slot in oracle.beliefs}
    for slot, got in answers.items():
        said = oracle.said.get(got.assertion or "")
        if got.status != "current" or said is None or (said.rules.verdict and got.value is False):
            continue
        path = [said.node]
        for node in path:  # grows while it is walked
            for dependent, premise, stated in oracle.edges:
                if dependent != node or not stated:
                    continue
                if premise in oracle.bad and not oracle.quotes(dependent, premise):
                    return f"{slot} is current and rests on {premise}: {oracle.bad[premise]}"
                path += [premise] if premise not in path else []
    return None


def cycles_are_harmless(records: Records, build: Build, random: Random) -> str | None:
    """Two objects that nothing reaches, linked to each other, stay so, and so does all else."""
    before = build(records, HOME)
    objects = sorted(name for name in before.objects() if name not in before.bad and name not in before.threatened)
    if not objects:
        return None
    one, other = random.choice(objects)[1], random.choice(objects)[1]
    ring = [linked(At("to", 1, "fresh"), one, [other]), linked(At("fro", 2, "fresh"), other, [one])]
    return same_memory(build([*records, *ring], HOME), before, FAR_US)


def withdrawals_name_their_causes(records: Records, build: Build, random: Random) -> str | None:
    """I-9: what is withdrawn has a cause, and what is not has none."""
    oracle = build(records, HOME)
    for slot in oracle.beliefs:
        causes = oracle.why_causes(slot[1], slot[2], slot[0])
        many = oracle.policy.predicate(slot[2]).many
        if not many and bool(causes) != (oracle.answer(slot).status == "withdrawn"):
            return f"{slot} is {oracle.answer(slot)} with the causes {causes}"
    return None
