"""The lane: what is plain of a batch, and most is, goes into the view column by column instead of fact by fact.

Plain is what changes nothing but itself: new evidence, silent or with one simple claim (sieve.py) that is the first of
its slot, where neither its subject nor what it rests on is bad or reached. So nothing becomes bad, reached, superseded
or erased by it; every claim is current. The rule does not look at order (I-2): plain records are taken first, the rest
after them as ever. The ids that a plain record gets, and its rows, are those that it would get if it were not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, count

import numpy as np
from numpy.typing import NDArray
from tether_schemas.facts import FactRecord
from tether_schemas.subjects import Subject

from tether_projections.advisories import Object
from tether_projections.keys import Digest, digests
from tether_projections.sieve import Manner, Sifted, sift
from tether_projections.state import ASSERTION_KIND, EVIDENCE_KIND, OBJECT_KIND, State
from tether_projections.table import Bools, Column, Table

LANE_MIN = 32  # below so many records columns cost more than they save

Ints = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fresh:
    """The objects that are new with a batch, in the order in which they are named, and where each is so first."""

    namespaces: list[str]
    texts: list[str]
    subjects: list[Subject]
    keys: list[Digest]
    at: Places

    def some(self, numbers: list[int], at: Places) -> "Fresh":
        """Some of them, named elsewhere first."""
        subjects, keys = [self.subjects[number] for number in numbers], [self.keys[number] for number in numbers]
        namespaces, texts = [self.namespaces[number] for number in numbers], [self.texts[number] for number in numbers]
        return Fresh(namespaces, texts, subjects, keys, at)


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims side by side: the fields of their records and their own, the place of each in `manners`, and their keys.

    `nodes` are those of their subjects and premises, one claim after the other, the subject first; `owner` is the claim
    of each. What has no node yet stands there as -1 - its place in `fresh`.
    """

    records: Table
    facts: Table
    manners: list[Manner]
    manner: Places
    keys: list[Digest]
    owner: Places
    nodes: Ints
    fresh: Fresh

    @property
    def first(self) -> Places:
        """Where in `nodes` each claim begins."""
        return np.searchsorted(self.owner, np.arange(self.facts.count))

    @property
    def verdict(self) -> Bools:
        """Which of them are verdicts."""
        return np.array([one.verdict for one in self.manners], bool)[self.manner]

    def tails(self) -> list[bytes]:
        """What their slots' keys end with."""
        tails = [one.slot_tail for one in self.manners]
        return [tails[number] for number in self.manner.tolist()]

    def only(self, kept: Bools) -> "Claims":
        """Some of the claims, and of the new objects those that they name."""
        here = kept[self.owner]
        nodes, owner = self.nodes[here], (np.cumsum(kept) - 1)[self.owner[here]]
        new = np.flatnonzero(nodes < 0)
        numbers, first = np.unique(-1 - nodes[new], return_index=True)
        order = np.argsort(first)
        numbers, at = numbers[order], new[first[order]]
        renumbered = np.zeros(len(self.fresh.texts), np.int32)
        renumbered[numbers] = np.arange(len(numbers))
        nodes[new] = -1 - renumbered[-1 - nodes[new]]
        keys = list(compress(self.keys, kept.tolist()))
        records, facts, manner = self.records.only(kept), self.facts.only(kept), self.manner[kept]
        return Claims(records, facts, self.manners, manner, keys, owner, nodes, self.fresh.some(numbers.tolist(), at))


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

    taken: Bools  # of each record of the batch
    records: Table
    heads: Table
    keys: list[Digest]
    claims: Claims
    asserts: Places  # of each claim: the place of its record among `records`
    ids: Ids
    slot_keys: list[Digest]
    supports: Ints  # of each claim: the node that decides over it, 0: none
    edges: tuple[Ints, Ints]  # dependents and premises
    via: Ints  # of each edge: the assertion that says so


class Lane:
    """Finds what is plain of a batch and takes it into the state; its rows are written by lanerows.py."""

    def __init__(self, state: State) -> None:
        self._state = state

    def take(self, records: Sequence[FactRecord], keys: Sequence[Digest], least: int) -> Plain | None:
        """Take in the plain records, if there are at least so many; `keys` are those of the records' evidence."""
        if len(records) < least or self._state.keys.inherits:
            return None
        sifted = sift(self._state, records, keys)
        if sifted is None:
            return None
        claims = self._claims(sifted)
        odd = self._odd(claims)
        if odd.any():
            places = np.flatnonzero(sifted.said)[odd]
            sifted.plain[places] = sifted.said[places] = False
            claims = claims.only(~odd)
        if int(sifted.plain.sum()) < max(1, least):
            return None
        plain = self._name(sifted, claims, list(compress(keys, sifted.plain.tolist())))
        self._note(plain)
        return plain

    def _claims(self, sifted: Sifted) -> Claims:
        records, facts = sifted.records.only(sifted.said), sifted.claims
        namespaces = records["namespace"]
        keys = digests("assertion", zip(namespaces, strict=True), facts["assertion_id"])
        nodes = self._met(namespaces, sifted)
        fresh = self._look_up(namespaces, sifted, nodes)
        return Claims(records, facts, sifted.manners, sifted.manner, keys, sifted.owner, nodes, fresh)

    def _met(self, namespaces: Column, sifted: Sifted) -> Ints:
        """The nodes of subjects and premises met lately, 0 for others."""
        recent, texts = self._state.recent, sifted.texts
        if len(set(namespaces)) == 1:
            known: dict[str, int] = recent.of(namespaces[0])
            return np.array([known.get(text, 0) for text in texts], np.int32)
        of: list[dict[str, int]] = [recent.of(namespace) for namespace in namespaces]
        owners: list[int] = sifted.owner.tolist()
        return np.array([of[at].get(text, 0) for at, text in zip(owners, texts, strict=True)], np.int32)

    def _look_up(self, namespaces: Column, sifted: Sifted, nodes: Ints) -> Fresh:
        """Find the nodes of the others; what has none is fresh."""
        state = self._state
        unknown = np.flatnonzero(nodes == 0)
        owners: list[int] = sifted.owner[unknown].tolist()
        named = [(namespaces[owner], sifted.texts[at]) for owner, at in zip(owners, unknown.tolist(), strict=True)]
        numbers = dict(zip(dict.fromkeys(named), count(), strict=False))
        number = np.array([numbers[name] for name in named], np.int64)
        _, first = np.unique(number, return_index=True)
        of, texts = [name[0] for name in numbers], [name[1] for name in numbers]
        keys = digests("object", zip(of, strict=True), texts)
        found = state.keys.find(keys)
        known = np.flatnonzero(found)
        state.recent.note([of[at] for at in known], [texts[at] for at in known], found[known].tolist())
        new = np.flatnonzero(found == 0)
        found[new] = -1 - np.arange(len(new))
        nodes[unknown] = found[number]
        subjects = [state.policies.subject(*name) for name in numbers]
        every = Fresh(of, texts, subjects, keys, unknown[first])
        return every if len(new) == len(texts) else every.some(new.tolist(), every.at[new])

    def _odd(self, claims: Claims) -> Bools:
        """Claims that are not plain, seen beside all others."""
        odd = np.zeros(claims.facts.count, bool)
        if not len(odd):
            return odd
        odd[claims.owner[self._down(claims)]] = True
        facts = claims.facts
        named = (claims.records["namespace"], *(facts[name] for name in ("subject", "predicate", "scope")))
        slots = list(zip(*named, strict=True))
        if len(set(slots)) < len(slots):
            odd |= np.array([times > 1 for times in map(Counter(slots).__getitem__, slots)], bool)
        odd |= self._state.keys.find(claims.keys) != 0
        subjects = claims.nodes[claims.first]
        old = np.flatnonzero(subjects > 0)
        if len(old):
            tails = claims.tails()
            keys = list(map(_slot_key, subjects[old].tolist(), [tails[at] for at in old.tolist()]))
            odd[old] |= self._state.keys.find(keys) != 0
        return odd | (self._unfit(claims, subjects) & claims.verdict)

    def _unfit(self, claims: Claims, subjects: Ints) -> Bools:
        """Claims about what a true verdict is impossible for, or what it puts on record."""
        policies, fresh = self._state.policies, claims.fresh
        unfit = np.zeros(len(subjects), bool)
        new = np.flatnonzero(subjects < 0)
        special = list(map(policies.is_special, fresh.namespaces, fresh.subjects))
        unfit[new] = np.array(special, bool)[-1 - subjects[new]]
        for at in np.flatnonzero(subjects > 0).tolist():
            namespace = claims.records["namespace"][at]
            unfit[at] = policies.is_special(namespace, policies.subject(namespace, claims.facts["subject"][at]))
        return unfit

    def _down(self, claims: Claims) -> Bools:
        """Which nodes are bad or reached, or may be so once they are known."""
        state, nodes = self._state, claims.nodes
        old = np.maximum(nodes, 0)
        down = (state.reach.witness[old] >= 0) | (state.badness.hard[old] != 0)
        if state.has_possible:
            down |= state.reach_possible.witness[old] >= 0
        down &= nodes > 0
        if state.advisories or state.on_record:
            fresh = claims.fresh
            watched = list(map(self._is_watched, fresh.namespaces, fresh.subjects))
            new = np.flatnonzero(nodes < 0)
            down[new] = np.array(watched, bool)[-1 - nodes[new]]
        return down

    def _is_watched(self, namespace: str, subject: Subject) -> bool:
        """Whether an advisory names an object, or other versions of it are on record."""
        state = self._state
        return state.advisories.name(Object(0, namespace, subject)) or (namespace, subject.base) in state.on_record

    def _name(self, sifted: Sifted, claims: Claims, keys: list[Digest]) -> Plain:
        """Give ids."""
        asserts = np.flatnonzero(sifted.said[sifted.plain])
        ids = _ids(self._state.keys.next_id, len(keys), claims, asserts)
        nodes = claims.nodes
        new = nodes < 0
        nodes[new] = ids.objects[-1 - nodes[new]]
        slot_keys = list(map(_slot_key, nodes[claims.first].tolist(), claims.tails()))
        every = (*keys, *claims.keys, *claims.fresh.keys, *slot_keys)
        given = np.concatenate([ids.evidence, ids.assertions, ids.objects, ids.slots])
        self._state.keys.add_many(every, given.tolist(), ids.next)
        records, heads = sifted.records.only(sifted.plain), sifted.heads.only(sifted.plain)
        edges, via = _edges(claims, ids.assertions)
        supports = _supports(claims, ids.assertions)
        return Plain(sifted.plain, records, heads, keys, claims, asserts, ids, slot_keys, supports, edges, via)

    def _note(self, plain: Plain) -> None:
        """Bring the state up to date."""
        state, ids, fresh = self._state, plain.ids, plain.claims.fresh
        state.fit()
        for nodes, kind in (
            (ids.evidence, EVIDENCE_KIND), (ids.assertions, ASSERTION_KIND), (ids.objects, OBJECT_KIND)
        ):  # fmt: skip
            state.kinds[nodes] = kind
        state.recent.note(fresh.namespaces, fresh.texts, ids.objects.tolist())
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


def _slot_key(subject: int, tail: bytes) -> Digest:
    return subject.to_bytes(4, "little") + tail


def _ids(first: int, count: int, claims: Claims, asserts: Places) -> Ids:
    """Ids from `first` on for so many records, in the order of admission: each has its evidence, and with a claim its
    assertion, its subject if that is new, its slot, and what else is new of its premises."""
    at, begins = claims.fresh.at, claims.first
    owner = claims.owner[at]
    sizes = np.ones(count, np.int64)
    sizes[asserts] += 2 + np.bincount(owner, minlength=len(asserts))
    starts = first + np.cumsum(sizes) - sizes
    bases = starts[asserts]
    before = np.arange(len(at)) - np.searchsorted(owner, owner)  # new objects of the same claim that come before
    is_subject = at == begins[owner]
    has_new_subject = np.zeros(len(asserts), np.int64)
    has_new_subject[owner[is_subject]] = 1
    given = (starts, bases + 1, bases[owner] + 2 + before + ~is_subject, bases + 2 + has_new_subject)
    evidence, assertions, objects, slots = (ids.astype(np.int32) for ids in given)
    return Ids(evidence, assertions, objects, slots, first + int(sizes.sum()))


def _edges(claims: Claims, assertions: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """A verdict's premises are its subject's, another claim's its own (D, 1 and 2)."""
    is_premise = np.ones(len(claims.nodes), bool)
    is_premise[claims.first] = False
    owner = claims.owner[is_premise]
    dependents = np.where(claims.verdict, claims.nodes[claims.first], assertions).astype(np.int32)
    return (dependents[owner], claims.nodes[is_premise]), assertions[owner]


def _supports(claims: Claims, assertions: Ints) -> Ints:
    """The node whose being down means withdrawn: the subject where a claim rests on it, else its own if it derives."""
    rests = np.array([one.verdict or one.rests for one in claims.manners], bool)[claims.manner]
    first = claims.first
    derives = np.diff(first, append=len(claims.nodes)) > 1
    return np.where(rests, claims.nodes[first], np.where(derives, assertions, 0)).astype(np.int32)
