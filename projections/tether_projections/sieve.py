"""Which records of a batch are plain by themselves: new evidence that says at most one thing, a simple one.

A simple claim is of one value, valid without end, for everyone, and rests on objects alone. Whether it is about what is
bad or was said before is for the lane to see (lane.py).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from tether_schemas.facts import Asserted, EvidenceRecorded, FactRecord

from tether_projections.governance import Origin, PolicyBook
from tether_projections.keys import Digest, slot_tail
from tether_projections.state import State
from tether_projections.table import Bools, Table

KINDS = ("tool_result", "transcript")
OF_RECORD = (
    "namespace", "source", "id", "event_type", "time", "time_us", "recorded_us", "topic", "partition", "offset",
    "content_hash", "extractor", "rules", "facts",
)  # fmt: skip
OF_HEAD = ("kind", "session_id", "seq", "role", "tool", "call_id")
OF_MANNER = ("issuer", "authority", "predicate", "scope")
UNSET = ("valid_from", "valid_to", "expires_at", "readers", "value_key")
OF_CLAIM = (
    "assertion_id", "place", "subject", "predicate", "value", "scope", "issuer", "memory_type", "mode", "observed_at",
    "review_at", "authority", "confidence", "sensitivity", "premises", "possible", "premises_complete",
    "original_text", "write_reason", *UNSET,
)  # fmt: skip

Mark = tuple[str, str, str, str, str, str]  # namespace, source, issuer, authority, predicate, scope


@dataclass(frozen=True, slots=True)
class Manner:
    """What policy says of the claims of one issuer in one manner; `plain`: they may be so."""

    plain: bool
    verdict: bool
    rests: bool
    authority: int
    issuer_key: str
    slot_tail: bytes


@dataclass(frozen=True, slots=True)
class Sifted:
    """A batch sifted: what may be plain of it, and the claims of these records, which are simple.

    `manner` is the place in `manners` of each claim. `texts` are those of subjects and premises, one claim after the
    other, the subject first; `owner` is the claim of each.
    """

    records: Table
    heads: Table
    plain: Bools  # of each record
    said: Bools  # of each record: it is plain and has a claim
    claims: Table
    manners: list[Manner]
    manner: NDArray[np.int64]
    texts: list[str]
    owner: NDArray[np.int64]


def sift(state: State, records: Sequence[FactRecord], keys: Sequence[Digest]) -> Sifted | None:
    """Sift a batch; `keys` are those of its records' evidence. None: it is not as extraction makes it, or the view is
    one of a past, in which anything may be erased by now."""
    if state.erasure:
        return None
    of_record = Table.of(records, OF_RECORD)
    heads = [facts[0] for facts in of_record["facts"]]
    if set(map(type, heads)) != {EvidenceRecorded}:
        return None
    of_head = Table.of(heads, OF_HEAD)
    plain = state.keys.find(keys) == 0
    if len(set(keys)) < len(keys):
        plain &= np.array([times == 1 for times in map(Counter(keys).__getitem__, keys)])
    plain &= np.array([kind in KINDS for kind in of_head["kind"]])
    plain &= ~np.array([head.deleted for head in heads], bool)
    asserts = np.array([len(facts) == 2 and type(facts[1]) is Asserted for facts in of_record["facts"]])
    plain &= asserts | np.array([len(facts) == 1 for facts in of_record["facts"]])
    if state.decisions.any or state.deletions.any or state.contested:
        for place in np.flatnonzero(plain).tolist():
            plain[place] = not _touched(state, records[place])
    said = plain & asserts
    claims = Table.of([facts[1] for facts in compress(of_record["facts"], said.tolist())], OF_CLAIM)
    manners, manner = _manners(state, of_record.only(said), claims)
    simple = _simple(claims) & np.array([one.plain for one in manners], bool)[manner]
    verdict = np.array([one.verdict for one in manners], bool)[manner]
    rests = np.array([one.rests for one in manners], bool)[manner]
    if verdict.any():
        simple &= ~verdict | np.array([value is True for value in claims["value"]], bool)
    if rests.any():
        simple &= ~rests | (np.array(list(map(len, claims["premises"])), np.int64) == 0)
    plain[said] = simple
    claims = claims.only(simple)
    texts, owner = _named(claims)
    return Sifted(of_record, of_head, plain, plain & asserts, claims, manners, manner[simple], texts, owner)


def _simple(claims: Table) -> Bools:
    simple = np.ones(claims.count, bool)
    for name, value in (*((name, None) for name in UNSET), ("possible", ())):
        if not claims.holds(name, value):
            simple &= np.array([one == value for one in claims[name]], bool)
    if {ref.kind for refs in claims["premises"] for ref in refs} - {"object"}:
        simple &= np.array([all(ref.kind == "object" for ref in refs) for refs in claims["premises"]], bool)
    return simple


def _named(claims: Table) -> tuple[list[str], NDArray[np.int64]]:
    """The texts of subjects and premises, and the claim of each."""
    sizes = np.array(list(map(len, claims["premises"])), np.int64) + 1
    texts = np.empty(int(sizes.sum()), object)
    first = np.cumsum(sizes) - sizes
    is_premise = np.ones(len(texts), bool)
    is_premise[first] = False
    texts[first] = claims["subject"]
    texts[is_premise] = [ref.text for refs in claims["premises"] for ref in refs]
    return texts.tolist(), np.repeat(np.arange(claims.count), sizes)


def _manners(state: State, records: Table, claims: Table) -> tuple[list[Manner], NDArray[np.int64]]:
    """The manners of these claims, and the place of each claim's."""
    columns = (*(records[name] for name in ("namespace", "source")), *(claims[name] for name in OF_MANNER))
    numbers: dict[Mark, int] = {}
    manner = [numbers.setdefault(mark, len(numbers)) for mark in zip(*columns, strict=True)]
    return [_manner(state.policies, mark) for mark in numbers], np.array(manner, np.int64)


def _manner(policies: PolicyBook, mark: Mark) -> Manner:
    namespace, source, issuer, authority, predicate, scope = mark
    rules = policies.of(namespace).predicate(predicate)
    return Manner(
        not rules.many,
        rules.verdict,
        rules.rests_on_subject,
        policies.authority(namespace, source, authority),
        policies.issuer_key(namespace, source, issuer),
        slot_tail(scope, predicate),
    )


def _touched(state: State, record: FactRecord) -> bool:
    """Whether a decision, a deletion or another content is on record for what a record says."""
    namespace, head, claim = record.namespace, record.facts[0], record.facts[-1]
    if (namespace, record.source, record.id) in state.contested:
        return True
    session = head.session_id if isinstance(head, EvidenceRecorded) else None
    origin = Origin(namespace, record.source, record.id, record.time_us, session)
    decisions, deletions = state.decisions, state.deletions
    if not decisions.counts(namespace, origin) or deletions.covers_evidence(origin):
        return True
    if not isinstance(claim, Asserted):
        return False
    if not decisions.counts(namespace, origin, claim.assertion_id):
        return True
    subjects = deletions.of_subjects and state.policies.erasable(namespace, claim.subject)
    return bool(subjects) and deletions.covers_subject(origin, subjects)
