"""The rows of plain records, column by column (lane.py)."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray
from tether_schemas.canonical import canonical_json
from tether_schemas.policy import AUTHORITY_RANK, MODE_RANK
from tether_schemas.subjects import package_of
from tether_schemas.times import time_us

from tether_projections.graph import LIVE, STATED
from tether_projections.keys import Digest, pairs
from tether_projections.lane import Claims, Plain
from tether_projections.store import Values, ViewStore
from tether_projections.table import Table

ROW_OF_RECORD = (
    "namespace", "source", "id", "event_type", "time", "time_us", "recorded_us", "topic", "partition", "content_hash",
    "extractor", "rules",
)  # fmt: skip
ROW_OF_CLAIM = (
    "assertion_id", "place", "issuer", "observed_at", "review_at", "confidence", "sensitivity", "memory_type",
    "premises_complete", "original_text", "write_reason",
)  # fmt: skip


def write(store: ViewStore, plain: Plain) -> None:
    """Append the rows of everything but the outbox."""
    _evidence(store, plain)
    if plain.claims.fresh.texts:
        _objects(store, plain)
    if plain.claims.facts.count:
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


def _halves(keys: Sequence[Digest]) -> dict[str, NDArray[np.int64]]:
    both = pairs(keys)
    return {"hi": both[:, 0].copy(), "lo": both[:, 1].copy()}


def _evidence(store: ViewStore, plain: Plain) -> None:
    store.append_columns(
        "evidence",
        {
            "ev": plain.ids.evidence,
            **_halves(plain.keys),
            **plain.records.some(*ROW_OF_RECORD),
            "position": plain.records["offset"],
            **plain.heads.columns,
        },
        {},
    )


def _objects(store: ViewStore, plain: Plain) -> None:
    fresh = plain.claims.fresh
    store.append_columns(
        "node",
        {
            "node": plain.ids.objects,
            **_halves(fresh.keys),
            "namespace": fresh.namespaces,
            "text": fresh.texts,
            "base": [package_of(subject) for subject in fresh.subjects],
            "version": [subject.version for subject in fresh.subjects],
        },
        {"kind": "object"},
    )


def _claims(store: ViewStore, plain: Plain) -> None:
    """Assertions, and the memory that they are."""
    claims, ids = plain.claims, plain.ids
    records, facts = claims.records, claims.facts
    both: dict[str, Values] = {
        "a": ids.assertions,
        "slot": ids.slots,
        **records.some("source", "id"),
        "position": records["offset"],
        "value": [orjson.dumps(value).decode() for value in facts["value"]],
    }
    observed = _observed_us(records, facts)
    store.append_columns(
        "assertion",
        {
            **both,
            **_halves(claims.keys),
            **facts.some(*ROW_OF_CLAIM),
            "ev": ids.evidence[plain.asserts],
            "value_key": _value_keys(claims),
            "issuer_key": _by_manner(claims, [one.issuer_key for one in claims.manners]),
            "authority": _by_manner(claims, [one.authority for one in claims.manners]),
            "mode": [MODE_RANK[mode] for mode in facts["mode"]],
            "authority_claimed": [AUTHORITY_RANK[authority] for authority in facts["authority"]],
            "observed_us": observed,
        },
        {"fit": True},
    )
    store.append_columns(
        "memory",
        {
            **both,
            **_halves(plain.slot_keys),
            **facts.some("assertion_id", "scope", "subject", "predicate"),
            **records.some("namespace"),
            "verdict": _by_manner(claims, [one.verdict for one in claims.manners]),
            "rests": _by_manner(claims, [one.rests for one in claims.manners]),
            "object": claims.nodes[claims.first],
            "support": plain.supports,
            "complete": facts["premises_complete"],
            "latest_us": observed,
        },
        {"status": "current", "failed": False, "single": True},
    )


def _by_manner(claims: Claims, values: list[Any]) -> list[Any]:
    return [values[number] for number in claims.manner.tolist()]


def _observed_us(records: Table, facts: Table) -> list[int]:
    return [
        us if time == observed_at else time_us(observed_at)
        for time, us, observed_at in zip(records["time"], records["time_us"], facts["observed_at"], strict=True)
    ]


def _value_keys(claims: Claims) -> list[str]:
    return [
        "true" if verdict else blake2b(canonical_json(value), digest_size=16).hexdigest()
        for verdict, value in zip(claims.verdict.tolist(), claims.facts["value"], strict=True)
    ]
