"""The random histories are rich: everything that the rule speaks of occurs in many of them."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tether_schemas.facts import AdvisoryIssued, Asserted, Decided, EvidenceDeleted, FactRecord, Linked
from tether_schemas.times import time_us

from tests.histories import histories
from tests.oracle import Oracle
from tests.oracle_slots import Said, belief
from tests.records import HOME, OTHER, PUBLIC

SEEDS = range(700)
RARE = 6  # histories of 700 that at least show even the rarest feature

# What the rule speaks of, beyond what rows and kinds of facts name.
FEATURES: dict[str, Callable[[Oracle], bool]] = {
    "erased by transitivity alone": lambda one: any(
        ("evidence", said.source, said.event) not in one.deleted and _derived(one, said) for said in _erased(one)
    ),
    "a ghost supersedes": lambda one: any(
        said.id in one.erased and any(other.id in held.superseded and other.issuer == said.issuer for other in made)
        for said, held, made in _in_slots(one)
    ),
    "a false verdict is lifted by authority": lambda one: any(
        said in held.present and said.rules.verdict and said.fact.value is False and "true" in held.held
        for said, held, _ in _in_slots(one)
    ),
    "restated": lambda one: any(
        said in held.standing and said not in held.present and said.value_key in held.held
        for said, held, _ in _in_slots(one)
    ),
    "more issuers decide": lambda one: any(
        len({said.value_key for said in held.standing if said.pair == max(said.pair for said in held.standing)}) > 1
        and len(held.held) == 1
        for held in one.beliefs.values()
        if held.standing and not held.standing[0].rules.verdict
    ),
    "an impossible verdict": lambda one: any(
        said.rules.verdict and not isinstance(said.fact.value, bool) for said in one.said.values()
    ),
    "rule 3: a verdict speaks": lambda one: any(one.speaks(said) for said in _retold_verdicts(one)),
    "rule 3: a verdict is silenced": lambda one: any(not one.speaks(said) for said in _retold_verdicts(one)),
    "rule 5 exempts": lambda one: any(
        premise in one.bad and one.quotes(dependent, premise) and dependent not in one.reached
        for dependent, premise, _ in one.edges
    ),
    "rule 5 to the own subject": lambda one: any(
        premise in one.bad and dependent[0] == "object" and one.quotes(dependent, premise)
        for dependent, premise, _ in one.edges
    ),
    "a derivation from itself": lambda one: any(dependent == premise for dependent, premise, _ in one.edges),
    "a cycle of two": lambda one: any(
        dependent != premise and (premise, dependent, stated) in one.edges for dependent, premise, stated in one.edges
    ),
    "belief at read differs": lambda one: any(
        belief([said for said in one.of(slot) if said.valid(one.asked_us(slot))]).held != held.held
        for slot, held in one.beliefs.items()
    ),
    "a local decision on a public advisory": lambda one: _decided_public(one),
    "one issuer across sources": lambda one: any(said.issuer[0] == "across" for said in one.said.values()),
    "authority is capped": lambda one: any(
        source.authority_max is not None and said.source == name
        for said in one.said.values()
        for name, source in one.policy.sources.items()
    ),
    "a threatened answer": lambda one: any(one.answer(slot).coverage == "threatened" for slot in one.beliefs),
    "a held false is served": lambda one: any(
        one.answer(slot).value is False and made[0].rules.verdict for slot in one.beliefs if (made := one.of(slot))
    ),
    "observed at another time": lambda one: any(
        time_us(fact.observed_at) != record.time_us for record, fact in one.facts[Asserted]
    ),
}


def _erased(one: Oracle) -> Iterator[Said]:
    return (said for said in one.said.values() if said.id in one.erased)


def _derived(one: Oracle, said: Said) -> bool:
    gone = {("assertion", name) for name in one.erased} | one.deleted
    return any(stated and node in gone for node, stated in said.on_record)


def _in_slots(one: Oracle) -> Iterator[tuple[Said, Any, list[Said]]]:
    return ((said, one.beliefs[said.slot], one.of(said.slot)) for said in one.said.values())


def _retold_verdicts(one: Oracle) -> Iterator[Said]:
    return (said for said in one.said.values() if said.rules.verdict and said.counts and said.retold)


def _decided_public(one: Oracle) -> bool:
    own = [fact.target for record, fact in one.facts[Decided] if record.namespace == HOME]
    names = {fact.advisory_id for record, fact in one.facts[AdvisoryIssued] if record.namespace == PUBLIC}
    return any(getattr(target, "advisory", None) in names for target in own)


def _rows(one: Oracle) -> Iterator[str]:
    """What the rows show: each status, coverage, stance (of ghosts too), cause and flag."""
    for kind, *fields in one.snapshot():
        if kind == "memory":
            yield f"status {fields[4]}"
            yield f"coverage {fields[6]}"
        elif kind == "assertion":
            yield f"stance {fields[1]}, erased {fields[2]}"
            yield f"assertion reached {fields[3]}, threatened {fields[4]}"
        elif kind == "object":
            yield from (f"cause {cause[0]}" for cause in fields[1])
            yield f"object reached {fields[2]}, threatened {fields[3]}"
        else:
            yield f"evidence {fields[2]}, invalidated {fields[3]}, tombstoned {fields[4]}"
    for said in one.said.values():
        for kind, node, _ in one.why_causes(said.slot[1], said.slot[2], said.slot[0]):
            yield f"why {kind}, {'evidence' if node.startswith('[') else node.partition(':')[0][:3]}"


def _facts(records: list[FactRecord]) -> Iterator[str]:
    """What the facts are: each kind of target, reference, grade, advisory and namespace."""
    names = Counter((one.namespace, one.source, one.id) for one in records)
    hashes = {(one.namespace, one.source, one.id, one.content_hash) for one in records}
    yield from ("duplicate" for count in names.values() if count > 1)
    yield from ("contested" for _ in range(len(hashes) - len(names)))
    for one in records:
        yield f"in {one.namespace}"
        for fact in one.facts:
            if isinstance(fact, Asserted):
                yield from (f"{grade} {ref.kind}" for grade in ("premises", "possible") for ref in getattr(fact, grade))
                yield from (name for name in ("valid_from", "valid_to", "expires_at") if getattr(fact, name))
                yield f"authority {fact.authority}"
                yield f"mode {fact.mode}"
            elif isinstance(fact, Linked):
                yield from (f"link {fact.grade} {fact.dependent.kind} to {ref.kind}" for ref in fact.premises)
            elif isinstance(fact, EvidenceDeleted):
                until = (
                    "ever" if fact.until_us is None else "later" if fact.until_us > one.time_us else "now or earlier"
                )
                yield f"deletes {type(fact.target).__name__}"
                yield f"deletes until {until}"
            elif isinstance(fact, Decided):
                yield f"{fact.action} {type(fact.target).__name__} in {'*' if one.namespace == PUBLIC else 'own'}"
            elif isinstance(fact, AdvisoryIssued):
                yield f"{fact.format}, withdrawn {fact.withdrawn is not None}, year {min(int(fact.modified[:4]), 2)}"


EXPECTED = {
    *(
        f"status {name}"
        for name in ["current", "withdrawn", "disputed", "tombstoned", "expired", "invalidated", "unknown"]
    ),
    *(f"coverage {name}" for name in ("complete", "unknown", "threatened")),
    *(
        f"stance {name}, erased {erased}"
        for name in ("standing", "superseded", "outranked", "disputed", "invalidated")
        for erased in (True, False)
    ),
    *(f"cause {name}" for name in ("advisory", "failed", "higher_version")),
    *("assertion reached False, threatened True", "object reached False, threatened True"),
    *(f"evidence tool_result, invalidated {a}, tombstoned {b}" for a in (True, False) for b in (True, False)),
    *(f"why {kind}, as_" for kind in ("superseded", "outranked", "disputed", "invalidated")),
    *("why invalidated, evidence", "why tombstoned, as_", "why tombstoned, evidence", "why advisory, pkg"),
    *("why revocation, ite", "why failed, ite", "why higher_version, ite", "duplicate", "contested"),
    *(f"in {namespace}" for namespace in (HOME, OTHER, PUBLIC)),
    *(f"{grade} {kind}" for grade in ("premises", "possible") for kind in ("object", "assertion", "evidence")),
    *(
        f"link {grade} {dependent} to {premise}"
        for grade in ("stated", "possible")
        for dependent in ("object", "assertion", "evidence")
        for premise in ("object", "assertion", "evidence")
    ),
    *("valid_from", "valid_to", "expires_at", "deletes until ever", "deletes until later"),
    *("authority unknown", "authority inferred", "authority user-direct", "authority system-of-record"),
    *("mode explicit", "mode extracted", "mode inferred", "mode synthesized", "deletes until now or earlier"),
    *(f"deletes {name}Target" for name in ("Evidence", "Source", "Session", "Subject")),
    *(
        f"{action} {name}Target in {where}"
        for action in ("invalidate", "restore")
        for where in ("own", "*")
        for name in ("Evidence", "Source", "Assertion", "Advisory")
        if not (name == "Assertion" and where == "*")
    ),
    *("revocation, withdrawn True, year 2", "revocation, withdrawn False, year 1", "osv, withdrawn False, year 2"),
    *("osv, withdrawn True, year 2", *FEATURES),
}


def test_everything_that_the_rule_speaks_of_occurs_in_many_histories() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        records = histories(seed, 10 + seed % 40)
        one = Oracle(records, HOME)
        seen.update({*_rows(one), *_facts(records), *(name for name, shows in FEATURES.items() if shows(one))})
    assert {name: seen[name] for name in EXPECTED if seen[name] < RARE} == {}


def test_a_history_is_made_by_its_seed_alone() -> None:
    assert histories(7, 40) == histories(7, 40) != histories(8, 40)
