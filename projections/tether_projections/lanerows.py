"""The rows of plain records, column by column (lane.py)."""

from collections.abc import Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import BaseModel
from tether_schemas.canonical import canonical_json
from tether_schemas.policy import AUTHORITY_RANK, MODE_RANK
from tether_schemas.subjects import package_of
from tether_schemas.times import time_us

from tether_projections.graph import LIVE, STATED
from tether_projections.keys import Digest, pairs
from tether_projections.lane import Claims, Plain
from tether_projections.store import Values, ViewStore

OF_RECORD = (
    "namespace", "source", "id", "event_type", "time", "time_us", "recorded_us", "topic", "partition", "content_hash",
    "extractor", "rules",
)  # fmt: skip
OF_HEAD = ("kind", "session_id", "seq", "role", "tool", "call_id")
OF_CLAIM = (
    "place", "assertion_id", "issuer", "observed_at", "review_at", "confidence", "sensitivity", "memory_type",
    "premises_complete", "original_text", "write_reason",
)  # fmt: skip

OF_EITHER = ("namespace", "source", "id")
OF_SLOT = ("scope", "subject", "predicate")

Lists = dict[str, Sequence[Any]]


def write(store: ViewStore, plain: Plain) -> None:
    """Append the rows of everything but the outbox."""
    _evidence(store, plain)
    if plain.claims.fresh:
        _objects(store, plain)
    if plain.claims.facts:
        _claims(store, plain)
    if len(plain.via):
        dependents, premises = plain.edges
        store.append_columns("premise", {"owner": plain.via, "node": premises}, {"kind": 0, "grade": 0})
        store.append_columns(
            "edge",
            {"dependent": dependents, "premise": premises, "via": plain.via, "of": plain.via},
            {"flags": LIVE | STATED},
        )


def tell(store: ViewStore, plain: Plain, seq: int, position: int) -> None:
    """Append to the outbox that every slot is asserted, from number `seq` on."""
    slots, assertions = plain.ids.slots, plain.ids.assertions
    if len(slots):
        store.append_columns(
            "change",
            {"seq": np.arange(seq, seq + len(slots)), "slot": slots, "a": assertions},
            {"kind": "asserted", "status": "current", "cause": "", "ref": 0, "root": 0, "position": position},
        )


def _fields(models: Sequence[BaseModel], names: tuple[str, ...]) -> Lists:
    """Fields of many models, each as a list."""
    return dict(zip(names, zip(*map(itemgetter(*names), [one.__dict__ for one in models]), strict=True), strict=True))


def _halves(keys: Sequence[Digest]) -> dict[str, NDArray[np.int64]]:
    both = pairs(keys)
    return {"hi": both[:, 0].copy(), "lo": both[:, 1].copy()}


def _evidence(store: ViewStore, plain: Plain) -> None:
    position = np.array([record.offset for record in plain.records], np.int64)
    store.append_columns(
        "evidence",
        {
            "ev": plain.ids.evidence,
            **_halves(plain.keys),
            "position": position,
            **_fields(plain.records, OF_RECORD),
            **_fields([record.facts[0] for record in plain.records], OF_HEAD),
        },
        {},
    )


def _objects(store: ViewStore, plain: Plain) -> None:
    fresh = plain.claims.fresh
    store.append_columns(
        "node",
        {
            "node": plain.ids.objects,
            **_halves([one.key for one in fresh]),
            "namespace": [one.namespace for one in fresh],
            "text": [one.text for one in fresh],
            "base": [package_of(one.subject) for one in fresh],
            "version": [one.subject.version for one in fresh],
        },
        {"kind": "object"},
    )


def _claims(store: ViewStore, plain: Plain) -> None:
    """Assertions, and the memory that they are."""
    claims, ids = plain.claims, plain.ids
    of_record, said = _fields(claims.records, OF_EITHER), _fields(claims.facts, OF_CLAIM)
    of_slot = _fields(claims.facts, OF_SLOT)
    offset = np.array([record.offset for record in claims.records], np.int64)
    both: dict[str, Values] = {
        "a": ids.assertions,
        "slot": ids.slots,
        "source": of_record["source"],
        "id": of_record["id"],
        "assertion_id": said["assertion_id"],
        "position": offset,
        "value": [orjson.dumps(fact.value).decode() for fact in claims.facts],
    }
    observed = _observed_us(claims)
    store.append_columns(
        "assertion",
        {
            **both,
            **_halves(plain.claim_keys),
            **said,
            "ev": ids.evidence[plain.asserts],
            "value_key": _value_keys(claims),
            "issuer_key": [manner.issuer_key for manner in claims.manners],
            "mode": [MODE_RANK[fact.mode] for fact in claims.facts],
            "authority": [manner.authority for manner in claims.manners],
            "authority_claimed": [AUTHORITY_RANK[fact.authority] for fact in claims.facts],
            "observed_us": observed,
        },
        {"fit": True},
    )
    store.append_columns(
        "memory",
        {
            **both,
            **_halves(plain.slot_keys),
            **of_slot,
            "namespace": of_record["namespace"],
            "verdict": [manner.verdict for manner in claims.manners],
            "rests": [manner.rests for manner in claims.manners],
            "object": claims.subjects,
            "support": plain.supports,
            "complete": said["premises_complete"],
            "latest_us": observed,
        },
        {"status": "current", "failed": False, "single": True},
    )


def _observed_us(claims: Claims) -> NDArray[np.int64]:
    return np.array(
        [
            record.time_us if fact.observed_at == record.time else time_us(fact.observed_at)
            for record, fact in zip(claims.records, claims.facts, strict=True)
        ],
        np.int64,
    )


def _value_keys(claims: Claims) -> list[str]:
    return [
        "true" if manner.verdict else blake2b(canonical_json(fact.value), digest_size=16).hexdigest()
        for manner, fact in zip(claims.manners, claims.facts, strict=True)
    ]
