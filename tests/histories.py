"""Random histories in small universes, made to collide: few subjects, names and times, every kind of event.

`histories(seed, size)` is a function of its arguments alone. `history_strategy` hands the same to hypothesis, which
shrinks by dropping events; `smallest` does so for a seeded failure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st
from tether_schemas.facts import AdvisoryIssued, FactRecord
from tether_schemas.refs import Ref
from tether_schemas.times import us_text

from tests.records import (
    HOME,
    OTHER,
    PUBLIC,
    YEAR_ONE,
    At,
    Named,
    arrived,
    claim,
    claim_of,
    decided,
    deleted,
    link_of,
    linked,
    message,
    osv,
    policy,
    revoked,
    said,
)

SUBJECTS = (
    *("item:a@1", "item:a@2", "item:b@1", "item:b@2.0", "item:b@odd"),
    *("pkg:pypi/x@1.0", "pkg:pypi/x@1.5", "pkg:pypi/y@2.0", "doc:d@1", "doc:d@2", "key:k", "user:u"),
)
# What a roomy world has besides: much in it is said once, and derives from what nothing has happened to.
ROOM = (
    *(f"pkg:pypi/x@1.{number}" for number in range(12)),
    *(f"pkg:pypi/z{number}@1.0" for number in range(40)),
    *(f"doc:r{number}@1" for number in range(20)),
    *(f"item:r{number}@1" for number in range(4)),
    *(f"user:u{number}" for number in range(20)),
)
BARE = ("item:a", "item:b", "pkg:pypi/x", "doc:d")
PREDICATES = ("passes", "passes", "passes", "audited", "licence", "note", "note", "tags", "wary")
AUTHORITIES = ("unknown", "unknown", "inferred", "user-direct", "system-of-record")
MODES = ("explicit", "explicit", "extracted", "inferred", "synthesized")
SOURCES = ("ci", "hub", "bot")
POLICY: dict[str, dict[str, Any]] = {
    "audited": {"verdict": True},
    "licence": {"rests_on_subject": True},
    "tags": {"many": True},
    "wary": {"possible": "withdraw"},
}


@dataclass
class World:
    """What one history can name so far, and its clock."""

    random: Random
    size: int
    subjects: list[str]
    roomy: bool = False
    now: int = 10
    records: list[FactRecord] = field(default_factory=list[FactRecord])

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def at(self, *, public: float = 0.0, prefix: str = "e") -> At:
        """The next event's place: mostly a little later, sometimes at the same time or back in time."""
        self.now += self.random.choice((0, 1, 1, 1, 2, 3))
        time = max(1, self.now - self.random.randint(3, 12)) if self.chance(0.15) else self.now
        namespace = PUBLIC if self.chance(public) else HOME if self.chance(0.85) else OTHER
        source = self.random.choice(SOURCES) if namespace != PUBLIC else self.random.choice(("osv", "feed"))
        session = self.random.choice((None, "s1", "s2"))
        return At(f"{prefix}{len(self.records)}", time, source, namespace, session=session)

    def subject(self) -> str:
        return self.random.choice(self.subjects)

    def with_facts(self, kind: str) -> list[FactRecord]:
        return [one for one in self.records if any(fact.type == kind for fact in one.facts)]

    def some(self, kind: str) -> FactRecord | None:
        """A record with such a fact, the late ones more often."""
        found = self.with_facts(kind)
        return self.random.choice(found[-8:] if self.chance(0.7) else found) if found else None

    def assertion(self) -> str | None:
        one = self.some("Asserted")
        return None if one is None else claim_of(one, self.random.randrange(len(one.facts) - 1))

    def any_evidence(self) -> tuple[str, str]:
        """(source, id) of some event: earlier, later, or never to be."""
        if self.records and self.chance(0.75):
            one = self.random.choice(self.records)
            return one.source, one.id
        return self.random.choice(SOURCES), f"e{self.random.randrange(self.size + 3)}"

    def ref(self) -> Named:
        roll = self.random.random() * (0.55 if self.roomy else 1)
        name = self.assertion()
        if roll < 0.45 or (name is None and roll < 0.8):
            return self.subject()
        if roll < 0.8 and name is not None:
            return name
        if roll < 0.83:
            return Ref(kind="assertion", text=f"as_{self.random.randrange(3):032x}")
        return self.any_evidence()

    def refs(self) -> list[Named]:
        return [self.ref() for _ in range(self.random.choice((0, 0, 0, 1, 1, 2)))]


def bare(subject: str) -> str:
    """The subject without its version, or as it is."""
    return next((name for name in BARE if subject.startswith(name + "@")), subject)


def _value(world: World, predicate: str) -> Any:
    if predicate in ("passes", "audited") and not (predicate == "audited" and world.chance(0.05)):
        return world.chance(0.7)
    return world.random.choice(("red", "blue", 1, 1.0, False, ["x"]) if world.chance(0.3) else ("red", "blue"))


def _claim(world: World, at: At) -> dict[str, Any]:
    random, predicate = world.random, world.random.choice(PREDICATES)
    subject = world.subject()
    if predicate != "passes" and world.chance(0.12):
        subject = bare(subject)
    value = _value(world, predicate)
    fields: dict[str, Any] = {
        "issuer": f"{at.source}#{random.choice('ab')}",
        "authority": random.choice(AUTHORITIES),
        "mode": random.choice(MODES) if world.chance(0.4) else "explicit",
        "scope": "east" if world.chance(0.15) else "",
        "premises": world.refs(),
        "possible": world.refs() if world.chance(0.1 if world.roomy else 0.35) else [],
        "premises_complete": world.chance(0.4),
        "confidence": random.choice((None, None, 0.2, 0.9)),
    }
    if world.chance(0.15):
        fields["observed_at"] = max(0, at.time - random.randint(-6, 10))
    if world.chance(0.12) and not (predicate == "passes" and value is False):
        fields["expires_at"] = at.time + random.randint(-4, 25)
    if world.chance(0.2) and predicate != "passes" and not (predicate == "audited" and world.chance(0.8)):
        fields["valid_from"] = random.choice((None, at.time + random.randint(-8, 8)))
        fields["valid_to"] = random.choice((None, at.time + random.randint(-4, 25)))
    return claim(subject, predicate, value, **fields)


def _claims(world: World) -> FactRecord:
    at = world.at()
    return said(at, *(_claim(world, at) for _ in range(world.random.choice((1, 1, 1, 1, 2, 3)))))


def _restated(world: World) -> FactRecord:
    """The same slot again, by the same issuer or another: what succession and disputes are made of."""
    one = world.some("Asserted")
    if one is None or one.namespace == PUBLIC:
        return _claims(world)
    at = world.at()
    at = At(at.id, at.time, one.source if world.chance(0.6) else at.source, one.namespace, session=at.session)
    before: Any = one.facts[1]
    fields: dict[str, Any] = {"issuer": before.issuer if at.source == one.source else f"{at.source}#a"}
    fields["authority"] = before.authority if world.chance(0.6) else world.random.choice(AUTHORITIES)
    premises: list[Named] = world.refs()
    if world.chance(0.3):
        premises.append(before.assertion_id)  # it quotes what it follows
    value = before.value if world.chance(0.35) else _value(world, before.predicate)
    fields |= {"scope": before.scope, "premises": premises, "premises_complete": world.chance(0.4)}
    return said(at, claim(before.subject, before.predicate, value, **fields))


def _chorus(world: World) -> FactRecord:
    """Several issuers of one source on one slot, of equal standing: what ties and corroboration are made of."""
    at, subject, predicate = world.at(), world.subject(), world.random.choice(("note", "licence", "passes"))
    premises: list[Named] = world.refs() if world.chance(0.3) else []
    claims: list[dict[str, Any]] = []
    for name in "abcd"[: world.random.randint(2, 4)]:
        value = world.chance(0.7) if predicate == "passes" else world.random.choice(("red", "blue"))
        derived = premises if world.chance(0.5) else []
        claims.append(claim(subject, predicate, value, issuer=f"{at.source}#{name}", premises=derived))
    return said(at, *claims)


def _link(world: World) -> FactRecord:
    dependent, premises = world.ref(), [world.ref() for _ in range(world.random.choice((1, 1, 2)))]
    if world.chance(0.05):
        premises.append(dependent)
    return linked(world.at(), dependent, premises, "possible" if world.chance(0.35) else "stated")


def _advisory(world: World) -> FactRecord:
    at, random = world.at(public=0.5, prefix="a"), world.random
    before = world.some("AdvisoryIssued")
    name = f"ADV-{random.randrange(4)}"
    if before is not None and world.chance(0.6):  # another revision of it
        issued = next(fact for fact in before.facts if isinstance(fact, AdvisoryIssued))
        at, name = At(at.id, at.time, before.source, before.namespace), issued.advisory_id
    if world.chance(0.25):
        bounds = ({"introduced": "0"}, {"fixed": "1.5"}) if world.chance(0.5) else ({"introduced": "1.2"},)
        return osv(at, name, "x", *bounds, withdrawn=world.chance(0.3))
    subjects = [world.subject() for _ in range(random.choice((1, 1, 2)))]
    if world.chance(0.3):
        subjects[0] = bare(subjects[0])
    modified = YEAR_ONE if world.chance(0.3) else us_text(max(0, at.time + random.randint(-5, 2)))
    return revoked(at, name, *subjects, modified=modified, withdrawn=world.chance(0.3))


def _deletion(world: World) -> FactRecord:
    at, random = world.at(prefix="d"), world.random
    source, name = world.any_evidence()
    roll = random.random()
    until: int | str | None = "own"
    if roll < 0.55:
        target: dict[str, Any] = {"evidence": {"source": source, "id": name}}
    elif roll < 0.65:
        target, until = {"source": source}, random.choice(("own", max(0, at.time - 15), max(0, at.time - 25)))
    elif roll < 0.82:
        target = {"source": source, "session_id": random.choice(("s1", "s2"))}
    else:
        subject = world.subject()
        target = {"subject": bare(subject) if world.chance(0.5) else subject}
    if until == "own" and world.chance(0.4):
        until = random.choice((None, at.time + 6, max(0, at.time - 8)))
    return deleted(at, target, until)


def _decision(world: World) -> FactRecord:
    at, random = world.at(public=0.15, prefix="c"), world.random
    action = "invalidate" if world.chance(0.65) else "restore"
    earlier = world.some("Decided")
    if earlier is not None and world.chance(0.35):  # decided again
        target: dict[str, Any] = next(f for f in earlier.facts if f.type == "Decided").target.model_dump()
        if not (at.namespace == PUBLIC and "assertion" in target):
            return decided(at, action, target)
    kind, one = random.choice(("evidence", "evidence", "source", "claim", "claim", "link", "advisory")), None
    if kind == "claim" and at.namespace != PUBLIC and (name := world.assertion()):
        return decided(at, action, {"assertion": name})
    if kind == "link" and at.namespace != PUBLIC and (one := world.some("Linked")):
        return decided(at, action, {"assertion": link_of(one)})
    if kind in ("advisory", "claim", "link"):
        return decided(at, action, {"advisory": f"ADV-{random.randrange(4)}"})
    one = world.some("AdvisoryIssued") if at.namespace == PUBLIC or world.chance(0.2) else None
    source, name = (one.source, one.id) if one is not None else world.any_evidence()
    return decided(at, action, {"source": source} if kind == "source" else {"evidence": {"source": source, "id": name}})


def _policy(world: World) -> FactRecord:
    random = world.random
    predicates = {name: rules for name, rules in POLICY.items() if world.chance(0.85)}
    if world.chance(0.1):
        predicates["note"] = random.choice(({"rests_on_subject": True}, {"many": True}, {"possible": "withdraw"}))
    if world.chance(0.15):
        predicates["passes"] = random.choice(({"verdict": False}, {"verdict": True, "possible": "withdraw"}))
    schemes: dict[str, Any] = {}
    if world.chance(0.3):
        schemes["doc"] = {"higher_version": world.chance(0.5)}
    if world.chance(0.2):
        schemes[random.choice(("item", "pkg"))] = {"higher_version": world.chance(0.5), "versioned": world.chance(0.9)}
    sources: dict[str, Any] = {}
    for name in SOURCES:
        if world.chance(0.15):
            sources[name] = {"issuer": "house"} if world.chance(0.5) else {"authority_max": random.choice(AUTHORITIES)}
    return policy(world.at(public=0.3, prefix="p"), predicates=predicates, schemes=schemes, sources=sources)


def _again(world: World) -> FactRecord:
    """A duplicate of an earlier event, or (seldom) other content under its name."""
    if not world.records:
        return _claims(world)
    one = world.random.choice(world.records)
    if world.chance(0.8):
        return one
    at = world.at()
    return one if one.namespace == PUBLIC else said(At(one.id, at.time, one.source, one.namespace), _claim(world, at))


MAKERS: tuple[tuple[Callable[[World], FactRecord], int], ...] = (
    (_claims, 34),
    (_chorus, 4), (_restated, 16), (_link, 12), (_advisory, 11), (_deletion, 6), (_decision, 9), (_policy, 2),
    (_again, 4), (lambda world: message(world.at(prefix="e")), 4),
)  # fmt: skip


def histories(seed: int, size: int, roomy: bool = False) -> list[FactRecord]:
    """A history of `size` events, in order of arrival: mostly that of their making, at times shuffled whole.

    `roomy`: over more subjects than it has events, and most premises are objects, so that much of it is plain.
    """
    random = Random(seed)
    world = World(random, size, subjects=random.sample(SUBJECTS, random.randint(3, 7)))
    if roomy:
        world.roomy = True
        world.subjects += random.sample(ROOM, random.randint(10, len(ROOM)))
    makers, weights = zip(*MAKERS, strict=True)
    for place in range(size):
        make = _policy if place == 0 and world.chance(0.8) else random.choices(makers, weights)[0]
        world.records.append(make(world))
    if world.chance(0.3):
        random.shuffle(world.records)
    return [arrived(one, order) for order, one in enumerate(world.records, 100)]


def history_strategy(size_max: int = 30) -> st.SearchStrategy[list[FactRecord]]:
    """Histories for hypothesis: a seed, and for each event whether it is kept (0: dropped, which shrinking tries)."""

    def kept(seed: int) -> st.SearchStrategy[list[FactRecord]]:
        records = histories(seed, size_max)
        keeps = st.lists(st.integers(0, 9), min_size=len(records), max_size=len(records))
        return keeps.map(lambda keep: [one for one, number in zip(records, keep, strict=True) if number])

    return st.integers(0, 2**32 - 1).flatmap(kept)


def smallest(records: Sequence[FactRecord], fails: Callable[[list[FactRecord]], bool]) -> list[FactRecord]:
    """The records that are left when no single one can be dropped without `fails` coming out false."""
    left = list(records)
    shrunk = True
    while shrunk:
        shrunk = False
        for place in reversed(range(len(left))):
            fewer = left[:place] + left[place + 1 :]
            if fails(fewer):
                left, shrunk = fewer, True
    return left
