"""Dense integer ids for names: subjects, assertions, evidence, links and slots share one sequence.

A name is known by its 128-bit BLAKE2b digest, so a million names cost 20 MB and start at once: two sorted numpy arrays,
and a dict for what came since.
"""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

DELTA_MAX = 262_144

Digest = bytes


def digest(kind: str, *parts: str) -> Digest:
    """The 16-byte digest that stands for a name of one kind; parts are told apart by NUL, which no name contains."""
    return blake2b("\0".join((kind, *parts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def halves(key: Digest) -> tuple[int, int]:
    """A digest as two signed 64-bit integers, as DuckDB stores it."""
    return int.from_bytes(key[:8], "little", signed=True), int.from_bytes(key[8:], "little", signed=True)


@lru_cache(maxsize=65_536)
def _slot_tail(scope: str, predicate: str, many: str) -> bytes:
    return digest("slot", scope, predicate, many)[:12]


def slot_key(about: int, scope: str, predicate: str, many: str = "") -> Digest:
    """The digest of a slot: the node of its subject (which has the namespace in it) and 96 bits of all else."""
    return about.to_bytes(4, "little") + _slot_tail(scope, predicate, many)


class KeyIndex:
    """Digest -> id. Ids start at 1 and are never reused within a generation."""

    def __init__(self) -> None:
        self._high: NDArray[np.int64] = np.empty(0, np.int64)
        self._low: NDArray[np.int64] = np.empty(0, np.int64)
        self._ids: NDArray[np.int32] = np.empty(0, np.int32)
        self._delta: dict[Digest, int] = {}
        self.next_id = 1
        self._before: KeyIndex | None = None

    def inherit(self, before: "KeyIndex | None") -> None:
        """Give names that another index knows their old ids again, and others ids above its own; None: no longer."""
        self._before = before
        if before is not None:
            self.next_id = before.next_id

    def load(self, high: NDArray[np.int64], low: NDArray[np.int64], ids: NDArray[np.int32]) -> None:
        """Replace the content by stored rows, in any order."""
        self._delta = {}
        self._sort(high, low, ids)
        self.next_id = int(ids.max()) + 1 if len(ids) else 1

    def _sort(self, high: NDArray[np.int64], low: NDArray[np.int64], ids: NDArray[np.int32]) -> None:
        order = np.argsort(high)
        self._high, self._low, self._ids = high[order], low[order], ids[order]

    def get(self, key: Digest) -> int:
        """The id of a name, 0 when it has none."""
        found = self._delta.get(key)
        if found is not None:
            return found
        if not len(self._high):
            return 0
        high, low = halves(key)
        at = int(self._high.searchsorted(high))
        while at < len(self._high) and self._high[at] == high:
            if self._low[at] == low:
                return int(self._ids[at])
            at += 1
        return 0

    def warm(self, keys: Sequence[Digest]) -> None:
        """Fetch many ids at once, so that `get` of each finds them in the dict."""
        wanted = [key for key in keys if key not in self._delta]
        if not wanted or not len(self._high):
            return
        pairs = np.frombuffer(b"".join(wanted), np.int64).reshape(-1, 2)
        at = np.minimum(self._high.searchsorted(pairs[:, 0]), len(self._high) - 1)
        hits = np.flatnonzero((self._high[at] == pairs[:, 0]) & (self._low[at] == pairs[:, 1]))
        for index in hits.tolist():
            self._delta[wanted[index]] = int(self._ids[at[index]])

    def add(self, key: Digest) -> int:
        """Give a name that has none the next id."""
        given = self._before.get(key) if self._before is not None else 0
        if not given:
            given = self.next_id
            self.next_id = given + 1
        self._delta[key] = given
        return given

    def settle(self) -> None:
        """Move what came since into the arrays when it has grown large."""
        if len(self._delta) < DELTA_MAX:
            return
        pairs = np.frombuffer(b"".join(self._delta), np.int64).reshape(-1, 2)
        ids = np.fromiter(self._delta.values(), np.int32, len(self._delta))
        known = set(np.intersect1d(ids, self._ids).tolist())
        if known:
            fresh = ~np.isin(ids, np.fromiter(known, np.int32, len(known)))
            pairs, ids = pairs[fresh], ids[fresh]
        self._sort(
            np.concatenate([self._high, pairs[:, 0]]),
            np.concatenate([self._low, pairs[:, 1]]),
            np.concatenate([self._ids, ids]),
        )
        self._delta = {}

    def __len__(self) -> int:
        return self.next_id - 1
