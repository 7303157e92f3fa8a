"""What the present view says to a view of a past: what is erased, and by which deletion."""

from collections.abc import Iterable

from tether_schemas.facts import Asserted, FactRecord

from tether_projections.erasure import Erasure, Key, Said
from tether_projections.keys import digest, halves
from tether_projections.names import Names
from tether_projections.reader import Reader
from tether_projections.rulings import Rulings
from tether_projections.state import State
from tether_projections.store import ViewStore

NAMED = """
SELECT hi, lo FROM evidence WHERE ev IN ({ids}) UNION ALL
SELECT hi, lo FROM assertion WHERE a IN ({ids}) UNION ALL
SELECT hi, lo FROM node WHERE node IN ({ids})
"""
ERASED, PAYLOADS = "SELECT id FROM ghost WHERE id > 0", "SELECT -id FROM ghost WHERE id < 0"


def erased_now(store: ViewStore, state: State) -> Erasure:
    """Everything that is erased."""
    nodes, payloads = (_keys(store.rows(NAMED.format(ids=ids))) for ids in (ERASED, PAYLOADS))
    return Erasure(nodes, payloads, _Deletions(store, state).of)


def erased_among(store: ViewStore, state: State, records: Iterable[FactRecord], nodes: Iterable[int]) -> Erasure:
    """What is erased of these records, and of nodes of which some are not recorded."""
    if not (state.erased or state.payload_erased):
        return Erasure()
    phantoms = state.erased.intersection(nodes)
    found = set(_keys(store.where("hi, lo", "node", "node", sorted(phantoms))))
    payloads: set[Key] = set()
    for record in records:
        key = digest("evidence", record.namespace, record.source, record.id)
        node = state.keys.get(key)
        if node in state.payload_erased:
            payloads.add(halves(key))
        names = [fact.assertion_id for fact in record.facts if isinstance(fact, Asserted)]
        keys = [key, *(digest("assertion", record.namespace, name) for name in names)]
        found |= {halves(one) for one in keys if state.keys.get(one) in state.erased}
    return Erasure(frozenset(found), frozenset(payloads), _Deletions(store, state).of)


def _keys(rows: Iterable[tuple[int, int]]) -> frozenset[Key]:
    return frozenset((int(hi), int(lo)) for hi, lo in rows)


class _Deletions:
    """Names the deletion that erased something, from the present view."""

    def __init__(self, store: ViewStore, state: State) -> None:
        self._store = store
        self._state = state

    def of(self, key: Key) -> Said | None:
        """The deletion nearest to what a name stands for; None where the present view does not have it erased."""
        whole = b"".join(half.to_bytes(8, "little", signed=True) for half in key)
        node = self._state.keys.get(whole)
        if not node:
            return None
        anyone = Names(self._store, self._state, Reader("*"))
        return Rulings(self._store, self._state, anyone).deletion(node)
