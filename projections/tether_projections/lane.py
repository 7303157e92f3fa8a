"""The lane: what is plain of a batch, and most is, goes into the view column by column instead of fact by fact.

Plain is what changes nothing but itself: new evidence, silent or with one claim that is the first of its slot and rests
on objects of which none is bad or reached. So nothing becomes bad, reached, superseded or erased by it; every claim is
current. The rule does not look at order (I-2): plain records are taken first, the others after them as ever. The ids
that a plain record gets, and its rows, are those that it would get if it were not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tether_schemas.facts import Asserted, FactRecord
from tether_schemas.subjects import Subject

from tether_projections.advisories import Object
from tether_projections.keys import Digest, digests
from tether_projections.sieve import Manner, Sieve
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, OBJECT_KIND, State

LANE_MIN = 32  # below so many records columns cost more than they save

Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]


@dataclass(slots=True)
class Claims:
    """The claims of plain records, side by side: the place of each in the batch, its record, fact and manner.

    `nodes` are those of their subjects and premises, one claim after the other: the subject comes first, at `first`.
    What has none yet stands there as -1 - its place in `fresh`.
    """

    places: list[int]
    records: list[FactRecord]
    facts: list[Asserted]
    manners: list[Manner]
    first: NDArray[np.int64]
    owner: NDArray[np.int64]  # of each of `nodes`: whose it is
    nodes: Ints
    fresh: "list[Fresh]"

    @property
    def subjects(self) -> Ints:
        """The node of each claim's subject."""
        return self.nodes[self.first]


@dataclass(frozen=True, slots=True)
class Fresh:
    """An object that is new with this batch; `at` is where it is named first."""

    namespace: str
    text: str
    subject: Subject
    key: Digest
    at: int


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids that plain records get: of their evidence, of their claims, of new objects and of slots."""

    evidence: Ints
    assertions: Ints
    objects: Ints
    slots: Ints
    next: int


@dataclass(frozen=True, slots=True)
class Plain:
    """The plain records of a batch, taken in."""

    records: list[FactRecord]
    keys: list[Digest]
    claims: Claims
    asserts: NDArray[np.int64]  # of each claim: the place of its record among `records`
    ids: Ids
    claim_keys: list[Digest]
    slot_keys: list[Digest]
    supports: Ints  # of each claim: the node that decides over it, 0: none
    edges: tuple[Ints, Ints]  # dependents and premises
    via: Ints  # of each edge: the assertion that says so


class Lane:
    """Finds what is plain of a batch and takes it into the state; its rows are written by lanerows.py."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sieve = Sieve(state)

    def take(self, records: Sequence[FactRecord], keys: Sequence[Digest], least: int) -> Plain | None:
        """Take in the plain records, if there are at least so many; `keys` are those of the records' evidence."""
        if len(records) < least or self._state.keys.inherits:
            return None
        places = self._sieve.plain(records, keys)
        claims = self._claims(records, [place for place in places if len(records[place].facts) > 1])
        odd = self._odd(claims)
        if odd.any():
            gone = {claims.places[at] for at in np.flatnonzero(odd).tolist()}
            places = [place for place in places if place not in gone]
            claims = self._claims(records, [place for place in claims.places if place not in gone])
        if len(places) < max(1, least):
            return None
        plain = self._named(records, keys, places, claims)
        self._note(plain)
        return plain

    def _claims(self, records: Sequence[FactRecord], places: list[int]) -> Claims:
        own = [records[place] for place in places]
        facts = [fact for record in own for fact in record.facts[1:] if isinstance(fact, Asserted)]
        recent, nodes, sizes = self._state.recent, list[int](), list[int]()
        for record, fact in zip(own, facts, strict=True):
            known = recent.of(record.namespace)
            nodes.append(known.get(fact.subject, 0))
            nodes += [known.get(ref.text, 0) for ref in fact.premises]
            sizes.append(1 + len(fact.premises))
        size = np.array(sizes, np.int64)
        manners = [self._sieve.manner(record, fact) for record, fact in zip(own, facts, strict=True)]
        claims = Claims(
            places, own, facts, [manner for manner in manners if manner is not None], np.cumsum(size) - size,
            np.repeat(np.arange(len(own)), size), np.array(nodes, np.int32), [],
        )  # fmt: skip
        self._resolve(claims)
        return claims

    def _resolve(self, claims: Claims) -> None:
        """Look up the names that were not met lately."""
        state = self._state
        unknown = np.flatnonzero(claims.nodes == 0).tolist()
        if not unknown:
            return
        named = [self._name(claims, at) for at in unknown]
        first = dict(zip(reversed(named), reversed(unknown), strict=True))
        names = list(dict.fromkeys(named))
        keys = digests("object", [(namespace,) for namespace, _ in names], [text for _, text in names])
        nodes: dict[tuple[str, str], int] = {}
        for name, key, node in zip(names, keys, state.keys.find(keys).tolist(), strict=True):
            namespace, text = name
            if node:
                state.recent.note(namespace, text, node)
            else:
                node = -1 - len(claims.fresh)
                claims.fresh.append(Fresh(namespace, text, state.policies.subject(namespace, text), key, first[name]))
            nodes[name] = node
        claims.nodes[unknown] = [nodes[name] for name in named]

    @staticmethod
    def _name(claims: Claims, at: int) -> tuple[str, str]:
        owner = int(claims.owner[at])
        fact, place = claims.facts[owner], at - int(claims.first[owner])
        return claims.records[owner].namespace, fact.premises[place - 1].text if place else fact.subject

    def _odd(self, claims: Claims) -> Bools:
        """Claims that are not plain, seen beside all others."""
        odd = np.zeros(len(claims.facts), bool)
        if not len(odd):
            return odd
        odd[claims.owner[self._down(claims)]] = True
        slots = [
            (record.namespace, fact.subject, fact.predicate, fact.scope)
            for record, fact in zip(claims.records, claims.facts, strict=True)
        ]
        if len(set(slots)) < len(slots):
            odd |= np.array([times > 1 for times in map(Counter(slots).__getitem__, slots)])
        odd |= self._state.keys.find(self._claim_keys(claims)) != 0
        old = np.flatnonzero(claims.subjects > 0)
        if len(old):
            odd[old] |= self._state.keys.find([self._slot_key(claims, at) for at in old.tolist()]) != 0
        policies = self._state.policies
        for at, (record, fact, manner) in enumerate(zip(claims.records, claims.facts, claims.manners, strict=True)):
            if manner.verdict:
                subject = policies.subject(record.namespace, fact.subject)
                unfit = subject.version is None and subject.scheme in manner.unfit
                odd[at] |= unfit or subject.scheme in manner.retiring
        return odd

    def _down(self, claims: Claims) -> Bools:
        """Which nodes are bad or reached, or may be so once they are known."""
        state, nodes = self._state, claims.nodes
        old = np.maximum(nodes, 0)
        down = (state.reach.witness[old] >= 0) | (state.badness.hard[old] != 0)
        if state.has_possible:
            down |= state.reach_possible.witness[old] >= 0
        down &= nodes > 0
        if state.advisories or state.on_record:
            watched = np.array([self._is_watched(one) for one in claims.fresh], bool)
            new = np.flatnonzero(nodes < 0)
            down[new] = watched[-1 - nodes[new]]
        return down

    def _is_watched(self, one: Fresh) -> bool:
        """Whether an advisory names an object, or other versions of it are on record."""
        state = self._state
        named = state.advisories.name(Object(0, one.namespace, one.subject))
        return named or (one.namespace, one.subject.base) in state.on_record

    @staticmethod
    def _claim_keys(claims: Claims) -> list[Digest]:
        prefixes = [(record.namespace,) for record in claims.records]
        return digests("assertion", prefixes, [fact.assertion_id for fact in claims.facts])

    @staticmethod
    def _slot_key(claims: Claims, at: int) -> Digest:
        return int(claims.nodes[claims.first[at]]).to_bytes(4, "little") + claims.manners[at].slot_tail

    def _named(self, records: Sequence[FactRecord], keys: Sequence[Digest], places: list[int], claims: Claims) -> Plain:
        """Give ids."""
        asserts = np.searchsorted(np.array(places, np.int64), np.array(claims.places, np.int64))
        ids = _ids(self._state.keys.next_id, len(places), claims, asserts)
        new = claims.nodes < 0
        claims.nodes[new] = ids.objects[-1 - claims.nodes[new]]
        own = [keys[place] for place in places]
        claim_keys = self._claim_keys(claims)
        slot_keys = [
            node.to_bytes(4, "little") + manner.slot_tail
            for node, manner in zip(claims.subjects.tolist(), claims.manners, strict=True)
        ]
        every = (*own, *claim_keys, *(one.key for one in claims.fresh), *slot_keys)
        given = np.concatenate([ids.evidence, ids.assertions, ids.objects, ids.slots])
        self._state.keys.add_many(every, given.tolist(), ids.next)
        edges, via = _edges(claims, ids.assertions)
        supports = _supports(claims, ids.assertions)
        plain = [records[place] for place in places]
        return Plain(plain, own, claims, asserts, ids, claim_keys, slot_keys, supports, edges, via)

    def _note(self, plain: Plain) -> None:
        """Bring the state up to date."""
        state, ids = self._state, plain.ids
        state.fit()
        for nodes, kind in (
            (ids.evidence, EVIDENCE_KIND), (ids.assertions, ASSERTION_KIND), (ids.objects, OBJECT_KIND)
        ):  # fmt: skip
            state.kinds[nodes] = kind
        for one, node in zip(plain.claims.fresh, ids.objects.tolist(), strict=True):
            state.recent.note(one.namespace, one.text, node)
        state.shown[ids.slots] = ids.assertions
        state.graph.add_many(plain.edges, plain.via)
        self._note_supports(plain)

    def _note_supports(self, plain: Plain) -> None:
        state = self._state
        decided = np.flatnonzero(plain.supports)
        nodes, slots = plain.supports[decided], plain.ids.slots[decided]
        _, place, times = np.unique(nodes, return_index=True, return_counts=True)
        alone = np.zeros(len(nodes), bool)
        alone[place[times == 1]] = True
        alone &= state.slot_of[nodes] == 0
        state.slot_of[nodes[alone]] = slots[alone]
        for node, slot in zip(nodes[~alone].tolist(), slots[~alone].tolist(), strict=True):
            state.supports(node, slot)


def _ids(first: int, count: int, claims: Claims, asserts: NDArray[np.int64]) -> Ids:
    """Ids from `first` on for so many records, in the order of admission: each has its evidence, and with a claim its
    assertion, its subject if that is new, its slot, and what else is new of its premises."""
    at = np.array([one.at for one in claims.fresh], np.int64)
    owner = claims.owner[at]
    sizes = np.ones(count, np.int64)
    sizes[asserts] += 2 + np.bincount(owner, minlength=len(claims.facts))
    starts = first + np.cumsum(sizes) - sizes
    bases = starts[asserts]
    before = np.arange(len(at)) - np.searchsorted(owner, owner)  # new objects of the same claim that come before
    is_subject = at == claims.first[owner]
    has_new_subject = np.zeros(len(claims.facts), np.int64)
    has_new_subject[owner[is_subject]] = 1
    given = (starts, bases + 1, bases[owner] + 2 + before + ~is_subject, bases + 2 + has_new_subject)
    evidence, assertions, objects, slots = (ids.astype(np.int32) for ids in given)
    return Ids(evidence, assertions, objects, slots, first + int(sizes.sum()))


def _edges(claims: Claims, assertions: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """A verdict's premises are its subject's, another claim's its own (D, 1 and 2)."""
    is_premise = np.ones(len(claims.nodes), bool)
    is_premise[claims.first] = False
    owner = claims.owner[is_premise]
    verdict = np.array([manner.verdict for manner in claims.manners], bool)
    dependents = np.where(verdict, claims.subjects, assertions).astype(np.int32)
    return (dependents[owner], claims.nodes[is_premise]), assertions[owner]


def _supports(claims: Claims, assertions: Ints) -> Ints:
    by_object = np.array([manner.verdict or manner.rests for manner in claims.manners], bool)
    derives = np.diff(claims.first, append=len(claims.nodes)) > 1
    return np.where(by_object, claims.subjects, np.where(derives, assertions, 0)).astype(np.int32)
